package memofile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
)

// Whole is an error where the file of a scope is there and has no whole entry, so that it seems not to be there.
func (s *Store) Whole(scope string) error {
	f, err := s.file(scope)
	if err != nil {
		return err
	}
	return f.Whole()
}

// Found is a file of memos in a home.
type Found struct {
	Path   string
	Folder string // of the project; "": they are the global ones
	Err    error  // why the file does not say its folder
}

// Find returns the files of memos in a home, and reads only their heads.
func Find(home string) (out []Found, err error) {
	dir := config.MemosDir(home)
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, failure.New(failure.StorageFailed, fmt.Errorf("list the memos in %s: %w", dir, err), "")
	}
	s := Open(home, "", nil)
	for _, f := range names {
		name, is := strings.CutSuffix(f.Name(), suffix)
		if !is {
			continue
		}
		found := Found{Path: filepath.Join(dir, f.Name())}
		found.Folder, found.Err = s.folderOf(found.Path, name)
		out = append(out, found)
	}
	return out, nil
}

// Check reads all files of memos of a home, and changes nothing.
func Check(home string) (out []ledger.Health, err error) {
	found, err := Find(home)
	s := Open(home, "", nil)
	for _, f := range found {
		if f.Err != nil {
			out = append(out, ledger.Health{Path: f.Path, Err: f.Err})
			continue
		}
		out = append(out, s.at(f.Folder).Health())
	}
	return out, err
}

// folderOf returns the project folder that the head of a file names, by which the file is named; "" of the global memos.
func (s *Store) folderOf(path, name string) (string, error) {
	if name == memo.Global {
		return "", nil
	}
	from, err := s.on.Open(path, os.O_RDONLY)
	if err != nil {
		return "", ledger.Failed(noun, "open", path, err)
	}
	defer from.Close() //nolint:errcheck // only read from
	line, err := format("", "").FirstLine(from)
	switch {
	case errors.Is(err, io.EOF):
		return "", ledger.Cut(noun, path)
	case err != nil:
		return "", ledger.Failed(noun, "read", path, err)
	}
	h, _, err := parseHead(path, line)
	if err == nil && projectOf(h.Folder) != name {
		err = ledger.Damaged(noun, path, 1, errOther)
	}
	return h.Folder, err
}
