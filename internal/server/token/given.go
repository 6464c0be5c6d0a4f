package token

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/windlass-run/windlass/internal/source"
)

// Variable names the variable of the environment with the token that a person gives.
const Variable = "WINDLASS_SERVE_TOKEN"

// ReadFile returns the token in a file that a person names. The file may be what a shell's <(...)
// names, or a link, as the secrets of containers are. When other users of this machine can use it,
// shared is its mode, else 0. The error is [ErrForm] when the file holds no token.
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
