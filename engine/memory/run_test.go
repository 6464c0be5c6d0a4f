package memory

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// base are files that commands run over.
func base() Files {
	return Files{
		notes: three, "/memories/a/1.md": "a a\nb\n", "/memories/a/b/2.md": "", "/memories/.hidden/x": "x", "/memories/full": strings.Repeat("x\n", MaxFile/2),
	}
}

// check holds what is true of every result.
func check(t *testing.T, files Files, r Result) Files {
	t.Helper()
	require.NotEmpty(t, r.Text)
	require.True(t, utf8.ValidString(r.Text))
	if r.Failed {
		require.Equal(t, Result{Text: r.Text, Failed: true}, r)
	}
	paths := make([]string, len(r.Changes))
	for i, c := range r.Changes {
		paths[i] = c.Path
		require.Contains(t, r.Paths, c.Path)
		if c.Gone {
			require.Equal(t, Change{Path: c.Path, Gone: true}, c)
			require.Contains(t, files, c.Path)
		}
		if c.From != "" {
			require.Equal(t, files[c.From], c.Text)
			require.Contains(t, r.Changes, Change{Path: c.From, Gone: true})
		}
	}
	require.True(t, slices.IsSorted(paths) && slices.IsSorted(r.Paths), "%q %q", paths, r.Paths)
	require.Len(t, slices.Compact(paths), len(r.Changes))
	for _, path := range r.Read {
		require.Contains(t, files, path)
	}
	after := files.With(r.Changes)
	total := 0
	for path, text := range after {
		clean, problem := cleanPath(path)
		require.Empty(t, problem)
		require.Equal(t, path, clean)
		require.True(t, isBelow(path, Root), path)
		for folder := range folders(path) {
			require.NotContains(t, after, folder, "a file and a folder")
		}
		require.LessOrEqual(t, len(text), MaxFile)
		require.True(t, utf8.ValidString(text) && !strings.Contains(text, "\x00"))
		total += len(text)
	}
	require.LessOrEqual(t, len(after), MaxFiles)
	require.LessOrEqual(t, total, MaxBank)
	return after
}

// Whatever two calls have as arguments: nothing panics, and results are whole and within the limits.
func FuzzRun(f *testing.F) {
	for _, c := range calls() {
		if len(c.args) < 3000 {
			f.Add([]byte(c.args), []byte(`{"command":"view","path":"/memories"}`))
			f.Add([]byte(`{"command":"rename","old_path":"/memories/a","new_path":"/memories/b"}`), []byte(c.args))
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		files := base()
		for _, args := range [][]byte{first, second} {
			before := maps.Clone(files)
			r := answer(files, string(args))
			require.Equal(t, r, answer(files, string(args)), "the same twice")
			after := check(t, files, r)
			require.Equal(t, before, files, "the files given are as they were")
			files = after
		}
	})
}

// A command without Read behaves: nothing in it is taken for granted.
func TestRunWithoutRead(t *testing.T) {
	t.Parallel()
	files := oneFile("a\n")
	for _, c := range []struct {
		command Command
		want    string
	}{
		{Command{}, "Unknown command: "},
		{Command{Command: "vie\u202ew"}, `Unknown command: vie\u202ew`},
		{Command{Command: commandInsert, Path: notes}, "Error: The command insert needs the argument insert_line"},
		{Command{Command: commandCreate, Path: "/memories/x", FileText: "\xff"}, "Error: The text of /memories/x would not be valid UTF-8"},
		{Command{Command: commandReplace, Path: notes, OldStr: "a", NewStr: "\xff"}, "Error: The text of /memories/notes.md would not be valid UTF-8"},
		{Command{Command: commandInsert, Path: notes, InsertLine: new(int), InsertText: "\xff"}, "Error: The text of /memories/notes.md would not be valid UTF-8"},
	} {
		require.Equal(t, Result{Text: c.want, Failed: true}, c.command.Run(files))
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	require.Equal(t, Files{"/memories/a": "a"}, Files(nil).With([]Change{{Path: "/memories/a", Text: "a"}}))
	files := Files{"/memories/a": "a", "/memories/b": "b"}
	after := files.With([]Change{{Path: "/memories/a", Gone: true}, {Path: "/memories/c", Text: "a", From: "/memories/a"}, {Path: "/memories/b", Text: ""}})
	require.Equal(t, Files{"/memories/b": "", "/memories/c": "a"}, after)
	require.Equal(t, Files{"/memories/a": "a", "/memories/b": "b"}, files)
}

func TestFormatSize(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]string{
		0: "0B", 1: "1B", 1023: "1023B", 1024: "1K", 1025: "1.0K", 1536: "1.5K", 5632: "5.5K", 102400: "100K", 1<<20 - 1: "1024.0K", 1 << 20: "1M",
		1258291: "1.2M", MaxBank: "16M", 1 << 30: "1G", 5 << 40: "5120G",
	} {
		require.Equal(t, want, formatSize(bytes), bytes)
	}
}

// The schema and Read know the same arguments and commands.
func TestSpec(t *testing.T) {
	t.Parallel()
	s := Spec()
	require.Equal(t, Tool, s.Name)
	require.True(t, s.Idempotent)
	var schema struct {
		Additional *bool    `json:"additionalProperties"`
		Required   []string `json:"required"`
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(s.Parameters, &schema))
	require.False(t, *schema.Additional)
	require.Equal(t, []string{"command"}, schema.Required)
	require.ElementsMatch(t, arguments, slices.Collect(maps.Keys(schema.Properties)))
	require.ElementsMatch(t, schema.Properties["command"].Enum, slices.Collect(maps.Keys(needed)))
	for command, names := range needed {
		require.Contains(t, s.Description, fmt.Sprintf("\n- %s: ", command))
		require.Subset(t, arguments, names)
	}
}
