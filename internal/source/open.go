package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNoFile is wrapped by errors about folders, pipes, devices and sockets.
var ErrNoFile = errors.New("not a file")

// ErrTooLarge is wrapped by errors for files that are larger than what they may be.
var ErrTooLarge = errors.New("too large")

// Open opens a regular file for reading and never waits. The exceptions are what the process was
// given, such as /dev/stdin and a shell's <(...): these may be pipes and terminals.
func Open(path string) (*os.File, error) {
	given := isGiven(path)
	if info, err := os.Stat(path); err != nil {
		return nil, asOpen(err)
	} else if err := Readable(path, info.Mode()); err != nil && !given {
		return nil, err // without opening it: opening some devices does something
	}
	flags := os.O_RDONLY
	if !given {
		flags |= NonBlock // what was a file a moment ago may be a pipe now
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!given || info.IsDir()) {
		err = Readable(path, info.Mode())
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func asOpen(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return &fs.PathError{Op: "open", Path: failed.Path, Err: failed.Err}
	}
	return err
}

// openRoot opens a folder as [os.OpenRoot] does, and never waits: what is no folder is an error.
func openRoot(path string) (*os.Root, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, asOpen(err)
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(path)
}

// Folder is a folder that was opened once, so that it stays the same. Whoever opens it closes Root.
type Folder struct {
	Path string // absolute, as it was given
	Real string // with links resolved
	Root *os.Root
}

// OpenFolder opens a folder by a path that may lead through links.
func OpenFolder(path string) (f Folder, err error) {
	if f.Path, err = filepath.Abs(path); err != nil {
		return f, err
	}
	if f.Real, err = filepath.EvalSymlinks(f.Path); err != nil {
		return f, err
	}
	f.Root, err = openRoot(f.Real)
	return f, err
}

// Readable returns an error that wraps [ErrNoFile] when a mode is not that of a file.
func Readable(path string, mode fs.FileMode) error {
	kind, end := "something else", ""
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind, end = "a named pipe", ": it may never end"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind, end = "a device", ": it may never end"
	}
	return fmt.Errorf("%s is %s, %w%s", path, kind, ErrNoFile, end)
}

// isGiven reports whether a path names what this process was given by whoever started it.
func isGiven(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// ReadFile reads what [Open] opens. More than limit bytes are an error that wraps [ErrTooLarge].
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is %w: it has more than %d bytes", path, ErrTooLarge, limit)
	}
	return data, nil
}
