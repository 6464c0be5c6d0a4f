package jq

import (
	"bytes"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitMemory limits this process to n more bytes; RLIMIT_DATA does not count reserved addresses.
func limitMemory(n uint64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return // The watch is left.
	}
	var kib uint64
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmData:")); ok {
			_, _ = fmt.Sscan(string(rest), &kib) // 0 limits more
		}
	}
	most := kib<<10 + n
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}) // The watch is left.
}

// executable returns this program, also when its file was replaced since it began.
func executable() (string, error) { return "/proc/self/exe", nil }

// ended reports whether the system ended a process, as it does where memory runs out.
func ended(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGKILL
}
