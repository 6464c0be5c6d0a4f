package grants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	core "github.com/windlass-run/windlass/internal/app"
)

// TestNew: a new file is made once, in a folder that is there, and under a name that the list would show.
func TestNew(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(two, "flows"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(two, "there.json"), []byte("{}"), 0o600))
	require.NoError(t, os.Symlink("nowhere.json", filepath.Join(two, "link.json")))
	require.NoError(t, os.Symlink(one, filepath.Join(two, "out")))
	require.NoError(t, os.Symlink("flows", filepath.Join(two, "in")))
	g, err := Open(Options{Rights: core.Rights{Roots: []string{one, two}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	require.True(t, g.HasRoots())
	for name, want := range map[string]string{
		"":                   "the new file has no name",
		"a\u200b.json":       "the name has characters that are not seen",
		"../a.json":          "../a.json is not a path below the folders of this server, which has no .., no \\ and no / at its begin or end",
		"/tmp/a.json":        "/tmp/a.json is not a path below the folders of this server, which has no .., no \\ and no / at its begin or end",
		"a\\b.json":          "a\\b.json is not a path below the folders of this server, which has no .., no \\ and no / at its begin or end",
		"a.txt":              "a.txt does not end in .json, .yaml or .yml",
		"flows":              "flows does not end in .json, .yaml or .yml",
		"a.tool.json":        "a.tool.json is the name of a file of a tool or of a script",
		"a.script.json":      "a.script.json is the name of a file of a tool or of a script",
		".a.json":            ".a.json has a part that begins with a dot or is node_modules, and such files are not listed",
		"node_modules/a.yml": "node_modules/a.yml has a part that begins with a dot or is node_modules, and such files are not listed",
		"there.json":         "there is something with the name there.json already, and it is not replaced",
		"link.json":          "there is something with the name link.json already, and it is not replaced",
		"in/a.json":          "in is a link, and nothing is written through links",
		"out/a.json":         "out is a link, and nothing is written through links",
		"none/a.json":        "there is no folder none in the folders that this server was started with",
		"there.json/a.json":  "there is no folder there.json in the folders that this server was started with",
	} {
		_, err := g.New(name)
		require.EqualError(t, err, want, "%q", name)
	}
	for name, dir := range map[string]string{"a.json": one, "flows/a.yaml": two} {
		f, err := g.New(name)
		require.NoError(t, err)
		require.Empty(t, f.Version)
		require.NoError(t, g.Save(f, []byte(child)))
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, child, string(text))
		require.EqualError(t, g.Save(f, []byte("other")), "there is something with the name "+name+" already, and it is not replaced")
	}
	f, err := g.New(strings.Repeat("x", 300) + ".json")
	require.NoError(t, err)
	require.ErrorContains(t, g.Save(f, []byte(child)), "file name too long")
}
