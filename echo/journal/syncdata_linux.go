package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the file's content durable, and of its metadata the size, as a journal needs it.
// The file stays open meanwhile, whoever closes it.
func syncData(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var syncErr error
	err = raw.Control(func(fd uintptr) {
		for {
			if syncErr = unix.Fdatasync(int(fd)); syncErr != unix.EINTR {
				return
			}
		}
	})
	if err != nil {
		return os.ErrClosed // nothing else can be wrong, and the error is not this one
	}
	return syncErr
}
