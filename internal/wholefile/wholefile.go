// Package wholefile writes files whole or not at all: a reader finds the old content or the new
// one. The content is written to another file in the folder, which then replaces the old one.
package wholefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write puts data into a file, which it makes when there is none. The file gets the permissions.
// Nothing is synced to the disk: a power failure may leave the old content.
func Write(path string, data []byte, perm fs.FileMode) error {
	return write(path, data, perm, func(*File) error { return nil })
}

// WriteNew is [Write] for a file that there is not yet: the error is an [fs.ErrExist] when there is one, which stays as
// it is, also when it is made at the same time.
func WriteNew(path string, data []byte, perm fs.FileMode) error {
	reserved, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return err
	}
	if err = reserved.Close(); err == nil {
		err = Write(path, data, perm)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// ForeignError says that a file has other content than what is to replace it, and stays.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string { return e.Path + " has other content and is not overwritten" }

// CheckOwn returns a [*ForeignError] when a path that a person names for output leads to a file that
// begins with none of the given texts, so that a name that is given by mistake costs nothing. A file
// that is not there, or is empty, is no such file.
func CheckOwn(path string, beginnings ...string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // what is wrong with the path is found when the file is written
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	for _, b := range beginnings {
		head := make([]byte, len(b))
		if n, _ := f.ReadAt(head, 0); string(head[:n]) == b {
			return nil
		}
	}
	return &ForeignError{path}
}

// Replace writes a file that a person names and others may read, at the [Target] of the path. The
// content is on the disk afterwards.
func Replace(path string, data []byte) error {
	path, err := Target(path)
	if err != nil {
		return err
	}
	return write(path, data, 0o644, (*File).Sync)
}

func write(path string, data []byte, perm fs.FileMode, finish func(*File) error) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = finish(f)
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}

// Target returns the path of the file to write for one that a person named: where a symbolic link
// leads. What is no file, such as a device, is an error: it would be replaced by a file.
func Target(path string) (string, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case err != nil || info.Mode().IsRegular():
		return path, nil //nolint:nilerr // what is not there is made; what cannot be looked at says so when it is written
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder", path)
	}
	return "", fmt.Errorf("%s is not a file, and would be replaced by one", path)
}

// ownerOnly are the permissions of the files that os.CreateTemp makes.
const ownerOnly = 0o600

// File is the new content of a file, which nobody sees before Commit. It belongs to one goroutine.
type File struct {
	path string
	perm fs.FileMode
	tmp  *os.File // nil: committed or discarded
}

// Create begins new content for a file. Commit or Discard must be called.
func Create(path string, perm fs.FileMode) (*File, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	return &File{path: path, perm: perm, tmp: tmp}, nil
}

// Write appends to the new content.
func (f *File) Write(data []byte) (int, error) { return f.tmp.Write(data) }

// Sync waits until the new content is on the disk.
func (f *File) Sync() error { return f.tmp.Sync() }

// Commit puts the new content in place of the old one. When it fails, the old content stays.
func (f *File) Commit() error {
	var err error
	if f.perm != ownerOnly {
		err = f.tmp.Chmod(f.perm)
	}
	err = errors.Join(err, f.tmp.Close())
	if err == nil {
		err = os.Rename(f.tmp.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	f.tmp = nil
	return nil
}

// Discard removes the new content; the old content stays. After Commit it does nothing.
func (f *File) Discard() error {
	if f.tmp == nil {
		return nil
	}
	_ = f.tmp.Close() // it may be closed already; nothing in it counts
	err := os.Remove(f.tmp.Name())
	f.tmp = nil
	return err
}
