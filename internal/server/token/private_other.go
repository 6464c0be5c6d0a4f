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

// foreign finds nothing: rights are not in a mode here, but inherited from the user's own folder.
func foreign(fs.FileInfo, int) string { return "" }

func shared(fs.FileInfo) bool { return false }
