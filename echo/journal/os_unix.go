//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"
)

// nonblock keeps the opening of a named pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
