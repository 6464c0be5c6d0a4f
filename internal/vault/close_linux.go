package vault

import (
	"errors"
	"syscall"
	"unsafe"
)

// Package syscall lacks these numbers; package unix would be initialized later.
const (
	prSetDumpable = 4
	prSetName     = 15
	fSetPipeSize  = 1031
)

// closeProcess closes the process to all others of the same user: it cannot be traced, its memory,
// environment and descriptors are root's, and it leaves no core.
func closeProcess() bool {
	noCore()
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0)
	return errno == 0
}

// widen makes room in a pipe.
func widen(fd, size int) error {
	got, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), fSetPipeSize, uintptr(size)) //nolint:gosec // both are small
	switch {
	case errno != 0:
		return errno
	case int(got) < size: //nolint:gosec // the size of a pipe
		return errors.New("a pipe does not hold them")
	}
	return nil
}

// self is the program that runs, also when its file was replaced or removed meanwhile.
func self() (string, error) { return "/proc/self/exe", nil }

// rename gives the process its own name again in place of that of the link that it was executed by.
// The main thread, whose name counts, initializes packages.
func rename(name string) {
	if b, err := syscall.BytePtrFromString(name); err == nil {
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetName, uintptr(unsafe.Pointer(b)), 0) //nolint:gosec // it is only a name
	}
}
