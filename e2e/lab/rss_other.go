//go:build unix && !linux

package lab

import (
	"os"
	"syscall"
)

// maxRSS returns how many bytes of memory a process had at most.
func maxRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}
	return 0
}
