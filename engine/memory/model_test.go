package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var errRefused = errors.New("refused")

// disk is a naive bank: a folder on a disk, changed with the functions of package os.
type disk struct{ folder string }

func (d disk) at(path string) string {
	return filepath.Join(d.folder, filepath.FromSlash(strings.TrimPrefix(path, Root)))
}

func (d disk) run(c *Command) error {
	switch c.Command {
	case commandCreate:
		if err := os.MkdirAll(filepath.Dir(d.at(c.Path)), 0o755); err != nil {
			return err
		}
		file, err := os.OpenFile(d.at(c.Path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = file.WriteString(c.FileText)
		return errors.Join(err, file.Close())
	case commandDelete:
		if _, err := os.Stat(d.at(c.Path)); err != nil || c.Path == Root {
			return errRefused
		}
		return os.RemoveAll(d.at(c.Path))
	case commandRename:
		if _, err := os.Stat(d.at(c.NewPath)); err == nil {
			return errRefused
		}
		if err := os.MkdirAll(filepath.Dir(d.at(c.NewPath)), 0o755); err != nil {
			return err
		}
		return os.Rename(d.at(c.OldPath), d.at(c.NewPath))
	}
	return d.edit(c)
}

// edit changes the text of a file.
func (d disk) edit(c *Command) error {
	raw, err := os.ReadFile(d.at(c.Path))
	if err != nil || c.Command == commandView {
		return err
	}
	text := string(raw)
	if c.Command == commandReplace {
		parts := strings.Split(text, c.OldStr)
		if len(parts) != 2 {
			return errRefused
		}
		return os.WriteFile(d.at(c.Path), []byte(parts[0]+c.NewStr+parts[1]), 0o644)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1] // what follows the last line end is no line
	if *c.InsertLine < 0 || *c.InsertLine > len(lines) {
		return errRefused
	}
	head, tail := strings.Join(lines[:*c.InsertLine], ""), strings.Join(lines[*c.InsertLine:], "")
	return os.WriteFile(d.at(c.Path), []byte(head+c.InsertText+"\n"+tail), 0o644)
}

// prune removes empty folders, which a bank does not have, and returns the files.
func (d disk) prune(t *testing.T) Files {
	files, folders := Files{}, []string{}
	require.NoError(t, filepath.WalkDir(d.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == d.folder {
			return err
		}
		if e.IsDir() {
			folders = append(folders, path)
			return nil
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(d.folder, path)
		files[Root+"/"+filepath.ToSlash(rel)] = string(text)
		return err
	}))
	for _, folder := range slices.Backward(folders) {
		_ = os.Remove(folder) // what is not empty stays
	}
	return files
}

// random returns a command that is likely to find something.
func random(r *rand.Rand, files Files) *Command {
	existing := slices.Sorted(maps.Keys(files))
	path := func() string {
		if len(existing) > 0 && r.IntN(2) == 0 {
			return existing[r.IntN(len(existing))]
		}
		p := Root
		for range 1 + r.IntN(3) {
			p += "/" + string(rune('a'+r.IntN(3)))
		}
		return p
	}
	text := func() string {
		var b strings.Builder
		for range r.IntN(4) {
			b.WriteString([]string{"x", "y", "z", "\n", "x\n"}[r.IntN(5)])
		}
		return b.String()
	}
	line := r.IntN(5)
	commands := []string{
		commandView, commandCreate, commandCreate, commandCreate, commandReplace, commandReplace, commandReplace, commandReplace, commandInsert, commandInsert, commandInsert,
		commandDelete, commandRename, commandRename,
	}
	return &Command{
		Command: commands[r.IntN(len(commands))],
		Path:    path(), FileText: text(), OldStr: []string{"x", "y", "z", "x\ny"}[r.IntN(4)], NewStr: text(),
		InsertText: strings.TrimRight(text(), "\n"), OldPath: path(), NewPath: path(), InsertLine: &line,
	}
}

// Random commands do to a bank what functions of the system do to a folder, and fail where they do.
func TestAgainstDisk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			files, d, done := Files{}, disk{folder: t.TempDir()}, map[string]int{}
			for i := range 400 {
				c := random(r, files)
				result := c.Run(files)
				files = check(t, files, result)
				err := d.run(c)
				if c.Command != commandView { // which shows folders too
					require.Equal(t, err != nil, result.Failed, "step %d: %+v: %v, %s", i, c, err, result.Text)
				}
				require.Equal(t, d.prune(t), files, "step %d: %+v", i, c)
				if !result.Failed {
					done[c.Command]++
				}
			}
			require.Len(t, done, len(needed), "every command has succeeded: %v", done)
		})
	}
}
