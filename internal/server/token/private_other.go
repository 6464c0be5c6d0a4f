//go:build !unix

package token

import (
	"fmt"
	"io/fs"
	"os"
)

// open opens a file unless something else is in its place.
func open(file string) (*os.File, error) {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the token's file: %w", err)
	case !info.Mode().IsRegular():
		return nil, notRegular(file)
	}
	return os.Open(file)
}

// foreign finds nothing: a file's mode does not say here who may use it.
func foreign(fs.FileInfo, int) string { return "" }

func shared(fs.FileInfo) bool { return false }
