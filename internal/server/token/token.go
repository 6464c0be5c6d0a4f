// Package token keeps the secret that clients of windlass serve show: one for each home folder, in a file that only its
// owner can read.
//
// The file outlives the servers that use it, so clients need not ask for it again, and several servers at once share
// it. A token that is not used gives nobody anything: whoever can read the file can already do all that its owner can.
package token

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// Min is how many characters a token has at least: fewer can be guessed.
const Min = 16

// size is how many random bytes a made token has. 256 bits cannot be guessed, however often somebody may try.
const size = 32

// maxFile bounds what is read of a file that is to hold a token.
const maxFile = 4 << 10

// ErrForm says that a text is not a token.
var ErrForm = fmt.Errorf("a token is one word of at least %d letters, digits and signs", Min)

// Parse returns the token that a text holds, without the white space around it. The error is [ErrForm].
func Parse(text string) (string, error) {
	t := strings.TrimSpace(text)
	if len(t) < Min || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", ErrForm
	}
	return t, nil
}

// FileError says why a file, or the folder that it is in, cannot hold a token that nobody else knows, and what to do
// about it.
type FileError struct {
	What           string // "file" or "folder"
	Path, Why, Try string
}

func (e *FileError) Error() string { return fmt.Sprintf("the token's %s %s %s", e.What, e.Path, e.Why) }

// File returns the path of the token of a home folder.
func File(home string) string { return filepath.Join(home, "serve", "token") }

// Keep returns the token in a file, and makes one when there is no file yet. Of several processes that find none one makes
// it, and all return the same. The error is a [FileError] when somebody else may know what is in the file.
func Keep(file string) (string, error) {
	if err := folder(filepath.Dir(file)); err != nil {
		return "", err
	}
	if t, err := read(file); !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	return locked(file, func() (string, error) {
		if t, err := read(file); !errors.Is(err, fs.ErrNotExist) {
			return t, err // another process was faster
		}
		return write(file)
	})
}

// Renew puts a new token in the place of whatever is there. Servers that run keep the one that they were started with.
func Renew(file string) (string, error) {
	if err := folder(filepath.Dir(file)); err != nil {
		return "", err
	}
	return locked(file, func() (string, error) { return write(file) })
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

// locked runs do while no other process writes the file.
func locked(file string, do func() (string, error)) (string, error) {
	l := flock.New(file+".lock", flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return "", fmt.Errorf("lock the token file: %w", err)
	}
	t, err := do()
	return t, errors.Join(err, l.Close())
}

// read returns the token in a file. The error wraps fs.ErrNotExist when there is none.
func read(file string) (string, error) {
	f, err := open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("read the token file: %w", err)
	case !info.Mode().IsRegular():
		return "", notRegular(file)
	}
	if why := foreign(info, os.Geteuid()); why != "" {
		return "", &FileError{"file", file, why, "others may know the token: windlass serve token --new makes another one"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "", fmt.Errorf("read the token file: %w", err)
	}
	t, err := Parse(string(data))
	if err != nil {
		return "", &FileError{"file", file, "holds no token", "windlass serve token --new makes one"}
	}
	return t, nil
}

func notRegular(file string) error {
	return &FileError{"file", file, "is a link or something else that is no file", "find out who put it there; windlass serve token --new replaces it"}
}

// write puts a new token into a file at once: whoever reads it finds the old one or the new one, whole.
func write(file string) (string, error) {
	secret := make([]byte, size)
	_, _ = rand.Read(secret) // it never fails: the process ends instead
	t := hex.EncodeToString(secret)
	tmp, err := os.CreateTemp(filepath.Dir(file), ".token.*") // readable by its owner only
	if err != nil {
		return "", fmt.Errorf("write the token file: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // fails after the rename, as it should
	_, err = tmp.WriteString(t + "\n")
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return "", fmt.Errorf("write the token file: %w", err)
	}
	return t, nil
}
