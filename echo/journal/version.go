package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

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
	Version string // as the journal says it; of an absurdly long number the beginning
	Newer   bool   // than this package
}

// Error says which version the journal has, and what can be done.
func (e *VersionError) Error() string {
	found := fmt.Sprintf("journal %s has format version %s, and this windlass reads version %d: ", e.Path, e.Version, Version)
	if e.Newer {
		return found + "a newer windlass wrote it: use that one for it"
	}
	return found + "the last windlass that reads it was built from commit " + echo.LastOldBuild + ": use that build for it, or begin the session again"
}

// maxDigits is how many digits of a version are reported.
const maxDigits = 40

// checkVersion returns a [*VersionError] when the journal at path, which starts so, has another
// version, and errNotHeader when it is no journal. The version is the first member in every
// version.
func checkVersion(path string, start []byte) error {
	rest, ok := bytes.CutPrefix(start, []byte(headerStart))
	digits := rest[:len(rest)-len(bytes.TrimLeft(rest, "0123456789"))]
	version := string(digits[:min(len(digits), maxDigits)])
	n, err := strconv.Atoi(version)
	tooLarge := errors.Is(err, strconv.ErrRange)
	switch {
	case !ok, n < 1 && !tooLarge:
		return errNotHeader
	case n == Version:
		return nil
	}
	if len(digits) > maxDigits {
		version += "..."
	}
	return &VersionError{Path: path, Version: version, Newer: tooLarge || n > Version}
}

// requireVersion returns a [*VersionError] when the journal at path has another version. It reads
// no more than that: what else is wrong is found by those who read all of it.
func requireVersion(path string) error {
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	start := make([]byte, len(headerStart)+maxDigits+1)
	n, err := f.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read journal %s: %w", path, err)
	}
	if err := checkVersion(path, start[:n]); !errors.Is(err, errNotHeader) {
		return err
	}
	return nil
}
