package token

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/windlass-run/windlass/internal/source"
)

// Variable names the variable of the environment with the token that a person gives.
const Variable = "WINDLASS_SERVE_TOKEN"

// ReadFile returns the token in a file that a person names, which may be a link or a pipe. shared
// is its mode when others can use it, else 0. The error is [ErrForm] for another text.
func ReadFile(file string) (text string, shared fs.FileMode, err error) {
	f, err := source.Open(file)
	if err != nil {
		return "", 0, err
	}
	defer f.Close() //nolint:errcheck // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", 0, err
	case len(data) > maxFile:
		return "", 0, fmt.Errorf("%s has more than %d bytes", file, maxFile)
	}
	if text, err = Parse(string(data)); err != nil {
		return "", 0, err
	}
	if info, err := f.Stat(); err == nil && Shared(info) {
		shared = info.Mode().Perm()
	}
	return text, shared, nil
}
