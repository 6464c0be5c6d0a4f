package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

var (
	errNoFile = errors.New("it is not a file")
	errLink   = errors.New("it is a link, and a session is a folder of its own with a file as its journal: put what it leads to in its place, " +
		"or set WINDLASS_HOME to the folder of those sessions")
)

// openOwn opens the journal at path, which is a file in a folder: neither is a link, which may lead
// to the session of another home.
func openOwn(path string, flags int) (*os.File, error) {
	for _, p := range []string{filepath.Dir(path), path} {
		if info, err := os.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, &fs.PathError{Op: "open", Path: p, Err: errLink}
		}
	}
	return openRegular(path, flags)
}

// openRegular opens a file of a session's folder, and nothing else: opening a pipe may never end.
func openRegular(path string, flags int) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNoFile} // opening some devices has effects
	}
	f, err := os.OpenFile(path, flags|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() { // it was a file before it was opened
		err = &fs.PathError{Op: "open", Path: path, Err: errNoFile}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// requireRegular demands that what is at a path is a file, or nothing.
func requireRegular(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errNoFile}
	}
	return nil
}
