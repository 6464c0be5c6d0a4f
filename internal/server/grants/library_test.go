package grants

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/server"
)

const (
	child  = `{"cascade_id": "child", "phases": [{"name": "a", "instructions": "x"}]}`
	shell  = `{"cascade_id": "shell", "tools": [{"tool_id": "t", "type": "shell", "command": "true"}], "phases": [{"name": "a", "instructions": "x", "tackle": ["t"]}]}`
	warded = `{"cascade_id": "warded", "phases": [{"name": "a", "instructions": "x", "wards": {"post": ["command:true"]}}]}`
)

// TestSoundingsRunCommands: a command that judges candidates, of a phase or of the whole cascade, is one
// like any other.
func TestSoundingsRunCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"cascade_id": "c", "soundings": {"factor": 2, "validator": "command:true"}, "phases": [{"name": "a", "instructions": "x"}]}`:                             "soundings.validator of the cascade",
		`{"cascade_id": "c", "phases": [{"name": "a", "instructions": "x", "soundings": {"factor": 2, "validator": "command:true"}}]}`:                             `soundings.validator of the phase "a"`,
		`{"cascade_id": "c", "phases": [{"name": "a", "instructions": "x", "soundings": {"factor": 2, "reforge": {"threshold": {"validator": "command:true"}}}}]}`: `soundings.reforge.threshold of the phase "a"`,
	} {
		for granted, message := range map[bool]string{true: "", false: want + " runs a command, which this server was not started with --allow-commands for"} {
			g, err := Open(Options{Rights: core.Rights{AllowCommands: granted}})
			require.NoError(t, err)
			c, _, err := g.Parse(t.Context(), "cascade.json", []byte(text))
			require.NoError(t, err)
			if err := g.Check(c); granted {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, message)
			}
			require.NoError(t, g.Close())
		}
	}
}

func names(refs string) string {
	return `{"cascade_id": "main", "phases": [{"name": "a", "instructions": "x", "sub_cascades": [` + refs + `]}]}`
}

// TestNames: over the API names stand for cascades in the granted folders, and for no others.
func TestNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one/flows/main.json": names(`"child"`), "two/cascades/x.json": child, "secret.json": child, "one/out.json": names(`"../secret.json"`),
		"one/flows/shell.json": shell, "one/sub.json": names(`"flows/shell.json"`), "two/ward.json": warded, "one/broken.json": names(`"flows/none.json"`),
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink(filepath.Join(dir, "secret.json"), filepath.Join(dir, "one/link.json")))
	g, err := Open(Options{Rights: core.Rights{Roots: []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()

	c, file, err := g.Load(t.Context(), "flows/main.json", false)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "one/flows/main.json"), file)
	require.Equal(t, filepath.Join(dir, "two/cascades/x.json"), c.Reaches["child"].File)
	require.NoError(t, g.Check(c))

	diagnosed := func(file string) string {
		_, _, err := g.Load(t.Context(), file, false)
		var p *server.Problem
		require.ErrorAs(t, err, &p)
		require.Len(t, p.Diagnostics, 1)
		return p.Diagnostics[0].Message
	}
	require.Equal(t, `"sub_cascades" of phase "a": "../secret.json" leads out of the folder whose cascades may be used here`, diagnosed("out.json"))
	require.Equal(t, `"sub_cascades" of phase "a": there is no file flows/none.json`, diagnosed("broken.json"))

	c, _, err = g.Load(t.Context(), "sub.json", false)
	require.NoError(t, err)
	require.EqualError(t, g.Check(c), `the tool "t" of the cascade "shell" runs a command, which this server was not started with --allow-commands for`)

	c, _, err = g.Parse(t.Context(), "cascade.json", []byte(names(`"child", {"ref": "ward.json", "name": "w"}`)))
	require.NoError(t, err)
	require.EqualError(t, g.Check(c), `wards.post of the phase "a" of the cascade "warded" runs a command, which this server was not started with --allow-commands for`)
	_, _, err = g.Parse(t.Context(), "cascade.json", []byte(names(`"link.json"`)))
	require.ErrorContains(t, err, "the cascade link.json cannot be read: ")

	find := g.RunOptions().Extensions.Find
	for _, file := range []string{filepath.Join(dir, "one/flows/main.json"), "/x/the cascade of the request"} {
		r, err := find(t.Context(), file, "child", core.Known())
		require.NoError(t, err)
		require.Equal(t, filepath.Join(dir, "two/cascades/x.json"), r.File)
	}
	_, err = find(t.Context(), filepath.Join(dir, "one/flows/main.json"), "shell", core.Known())
	require.EqualError(t, err, `the tool "t" runs a command, which this server was not started with --allow-commands for`)
	_, err = find(t.Context(), filepath.Join(dir, "one/out.json"), "../secret.json", core.Known())
	require.EqualError(t, err, `find the cascade "../secret.json": "../secret.json" leads out of the folder whose cascades may be used here`)

	none, err := Open(Options{})
	require.NoError(t, err)
	_, found, err := none.Parse(t.Context(), "cascade.json", []byte(names(`"child"`)))
	require.ErrorContains(t, err, `no cascade is called "child" here: this server was started without a folder of cascades`)
	require.Equal(t, "windlass serve --root FOLDER lets cascades of that folder be named", found[0].Hint)
}
