package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the file's content durable. fdatasync also writes the size when it changed, which is all of the
// metadata that a journal needs.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}
