//go:build unix

package vectors

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file read-only. The file is replaced as a whole, so what is mapped never changes.
func mapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // not stuck on a named pipe
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the mapping stays
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New(path + " is not a file")
	}
	if info.Size() == 0 || info.Size() > maxFile {
		return nil, nil // readTable says what is wrong with it
	}
	return unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
}
