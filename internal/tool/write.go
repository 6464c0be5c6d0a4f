package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
)

const maxWrite = 4 << 20

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Append  bool   `json:"append"`
}

func writeTool(f *folders) tool {
	return tool{
		spec: engine.ToolSpec{
			Name: WriteFile,
			Description: "Write a text file inside the granted folders. The file is replaced as a whole, or made, together with " +
				"the folders it is in; with append the content is added at its end.",
			Parameters: object([]string{"path", "content"},
				property{"path", "string", "the file, relative to the working folder", `"minLength":1`},
				property{"content", "string", "the text to write", ""},
				property{"append", "boolean", "add to the end of the file instead of replacing it", `"default":false`}),
		},
		run: typed(func(_ context.Context, _ *call, a writeArgs) (string, error) { return f.write(a) }),
	}
}

func (f *folders) write(a writeArgs) (string, error) {
	p, err := f.find(a.Path)
	if err != nil {
		return "", err
	}
	if len(a.Content) > maxWrite {
		return "", &failure{kindOutputLimit, fmt.Errorf("write %s: the content has more than %d MiB", p.show, maxWrite>>20)}
	}
	if slices.ContainsFunc(strings.Split(filepath.ToSlash(p.name), "/"), isGit) {
		return "", &failure{kindNotAllowed, fmt.Errorf("write %s: files of .git are not written, as git runs some of them", p.show)}
	}
	if strings.EqualFold(filepath.Base(p.name), config.FileName) {
		return "", &failure{kindNotAllowed, fmt.Errorf("write %s: it says what windlass itself may run, so that only people change it", p.show)}
	}
	mode, err := f.target(p)
	if err != nil {
		return "", err
	}
	if err := p.root.MkdirAll(filepath.Dir(p.name), 0o755); err != nil {
		return "", f.explain("write", p, err)
	}
	verb := "wrote"
	if a.Append {
		verb, err = "added", p.appendText(a.Content)
	} else {
		err = p.replace(a.Content, mode)
	}
	if err != nil {
		return "", f.explain("write", p, err)
	}
	return fmt.Sprintf("%s %d bytes to %s", verb, len(a.Content), p.show), nil
}

func isGit(name string) bool { return strings.EqualFold(name, ".git") }

// newFileMode is the mode of a file that write_file makes, before the umask.
const newFileMode = 0o644

// target checks what is at the place so far, and returns the mode of the file there, 0 when there is none.
func (f *folders) target(p place) (fs.FileMode, error) {
	info, err := p.root.Lstat(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, f.explain("write", p, err)
	case info.IsDir():
		return 0, fmt.Errorf("write %s: it is a folder", p.show)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, fmt.Errorf("write %s: it is a symbolic link; write to the file that it leads to", p.show)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("write %s: it is not a regular file", p.show)
	}
	return info.Mode().Perm(), nil
}

func (p place) appendText(text string) error {
	file, err := p.root.OpenFile(p.name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|openNonblock, newFileMode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// replace puts a new file in the place of the old one in one step, so that nobody sees a part of it. The new one gets
// the mode of the old one.
func (p place) replace(text string, mode fs.FileMode) (err error) {
	temp := filepath.Join(filepath.Dir(p.name), ".windlass-"+rand.Text()+".tmp")
	file, err := p.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.root.Remove(temp))
		}
	}()
	_, err = file.WriteString(text)
	if err == nil && mode != 0 {
		err = file.Chmod(mode)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return p.root.Rename(temp, p.name)
}
