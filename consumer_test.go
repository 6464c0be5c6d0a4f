package windlass_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/windlass-run/windlass"

// A module of its own runs a cascade with its own tool and its own model, in few lines and with
// public packages only. Neither cobra nor what belongs to the command is in its program: what takes
// secrets out of the environment by executing the program again, terminals.
func TestAnotherModule(t *testing.T) {
	t.Parallel()
	dir := consumer(t)
	source, err := os.ReadFile(filepath.Join(dir, "main.go"))
	require.NoError(t, err)
	lines := 0
	for line := range strings.Lines(string(source)) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	require.Less(t, lines, 25)
	require.NotContains(t, string(source), module+"/", "the root package is enough")

	require.Equal(t, "Done: checkout runs\n", runGo(t, dir, "run", "."))
	deps := strings.Fields(runGo(t, dir, "list", "-deps", "."))
	require.True(t, slices.Contains(deps, module))
	for _, foreign := range []string{"github.com/spf13/", module + "/cmd/", module + "/internal/term", module + "/internal/vault", module + "/internal/server"} {
		require.False(t, slices.ContainsFunc(deps, func(path string) bool { return strings.HasPrefix(path, foreign) }), foreign)
	}
}

// consumer makes the module, with the versions of this one.
func consumer(t *testing.T) string {
	t.Helper()
	root, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/consumer")))
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	mod, err := os.ReadFile("go.mod") // its whole list: Go then needs no file of a module that building this one has not fetched
	require.NoError(t, err)
	_, list, found := strings.Cut(string(mod), "module "+module+"\n")
	require.True(t, found)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"),
		[]byte("module example.org/consumer\n"+list+"\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+root+"\n"), 0o600))
	return dir
}

// runGo runs the go command without the network and returns what it prints.
func runGo(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOPROXY=off", "GOWORK=off", "WINDLASS_HOME="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return string(out)
}
