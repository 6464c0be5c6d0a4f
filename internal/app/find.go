package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/source"
)

// NoCascadesError says that folders hold nothing that [FindFiles] looks for.
type NoCascadesError struct{ Dir string }

func (e *NoCascadesError) Error() string {
	return fmt.Sprintf(`there are no cascades in %s: no JSON or YAML file below it has "cascade_id" or "phases"`, e.Dir)
}

// FindFiles returns the files below a folder that [CheckFile] checks, sorted: cascades, which are
// JSON and YAML files with "cascade_id" or "phases", the files of tools, and scripts. Folders whose
// name begins with a dot, node_modules, and links to folders are left out. A file that may not be
// read is among them, for CheckFile to say so; the error names a folder that may not be read, and
// the files are those of the others.
func FindFiles(dir string) ([]string, error) {
	var f finder
	root := dir
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // what the link leads to
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		return f.visit(path, d, err, path == root)
	})
	slices.Sort(f.files)
	switch err = cmp.Or(err, f.failed); {
	case err != nil:
		return f.files, fmt.Errorf("look for cascades in %s: %w", dir, err)
	case len(f.files) == 0:
		return nil, &NoCascadesError{dir}
	}
	return f.files, nil
}

type finder struct {
	files  []string
	failed error // the first folder that may not be read
}

// visit is the function of a walk.
func (f *finder) visit(path string, d fs.DirEntry, err error, root bool) error {
	switch {
	case err != nil:
		f.failed = cmp.Or(f.failed, err)
	case d.IsDir() && !root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
		return fs.SkipDir
	case !d.IsDir() && isChecked(path):
		f.files = append(f.files, path)
	}
	return nil
}

func isChecked(path string) bool {
	if !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
		return false
	}
	// A link to a file is one; a pipe would only be waited for.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	return cascade.IsToolFile(path) || script.IsFile(path) || looksLikeCascade(path)
}

// looksLikeCascade is [LooksLikeCascade] for a file. One that may not be read counts.
func looksLikeCascade(path string) bool {
	data, err := source.ReadFile(path, source.MaxBytes)
	return errors.Is(err, fs.ErrPermission) || err == nil && LooksLikeCascade(path, data)
}

// LooksLikeCascade reports whether a text has a key that only cascades have. One that cannot be read as JSON or YAML, by the
// extension of its path, counts when it has the word.
func LooksLikeCascade(path string, data []byte) bool {
	has := func(word string) bool { return bytes.Contains(data, []byte(word)) }
	if !has("cascade_id") && !has("phases") {
		return false
	}
	root := source.Parse(path, data).Root
	return root == nil || root.Get("cascade_id") != nil || root.Get("phases") != nil
}
