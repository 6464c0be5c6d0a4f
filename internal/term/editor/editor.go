// Package editor has a person change a text in the editor that the environment names.
package editor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/source"
)

// Of returns what has a text changed in the editor that the environment names, with a terminal in and out, as a file of a
// name; nil where it names none.
func Of(in io.Reader, out io.Writer, file string) func(string) (string, error) {
	command, ok := environment.LookupEnv("VISUAL")
	if !ok || command == "" {
		command, _ = environment.LookupEnv("EDITOR")
	}
	if command == "" {
		return nil
	}
	return func(text string) (string, error) {
		changed, err := edit(in, out, command, file, text)
		if err != nil {
			return "", fmt.Errorf("edit it with %s: %w", command, err)
		}
		return changed, nil
	}
}

// maxEdited is how long a text from an editor may be, in bytes.
const maxEdited = 1 << 20

func edit(in io.Reader, out io.Writer, command, file, text string) (changed string, err error) {
	dir, err := os.MkdirTemp("", "windlass-edit-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(context.Background(), "sh", "-c", command+` "$1"`, "sh", path) // a command with arguments, as git takes it; the person ends it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return environment.IsSecret(name, value)
	})
	if err := cmd.Run(); err != nil {
		return "", err
	}
	return readBack(path)
}

// readBack returns the text that an editor has left. It has put another file in the place of its own, mostly: what is there
// now is only read when it is a file.
func readBack(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("it has left no file")
	}
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("when the editor has ended, %s is a link, %w", filepath.Base(path), source.ErrNoFile)
	}
	if err := source.Readable(filepath.Base(path), info.Mode()); err != nil {
		return "", fmt.Errorf("when the editor has ended, %w", err)
	}
	if info.Size() > maxEdited {
		return "", fmt.Errorf("the text has %d bytes, at most %d are taken", info.Size(), maxEdited)
	}
	text, err := source.ReadFile(path, maxEdited)
	return string(text), err
}
