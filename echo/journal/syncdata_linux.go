package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the file's content durable, and of its metadata the size, as a journal needs it.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}
