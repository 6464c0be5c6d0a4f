//go:build unix

package loop

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// CPUTime returns the user and system time of this process.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMiB returns the largest resident size of this process so far. On Linux the rusage figure of a process that was
// started by another one can be that of its parent, so the kernel's own high-water mark is read.
func peakMiB() float64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(status)) {
			var kib float64
			if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 { // other lines do not match
				return kib / 1024
			}
		}
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	unit := 1024.0 // bytes; most systems count in kilobytes
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(u.Maxrss) * unit / (1 << 20)
}
