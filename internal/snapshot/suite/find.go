package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/snapshot"
)

// MissingError says that a file or folder of tests is not there, or cannot be looked at.
type MissingError struct {
	Path string
	Err  error
}

func (e *MissingError) Error() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return fmt.Sprintf("there are no tests: %s does not exist", e.Path)
	}
	return fmt.Sprintf("there are no tests in %s: %v", e.Path, e.Err)
}

func (e *MissingError) Unwrap() error { return e.Err }

// EmptyError says that folders hold no tests.
type EmptyError struct{ Given []string }

func (e *EmptyError) Error() string {
	return fmt.Sprintf("there are no tests in %s: no file's name ends in %s", strings.Join(e.Given, ", "), snapshot.Suffix)
}

// Find returns the named files of tests, and those in the named folders, sorted, none twice.
func Find(given []string) ([]string, error) {
	var files []string
	for _, root := range given {
		info, err := os.Stat(root)
		switch {
		case err != nil:
			return nil, &MissingError{root, err}
		case !info.IsDir():
			files = append(files, filepath.Clean(root))
			continue
		}
		below, err := findBelow(root)
		if err != nil {
			return nil, fmt.Errorf("look for tests in %s: %w", root, err)
		}
		files = append(files, below...)
	}
	if len(files) == 0 {
		return nil, &EmptyError{given}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func findBelow(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(d.Name(), snapshot.Suffix):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}
