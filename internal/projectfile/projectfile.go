// Package projectfile reads files of a project folder that models are shown. Nothing outside of the folder is read, wherever
// links lead, and nothing that may never end.
package projectfile

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

// MaxBytes is how long a file may be.
const MaxBytes = 1 << 20

// Read returns the text of a file below a folder; there is false where the folder has none. The error names the file as path
// does.
func Read(folder, path string) (text string, there bool, err error) {
	dir, err := source.OpenFolder(folder)
	if err != nil {
		return "", false, fmt.Errorf("open the project folder: %w", err)
	}
	defer dir.Root.Close() //nolint:errcheck // only read from
	name := filepath.FromSlash(path)
	info, err := dir.Root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, reason(path, err)
	}
	if err := source.Readable(path, info.Mode()); err != nil {
		return "", false, err
	}
	f, err := dir.Root.OpenFile(name, os.O_RDONLY|source.NonBlock, 0) // what was a file a moment ago may be a pipe now
	if err != nil {
		return "", false, reason(path, err)
	}
	defer f.Close() //nolint:errcheck // only read from
	if info, err = f.Stat(); err == nil {
		err = source.Readable(path, info.Mode())
	}
	if err != nil {
		return "", false, err
	}
	all, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return "", false, reason(path, err)
	case len(all) > MaxBytes:
		return "", false, fmt.Errorf("%s has more than %d bytes, %w: keep it short, and put the rest into other files", path, MaxBytes, source.ErrTooLarge)
	}
	return string(all), true, nil
}

// reason returns an error without the path of this machine. path is the file, below the folder.
func reason(path string, err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return err
	case strings.Contains(failed.Err.Error(), "escapes"): // [os.Root] has no error to compare with
		return fmt.Errorf("a link on the way to %s leads out of the project folder, which nothing is read from", path)
	}
	return failed.Err
}
