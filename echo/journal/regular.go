package journal

import (
	"errors"
	"io/fs"
	"os"
)

var errNoFile = errors.New("it is not a file")

// openRegular opens a file of a session's folder, and nothing else: opening or reading what is there in its place may
// never end.
func openRegular(path string, flags int) (*os.File, error) {
	f, _, err := openSized(path, flags)
	return f, err
}

// openSized is openRegular, and returns the size of the file with it.
func openSized(path string, flags int) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: errNoFile} // some devices do something when they are opened
	}
	f, err := os.OpenFile(path, flags|nonblock, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() { // it was a file before it was opened
		err = &fs.PathError{Op: "open", Path: path, Err: errNoFile}
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// requireRegular demands that what is at a path is a file, or nothing.
func requireRegular(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errNoFile}
	}
	return nil
}
