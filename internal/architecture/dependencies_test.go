package architecture

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each direct dependency of each module has a row with its reason in CONTRIBUTING.md, and each row
// is one of a dependency.
func TestEachDependencyHasItsReason(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	require.NoError(t, err)
	written := dependencyRows(string(text))
	require.NotEmpty(t, written)
	var used []string
	for _, file := range modFiles(t) {
		used = append(used, directDependencies(t, file)...)
	}
	slices.Sort(used)
	for _, row := range used {
		require.Contains(t, written, row, "CONTRIBUTING.md has no row for this dependency of this module")
	}
	for _, row := range written {
		require.Contains(t, used, row, "CONTRIBUTING.md has a row for what is no direct dependency of this module")
	}
	require.Len(t, written, len(used), "a dependency stands in CONTRIBUTING.md twice")
}

var dependencyRow = regexp.MustCompile("(?m)^\\| `([a-zA-Z0-9./-]+)` \\| ([a-z0-9, ]+) \\| ([^|]+) \\|$")

// dependencyRows returns the table as "MODULE: DEPENDENCY", sorted.
func dependencyRows(text string) []string {
	var out []string
	for _, m := range dependencyRow.FindAllStringSubmatch(text, -1) {
		for of := range strings.SplitSeq(m[2], ", ") {
			out = append(out, of+": "+m[1])
		}
	}
	slices.Sort(out)
	return out
}

// modFiles finds the modules of the repository.
func modFiles(t *testing.T) []string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	var files []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.Name() == "go.mod":
			files = append(files, path)
		}
		return nil
	}))
	require.GreaterOrEqual(t, len(files), 4, "too few modules were found to mean anything")
	return files
}

// goMod is what the go command says of a go.mod.
type goMod struct {
	Module  struct{ Path string }
	Require []struct {
		Path     string
		Indirect bool
	}
	Tool []struct{ Path string }
}

// directDependencies returns what a module requires by itself, and the modules of its tools, as
// "MODULE: DEPENDENCY".
func directDependencies(t *testing.T, file string) []string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", file).Output()
	require.NoError(t, err)
	var mod goMod
	require.NoError(t, json.Unmarshal(text, &mod))
	var out []string
	for _, r := range mod.Require {
		ours := strings.HasPrefix(r.Path+"/", module)
		tool := slices.ContainsFunc(mod.Tool, func(tool struct{ Path string }) bool { return strings.HasPrefix(tool.Path+"/", r.Path+"/") })
		if !ours && (!r.Indirect || tool) {
			out = append(out, fmt.Sprintf("%s: %s", filepath.Base(mod.Module.Path), withoutMajor(r.Path)))
		}
	}
	return out
}

var major = regexp.MustCompile(`/v[0-9]+$`)

// withoutMajor returns the path of a module without its version.
func withoutMajor(path string) string { return major.ReplaceAllString(path, "") }
