// Package files opens the files of cascades, of this machine or of a file system, within bounds.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

// Machine has the files of this machine, with its own paths.
type Machine struct{}

// Open implements package io/fs.
func (Machine) Open(name string) (fs.File, error) { return source.Open(name) }

// Stat implements package io/fs.
func (Machine) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir implements package io/fs.
func (Machine) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Slashed has the files of a file system, with the paths of this machine.
type Slashed struct{ fs.FS }

// Open implements package io/fs.
func (s Slashed) Open(name string) (fs.File, error) { return s.FS.Open(filepath.ToSlash(name)) }

// Stat implements package io/fs.
func (s Slashed) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, filepath.ToSlash(name)) }

// ReadDir implements package io/fs.
func (s Slashed) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(s.FS, filepath.ToSlash(name))
}

// Read reads up to one byte more than a source file may have, to see that it is too large.
func Read(fsys fs.FS, path string) ([]byte, error) {
	if _, ok := fsys.(Machine); !ok { // of the machine's files, Open sees to it
		if info, err := fs.Stat(fsys, path); err == nil {
			if err := source.Readable(path, info.Mode()); err != nil {
				return nil, err
			}
		}
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	return io.ReadAll(io.LimitReader(f, source.MaxBytes+1))
}

// File is a file that was read.
type File struct {
	Path string
	Data []byte
}

// Named reads the files of a folder whose paths are of a kind.
func Named(fsys fs.FS, dir string, is func(path string) bool) ([]File, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("look for tool files: %w", err)
	}
	var out []File
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		// A link to a file is one; anything else of the name, as a pipe, would only be waited for.
		if info, err := fs.Stat(fsys, path); !is(path) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		data, err := Read(fsys, path)
		if err != nil {
			return nil, fmt.Errorf("read tool file: %w", err)
		}
		out = append(out, File{path, data})
	}
	return out, nil
}

// MaxText bounds the file of a template.
const MaxText = 1 << 20

// Texts reads the files of templates. A nil one is that of a cascade without a file.
type Texts struct {
	FS      fs.FS
	Folders []string // in which a file is looked for, in this order
}

// Read returns the text of a file and its path.
func (t *Texts) Read(name string) (path string, data []byte, err error) {
	if t == nil {
		return "", nil, errors.New("the cascade is not read from a file")
	}
	if filepath.IsAbs(name) {
		return "", nil, errors.New("its path does not begin at the folder of the cascade")
	}
	for _, dir := range t.Folders {
		path = filepath.Join(dir, filepath.FromSlash(name))
		data, err = Read(t.FS, path)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, errors.New("there is no such file")
	case err != nil:
		return "", nil, err
	case len(data) > MaxText:
		return "", nil, errors.New("it has more than 1 MiB")
	case strings.TrimSpace(string(data)) == "":
		return "", nil, errors.New("it is empty")
	}
	return path, data, nil
}
