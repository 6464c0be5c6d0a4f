package export

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/windlass-run/windlass/internal/wholefile"
)

// FileError says that a file cannot be written.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// ToFile writes the file of a path whole or not at all, for its owner alone. It overwrites nothing. An error is a
// [*FileError] when the file is what failed.
func ToFile(ctx context.Context, path string, o Options) (*Written, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, &FileError{fmt.Errorf("%s exists and is not overwritten", path)}
	}
	var b bytes.Buffer
	done, err := Write(ctx, &b, o)
	if err != nil {
		return nil, err
	}
	if err := wholefile.WriteNew(path, b.Bytes(), 0o600); err != nil {
		return nil, &FileError{fmt.Errorf("write %s: %w", path, err)}
	}
	return done, nil
}
