package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/tool"
)

// FuzzArguments calls all built-in tools, but for commands and SQL, with whatever a model may write: nothing outside the granted
// folder is shown, made or changed, what windlass runs by itself stays as it is, and a result is
// bounded.
func FuzzArguments(f *testing.F) {
	names := slices.DeleteFunc(tool.BuiltinNames(), func(name string) bool { return name == tool.RunCommand || name == tool.SQLQuery })
	for _, path := range []string{"a.txt", "../secret", "link/secret", "sub/../../secret", "sub/up/secret", "a\x00", strings.Repeat("a/", 3000), "windlass.json", ".git/config", "/", "", "sub/new", "{a,b}", "[z-a]", "**/*"} {
		for i := range names {
			f.Add(uint8(i), path, "canary|x", false)
			f.Add(uint8(i), path, "(", true)
		}
	}
	base := f.TempDir()
	granted := filepath.Join(base, "granted")
	require.NoError(f, os.MkdirAll(filepath.Join(granted, "sub"), 0o700))
	const canary = "canary-6be1f7"
	secret := filepath.Join(base, "secret")
	require.NoError(f, os.WriteFile(secret, []byte(canary), 0o600))
	require.NoError(f, os.WriteFile(filepath.Join(granted, "a.txt"), []byte("a\nb\n"), 0o600))
	require.NoError(f, os.WriteFile(filepath.Join(granted, "windlass.json"), []byte("{}"), 0o600))
	require.NoError(f, os.Symlink("..", filepath.Join(granted, "link")))
	require.NoError(f, os.Symlink("../..", filepath.Join(granted, "sub", "up")))
	r, err := tool.New(tool.Options{Roots: []string{granted}})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, r.Close()) })
	f.Fuzz(func(t *testing.T, which uint8, path, text string, flag bool) {
		args, err := json.Marshal(map[string]any{"path": path, "pattern": text, "content": text, "append": flag, "all": flag, "ignore_case": flag, "glob": path})
		require.NoError(t, err)
		res, err := r.Call(t.Context(), effect.ToolRequest{Name: names[int(which)%len(names)], Arguments: args})
		require.NoError(t, err)
		for _, p := range res.Parts {
			require.False(t, strings.Contains(p.Text, canary) && !strings.Contains(text+path, canary), p.Text)
			require.Less(t, len(p.Text), 140<<10)
		}
		entries, err := os.ReadDir(base)
		require.NoError(t, err)
		require.Len(t, entries, 2)
		for file, want := range map[string]string{secret: canary, filepath.Join(granted, "windlass.json"): "{}"} {
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, want, string(got))
		}
	})
}
