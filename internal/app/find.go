package app

import (
	"bytes"
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
// name begins with a dot, node_modules, and links to folders are left out.
func FindFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.IsDir() && isChecked(path):
			files = append(files, path)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for cascades in %s: %w", dir, err)
	case len(files) == 0:
		return nil, &NoCascadesError{dir}
	}
	slices.Sort(files)
	return files, nil
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

// looksLikeCascade reports whether a file has a key that only cascades have. One that cannot be read
// as JSON or YAML counts when it has the word.
func looksLikeCascade(path string) bool {
	data, err := source.ReadFile(path, source.MaxBytes)
	if err != nil {
		return false
	}
	has := func(word string) bool { return bytes.Contains(data, []byte(word)) }
	if !has("cascade_id") && !has("phases") {
		return false
	}
	root := source.Parse(path, data).Root
	return root == nil || root.Get("cascade_id") != nil || root.Get("phases") != nil
}
