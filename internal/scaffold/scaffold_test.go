package scaffold

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/schema"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	sound := Options{Name: "hello", Template: Minimal, Task: "Say hello.", Model: "m"}
	require.NoError(t, sound.Check())
	for want, change := range map[string]func(*Options){
		`name: "" is no name: up to 64 letters, digits, _ and -, the first a letter or _`:     func(o *Options) { o.Name = "" },
		`name: "../x" is no name: up to 64 letters, digits, _ and -, the first a letter or _`: func(o *Options) { o.Name = "../x" },
		`name: "-x" is no name: up to 64 letters, digits, _ and -, the first a letter or _`:   func(o *Options) { o.Name = "-x" },
		`name: "a b" is no name: up to 64 letters, digits, _ and -, the first a letter or _`:  func(o *Options) { o.Name = "a b" },
		`name: windlass.json is the name of the configuration file`:                           func(o *Options) { o.Name = "Windlass" },
		`template: there is no template "big": there are minimal, tools, context`:             func(o *Options) { o.Template = "big" },
		`task: it is empty`: func(o *Options) { o.Task = " \n" },
		`task: it is plain text here; write templates such as {{ input.topic }} into the file afterwards`: func(o *Options) { o.Task = "About {{ input.topic }}" },
		`model: it is empty`: func(o *Options) { o.Model = "" },
	} {
		o := sound
		change(&o)
		require.EqualError(t, o.Check(), want)
	}
}

func TestNameFor(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		"/home/me/reports": "reports", "/home/me/My reports!": "My_reports_", "/": "first", "/srv/2024": "first", "/src/windlass": "first",
		"/src/日本": "first", "/x/" + strings.Repeat("a", 80): strings.Repeat("a", 64), "/x/-": "first",
	} {
		require.Equal(t, want, NameFor(dir), dir)
	}
}

// Whatever a person says stands in the files as it was said.
func FuzzFiles(f *testing.F) {
	for _, s := range []string{"Say hello.", `"quoted" <b> & \n`, "@name", "\x00\xff", "日本", "line\nline"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, task, model string) {
		for _, template := range Names() {
			o := Options{Name: "fuzzed", Template: template, Task: task, Model: model}
			if o.Check() != nil {
				continue
			}
			files, err := Files(o)
			require.NoError(t, err)
			var cascade struct {
				ID     string `json:"cascade_id"`
				Schema string `json:"$schema"`
				Phases []struct{ Instructions string }
			}
			require.NoError(t, json.Unmarshal(files[0].Text, &cascade))
			require.Equal(t, "fuzzed", cascade.ID)
			require.Equal(t, string([]rune(task)), cascade.Phases[0].Instructions)
			require.Contains(t, files, File{cascade.Schema, schema.CascadeJSON()})
			c, err := config.Parse("windlass.json", files[2].Text)
			require.NoError(t, err)
			require.Equal(t, string([]rune(model)), c.DefaultModel)
		}
	})
}

// Files that are there stay as they are, and none is written beside them.
func TestWriteReplacesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := []File{{"a", []byte("new a")}, {"b", []byte("new b")}, {"c", []byte("new c")}}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte("old b"), 0o600))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "c")))
	_, err := Write(dir, files)
	require.EqualError(t, err, filepath.Join(dir, "b")+", "+filepath.Join(dir, "c")+": already there, and nothing is overwritten")
	require.NoFileExists(t, filepath.Join(dir, "a"))
	require.NoFileExists(t, filepath.Join(dir, ".gitignore"))
	text, err := os.ReadFile(filepath.Join(dir, "b"))
	require.NoError(t, err)
	require.Equal(t, "old b", string(text))
}

// A file that cannot be made leaves nothing behind.
func TestWriteFailsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Write(dir, []File{{"a", nil}, {"none/b", nil}})
	require.ErrorContains(t, err, "make a file: open "+filepath.Join(dir, "none/b"))
	require.NoFileExists(t, filepath.Join(dir, "a"))
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Write(file, []File{{"a", nil}})
	require.ErrorContains(t, err, "look for "+filepath.Join(file, "a")+": ")
}

func TestIgnore(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{
		"": ".windlass/\n", "/bin\n": "/bin\n.windlass/\n", "/bin": "/bin\n.windlass/\n", ".windlass/\n": "", "x\n/.windlass\n": "", "# .windlass/\n": "# .windlass/\n.windlass/\n",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, ".gitignore")
		require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
		written, err := Write(dir, []File{{"a", nil}})
		require.NoError(t, err)
		want := []string{filepath.Join(dir, "a"), path}
		if after == "" {
			after, want = before, want[:1]
		}
		require.Equal(t, want, written)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, after, string(text))
	}
}
