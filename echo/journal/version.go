package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/windlass-run/windlass/echo"
)

// Version is the format of the journals that this package writes, and the only one that it reads.
const Version = 3

// headerStart is how every journal of every version starts.
const headerStart = `{"windlass_journal":`

// Recognize reports whether a file starts as a journal does, of whatever version.
func Recognize(file io.ReaderAt) bool {
	start := make([]byte, len(headerStart))
	n, _ := file.ReadAt(start, 0) // a file that is shorter, or that cannot be read, is none
	return string(start[:n]) == headerStart
}

// VersionError says that a journal has a format that this package does not read.
type VersionError struct {
	Path    string
	Version int // of the journal
}

// Error says which version the journal has, and what can be done.
func (e *VersionError) Error() string {
	found := fmt.Sprintf("journal %s has format version %d, and this windlass reads version %d: ", e.Path, e.Version, Version)
	if e.Version > Version {
		return found + "a newer windlass wrote it: use that one for it"
	}
	return found + "the last windlass that reads it was built from commit " + echo.LastOldBuild + ": use that build for it, or begin the session again"
}

// versionOf returns the version of the journal that starts so; 0 when it is none. The version is the first member, in
// every version.
func versionOf(start []byte) int {
	rest, ok := bytes.CutPrefix(start, []byte(headerStart))
	if !ok {
		return 0
	}
	version := 0
	for _, c := range rest {
		if c < '0' || c > '9' || version > 1e6 {
			break
		}
		version = 10*version + int(c-'0')
	}
	return version
}

// requireVersion returns a [*VersionError] when the journal at path has another version. It reads no more than that: what else is wrong
// is found by whoever reads all of it.
func requireVersion(path string) error {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	start := make([]byte, len(headerStart)+20)
	n, err := f.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read journal %s: %w", path, err)
	}
	if v := versionOf(start[:n]); v > 0 && v != Version {
		return &VersionError{Path: path, Version: v}
	}
	return nil
}
