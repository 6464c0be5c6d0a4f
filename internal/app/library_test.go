package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
)

// project writes a project with a cascade that reaches two others, one of them below the other.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"windlass.json":         `{"cascade_paths": ["more"]}`,
		"flows/main.json":       `{"cascade_id": "main", "phases": [{"name": "a", "instructions": "x", "sub_cascades": ["child"]}]}`,
		"cascades/child.json":   `{"cascade_id": "child", "phases": [{"name": "a", "instructions": "Say sk-child-5f2c9e7a11d04b6f.", "sub_cascades": ["grandchild"]}]}`,
		"more/grandchild.yaml":  "cascade_id: grandchild\nphases:\n- {name: a, instructions: '{{ env.LIBRARY_TEST }}'}\n",
		"cascades/by_name.json": `{"cascade_id": "by_name", "phases": [{"name": "a", "tool": "run_command", "inputs": {"command": "true"}}]}`,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// TestLibraryIsRecorded: what a cascade reaches is in the header of its session, without secrets, and
// is read from there whatever has become of the files.
func TestLibraryIsRecorded(t *testing.T) {
	dir := project(t)
	t.Setenv("LIBRARY_TEST", "sk-child-5f2c9e7a11d04b6f")
	a, err := Open(Options{Home: t.TempDir(), Dir: dir, Version: "test"})
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	file := filepath.Join(dir, "flows/main.json")
	cfg, err := a.Config()
	require.NoError(t, err)
	c, found, err := Folders(cfg, a.home).Load(t.Context(), file, Known())
	require.NoError(t, err, found)
	require.Equal(t, filepath.Join(dir, "more/grandchild.yaml"), c.Reaches["child"].Cascade.Reaches["grandchild"].File)

	o := options("s1")
	_, err = a.Start(t.Context(), Job{Cascade: c, File: file}, o, Watch{})
	require.ErrorContains(t, err, `"instructions" of phase "a" of `+filepath.Join(dir, "more/grandchild.yaml")+" needs the environment variable LIBRARY_TEST")

	o.Rights.AllowEnv = []string{"LIBRARY_TEST"}
	r, err := a.Start(t.Context(), Job{Cascade: c, File: file}, o, Watch{})
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	h := a.recording(t, "s1").Header
	require.Contains(t, string(h.Library), `"cascade_id":"child"`)
	require.NotContains(t, string(h.Library), "sk-child")
	require.Empty(t, r.Changed())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "more/grandchild.yaml"), []byte("cascade_id: grandchild\nphases: [{name: b, instructions: x}]\n"), 0o600))

	origin, err := ReadHeader(h)
	require.NoError(t, err)
	child := origin.Cascade.Reaches["child"]
	require.Equal(t, c.Reaches["child"].Hash, child.Hash, "that of the cascade as it was read, with what is masked now")
	require.Equal(t, "a", child.Cascade.Reaches["grandchild"].Cascade.Phases[0].Name)

	now, found, err := Folders(cfg, a.home).Load(t.Context(), file, Known())
	require.NoError(t, err, found)
	text := func(c *cascade.Cascade) string { return string(r.secrets.JSON(encoded(c))) }
	require.Equal(t, filepath.Join(dir, "more/grandchild.yaml"), changedFile(file, now, origin.Cascade, text), "the file that has changed, not those that reach it")
	require.Empty(t, changedFile(file, now, now, text))
	fork, err := forkHeader(h, "s2", 1, ForkOptions{})
	require.NoError(t, err)
	require.JSONEq(t, string(h.Library), string(fork.Library))
	changed := ForkOptions{Cascade: now, File: file}
	fork, err = forkHeader(h, "s2", 1, changed)
	require.NoError(t, err)
	require.NoError(t, maskFork(a, &fork, changed))
	require.Contains(t, string(fork.Library), `"name":"b"`)
	require.NotContains(t, string(fork.Library), "sk-child")

	h.Library = []byte(`{"refs": {"child": "nothing"}}`)
	_, err = ReadHeader(h)
	require.EqualError(t, err, `read the cascade of session s1: read the cascade "child", which s1/cascade reaches: there is none with the hash "nothing"`)
}

// TestFindCascade: what a model names is found in the project of the run, and held to its rights.
func TestFindCascade(t *testing.T) {
	t.Parallel()
	dir := project(t)
	a, err := Open(Options{Home: t.TempDir(), Dir: dir, Version: "test"})
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	cfg, err := a.Config()
	require.NoError(t, err)
	op := a.opening(cfg, options("s1"), Watch{})
	op.run.header = journal.Header{File: "flows/main.json"}
	op.run.cascade = cascadeOf(t, parentCascade)
	op.run.started.Dir = dir
	_, err = op.findCascade(t.Context(), "child")
	require.ErrorContains(t, err, "needs the environment variable LIBRARY_TEST")
	_, err = op.findCascade(t.Context(), "../cascades/by_name.json")
	require.ErrorContains(t, err, `phase "a" of the cascade "by_name" runs "run_command", which is refused`)
	var lost *library.NameError
	_, err = op.findCascade(t.Context(), "../../x.json")
	require.ErrorAs(t, err, &lost)
	op.options.Rights.AllowCommands = true
	r, err := op.findCascade(t.Context(), "by_name")
	require.NoError(t, err)
	require.Equal(t, "by_name", r.Cascade.CascadeID)

	found := op.run.children.Find(t.Context(), "by_nmae")
	require.Equal(t, echo.FoundCascade{Name: "by_nmae", Problem: `no cascade has the cascade_id "by_nmae"; did you mean "by_name"? the folders that were read: flows, cascades, tackle (not there), examples (not there), more`}, found)
	op.runner.Env = map[string]string{"LIBRARY_TEST": "x"}
	found = op.run.children.Find(t.Context(), "child")
	require.Empty(t, found.Problem)
	again, err := op.run.children.Read(&found)
	require.NoError(t, err)
	require.Equal(t, "grandchild", again.Cascade.Reaches["grandchild"].Cascade.CascadeID)
	found.Cascade = []byte(`{`)
	_, err = op.run.children.Read(&found)
	require.ErrorContains(t, err, "read the cascade child: child:1:")
}

// TestProjectFolder: a windlass.json of the home folder is of no project.
func TestProjectFolder(t *testing.T) {
	t.Parallel()
	for home, want := range map[string]library.Folders{
		"/elsewhere": {Project: "/p", Paths: []string{"/p/more"}}, "/p": {Paths: []string{"/p/more"}}, "/p/": {Paths: []string{"/p/more"}},
	} {
		require.Equal(t, want, Folders(&config.Config{Path: "/p/windlass.json", CascadePaths: []string{"more"}}, home))
	}
	require.Equal(t, library.Folders{}, Folders(&config.Config{}, "/home"))
	_, found, err := cascade.Parse("c.json", []byte(`{"cascade_id": "c", "phases": [{"name": "a", "instructions": "x", "sub_cascades": ["b"]}]}`), Known())
	require.ErrorContains(t, err, `no cascade is called "b" here: names of other cascades are not looked up`)
	require.Equal(t, "other cascades are found from a file: load the cascade from its own", found[0].Hint)
}
