package vault

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// closeProcess closes the process to all others of the same user: it cannot be traced, what the system shows of its memory,
// its environment and its descriptors is root's, and it leaves no core.
func closeProcess() bool {
	noCore()
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) == nil
}

// memory returns a descriptor of a file in memory that the next program inherits.
func memory(data string) (int, error) {
	fd, err := unix.MemfdCreate("windlass", 0)
	if err != nil {
		return pipe(data) // a kernel, or a sandbox, without it
	}
	if _, err = unix.Write(fd, []byte(data)); err == nil {
		_, err = unix.Seek(fd, 0, 0)
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return fd, err
}

// self is the program that runs, also when its file was replaced or removed meanwhile.
func self() (string, error) { return "/proc/self/exe", nil }

// rename has the process called by its own name again, and not by that of the link that it was executed by.
func rename(name string) {
	b, err := unix.ByteSliceFromString(name)
	if err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0) // it is only a name
	}
}
