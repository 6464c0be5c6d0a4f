// Package token keeps the secrets that clients of windlass serve show: one for each server that
// runs, in a file that only its owner can read. It goes with the server, so that a client sends
// nothing to whoever listens at the address later. A [Book] has those that were issued to others, with some of
// the rights and until some time.
package token

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// Min is how many characters a token has at least: fewer can be guessed.
const Min = 16

// size is how many random bytes a made token has, which nobody guesses.
const size = 32

// maxFile bounds what is read of a file that is to hold a token.
const maxFile = 4 << 10

// ErrForm says that a text is not a token.
var ErrForm = fmt.Errorf("a token is one word of at least %d letters, digits and signs", Min)

// Parse returns the token in a text, without white space around it. The error is [ErrForm].
func Parse(text string) (string, error) {
	t := strings.TrimSpace(text)
	if len(t) < Min || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", ErrForm
	}
	return t, nil
}

// FileError says why a file or its folder cannot hold a token that nobody else knows.
type FileError struct {
	What           string // "file" or "folder"
	Path, Why, Try string
}

func (e *FileError) Error() string { return fmt.Sprintf("the token's %s %s %s", e.What, e.Path, e.Why) }

// NoServerError says that it cannot be told which server's token is wanted.
type NoServerError struct {
	Address string   // that was asked for; "": the only one
	Running []string // the addresses of the servers that there are
}

func (e *NoServerError) Error() string {
	switch running := strings.Join(e.Running, ", "); {
	case e.Address == "" && len(e.Running) > 0:
		return "several servers of this home folder made a token: " + running
	case len(e.Running) > 0:
		return fmt.Sprintf("no server of this home folder made a token for %s; there are %s", e.Address, running)
	}
	return "no server of this home folder is running that made a token"
}

// ErrInUse says that another process serves at an address with the same home folder.
var ErrInUse = errors.New("another windlass serve with this home folder has made a token for the same address")

// Folder returns the folder of the tokens of a home folder.
func Folder(home string) string { return config.ServeDir(home) }

// What the files of a server are called, after its address.
const (
	fileEnd = ".token"
	lockEnd = ".lock" // held while the server runs
)

// baseOf is the name of a server's files without its end; a colon is not allowed everywhere.
func baseOf(address string) string { return strings.ReplaceAll(address, ":", "_") }

func addressOf(base string) string { return strings.ReplaceAll(base, "_", ":") }

// Made is the token of a server that runs.
type Made struct {
	Text string
	File string
	lock *flock.Flock
}

const lockTime = 2 * time.Second

// newLock is a lock that waits for nothing but the lock, whatever is at the path.
func newLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|source.NonBlock), flock.SetPermissions(0o600))
}

// Make makes the token of a server that listens at an address, in place of whatever its file is,
// and keeps it until [Made.Remove]. The error is a [FileError] when others could exchange the file.
func Make(ctx context.Context, dir, address string) (*Made, error) {
	if err := folder(dir); err != nil {
		return nil, err
	}
	base := filepath.Join(dir, baseOf(address))
	m := &Made{File: base + fileEnd, lock: newLock(base + lockEnd)}
	patience, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	switch taken, err := m.lock.TryLockContext(patience, 10*time.Millisecond); {
	case errors.Is(err, context.DeadlineExceeded), err == nil && !taken:
		return nil, ErrInUse
	case err != nil:
		return nil, fmt.Errorf("lock the token's file: %w", err)
	}
	var err error
	if m.Text, err = write(m.File); err != nil {
		return nil, errors.Join(err, m.lock.Close())
	}
	return m, nil
}

// Remove takes the token away.
func (m *Made) Remove() error { return errors.Join(os.Remove(m.File), m.lock.Close()) }

// Find returns the token of the server at an address, or of the only one that runs. The error is a
// [NoServerError], or a [FileError] when somebody else may know the token.
func Find(dir, address string) (string, error) {
	address, err := Address(dir, address)
	if err != nil {
		return "", err
	}
	return read(filepath.Join(dir, baseOf(address)+fileEnd))
}

// Address returns the address of the server at an address, or of the only one that runs. The error is a [NoServerError].
func Address(dir, address string) (string, error) {
	running, err := serving(dir)
	switch {
	case err != nil:
		return "", err
	case address == "" && len(running) == 1:
		return running[0], nil
	case !slices.Contains(running, address):
		return "", &NoServerError{address, running}
	}
	return address, nil
}

// serving lists the addresses of running servers, by their locks: a killed one leaves its file.
func serving(dir string) (addresses []string, err error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := folder(dir); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for tokens: %w", err)
	}
	for _, f := range files {
		base, ok := strings.CutSuffix(f.Name(), fileEnd)
		if !ok || strings.HasPrefix(base, ".") {
			continue
		}
		l := newLock(filepath.Join(dir, base+lockEnd))
		free, err := l.TryRLock()
		if err == nil && !free {
			addresses = append(addresses, addressOf(base))
		}
		if err := errors.Join(err, l.Close()); err != nil {
			return nil, fmt.Errorf("look for the server of a token: %w", err)
		}
	}
	return addresses, nil
}

// Shared reports whether the mode of a regular file lets other users of this machine use it.
func Shared(info fs.FileInfo) bool { return info.Mode().IsRegular() && shared(info) }

// folder makes the folder of a token, and refuses one that somebody else could exchange files in.
func folder(dir string) error {
	err := os.MkdirAll(filepath.Dir(dir), 0o700)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the folder of the token: %w", err)
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("look at the folder of the token: %w", err)
	case !info.IsDir():
		return &FileError{"folder", dir, "is a link or something else that is no folder", "find out who put it there, and move it away"}
	}
	if why := foreign(info, os.Geteuid()); why != "" {
		return &FileError{"folder", dir, why, "make it yours alone: chmod 700 " + dir + ", or another WINDLASS_HOME"}
	}
	return nil
}

func read(file string) (string, error) {
	f, err := open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("read the token's file: %w", err)
	case !info.Mode().IsRegular():
		return "", notRegular(file)
	}
	if why := foreign(info, os.Geteuid()); why != "" {
		return "", &FileError{"file", file, why, "others may know the token: stop the server, and remove the file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "", fmt.Errorf("read the token's file: %w", err)
	}
	t, err := Parse(string(data))
	if err != nil {
		return "", &FileError{"file", file, "holds no token", "start the server again: it makes another one"}
	}
	return t, nil
}

func notRegular(file string) error {
	return &FileError{
		"file", file, "is a link or something else that is no file",
		"find out who put it there, and remove it; a server that starts makes another one",
	}
}

func write(file string) (string, error) {
	t := random()
	if err := wholefile.Write(file, []byte(t+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the token's file: %w", err)
	}
	return t, nil
}

// random returns a token that nobody guesses.
func random() string {
	secret := make([]byte, size)
	_, _ = rand.Read(secret) // it never fails: the process ends instead
	return hex.EncodeToString(secret)
}
