package loop

import (
	"runtime"
	"syscall"
	"time"
)

// CPUTime returns the user and system time of this process.
func CPUTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return span(kernel) + span(user)
}

// span reads a length of time, which Windows counts in steps of 100 ns.
func span(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}

// peakMiB returns the memory that the Go runtime has ever obtained from the system. The standard library does not show
// the largest resident size here, so the figure is higher than those of other systems.
func peakMiB() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys) / (1 << 20)
}
