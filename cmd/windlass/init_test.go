//go:build unix

package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/commandline/initflags"
	"github.com/windlass-run/windlass/internal/scaffold"
)

// Each template is a cascade without a warning that runs offline at once, by the commands that are
// printed. Nobody is asked where there is no terminal.
func TestInitTemplates(t *testing.T) {
	t.Parallel()
	for _, name := range scaffold.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "")
			var m initflags.Made
			require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "init", "new", "--template", name, "--json").out.String()), &m))
			require.Equal(t, []string{"cd new", "windlass run new.json --offline", "windlass run new.json"}, m.Next)
			for _, path := range m.Files {
				require.FileExists(t, filepath.Join(l.dir, path))
			}
			l.dir = filepath.Join(l.dir, "new")
			p := l.run(exitOK, "validate", ".")
			require.Equal(t, "new.json: ok\nnew.script.json: ok\n2 files, 0 errors, 0 warnings\n", p.out.String())
			require.Empty(t, p.err.String())
			ran := l.run(exitOK, append(strings.Fields(m.Next[1])[1:], "--no-clickhouse")...)
			require.Contains(t, ran.out.String(), "(scripted) ")
			require.NotContains(t, ran.err.String(), "warning")
			require.Empty(t, l.provider.Requests())
			l.run(exitOK, append(strings.Fields(m.Next[1])[1:], "--no-clickhouse")...) // and once more
			l.run(exitOK, "graph", "new.json")
		})
	}
}

// What the tools template shows is a check that does not pass, and the attempt that does.
func TestInitTools(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.run(exitOK, "init", "--name", "sum", "--template", "tools")
	ran := l.run(exitOK, "run", "sum.json", "--offline", "--no-clickhouse").err.String()
	require.Contains(t, ran, `did not pass: summary.md has no title: a line that begins with "# " [exit status 1]`)
	require.Contains(t, ran, "write attempt 2 turn 2: command:")
	text, err := os.ReadFile(filepath.Join(l.dir, "summary.md"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "# "), string(text))
}

// The last phase of the context template gets messages that were selected.
func TestInitContext(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.run(exitOK, "init", "--name", "ctx", "--template", "context")
	ran := l.run(exitOK, "run", "ctx.json", "--offline", "--no-clickhouse").err.String()
	require.Contains(t, ran, "report: context by heuristic: 1 anchor, 2 of 2 candidates; ")
}

func TestInitOverwritesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("windlass.json", "{}")
	p := l.run(exitUsage, "init", "--name", "x")
	require.Equal(t, "Error: windlass.json: already there, and nothing is overwritten\nTry: another folder: windlass init DIR\n", p.err.String())
	require.NoFileExists(t, filepath.Join(l.dir, "x.json"))
	p = l.run(exitOK, "init", "below", "--task", `Say "<hello>".`, "--model", "local")
	require.Equal(t, "Note: in this folder "+filepath.Join(l.dir, "windlass.json")+" no longer counts: the new windlass.json does.\n", p.err.String())
	require.Contains(t, p.out.String(), "  windlass run below.json              # asks local, ")
	text, err := os.ReadFile(filepath.Join(l.dir, "below", "below.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"instructions": "Say \"<hello>\"."`)
	p = l.run(exitUsage, "init", "below")
	require.Equal(t, "Error: below/below.json, below/below.script.json, below/windlass.json, below/cascade.schema.json: already there, and nothing is overwritten\n"+
		"Try: another folder: windlass init DIR\n", p.err.String())
	for want, args := range map[string][]string{
		"Error: template: there is no template \"big\": there are minimal, tools, context\nTry: another --template\n":                   {"--template", "big"},
		"Error: task: it is plain text here; write templates such as {{ input.topic }} into the file afterwards\nTry: another --task\n": {"--task", "{{ input.x }}"},
		"Error: windlass init takes at most one folder, got [\"a\" \"b\"]\nTry: windlass init --help\n":                                 {"a", "b"},
	} {
		require.Equal(t, want, l.run(exitUsage, append([]string{"init"}, args...)...).err.String())
	}
	l.file("file", "")
	require.Contains(t, l.run(exitUsage, "init", "file").err.String(), "Error: look for file/file.json: ")
}

// typesLines types a line for each question that is shown.
func typesLines(lines ...string) func(string, io.Writer) {
	asked := 0
	return func(shown string, tty io.Writer) {
		for ; asked < min(strings.Count(shown, "]: "), len(lines)); asked++ {
			_, _ = io.WriteString(tty, lines[asked])
		}
	}
}

// On a terminal three questions are asked, and only those that no flag answers.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	shown := l.onTerminal(80, 24, exitOK, typesLines("poem\n", "Write a poem.\n", "\n"), "init", "one")
	require.Contains(t, shown, "Name of the cascade [one]: ")
	require.Contains(t, shown, "What the first phase does\r\n  [Explain in three sentences what a workflow engine is.]: ")
	require.Contains(t, shown, "Model [gpt-5-mini]: ")
	text, err := os.ReadFile(filepath.Join(l.dir, "one", "poem.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"instructions": "Write a poem."`)
	shown = l.onTerminal(80, 24, exitOK, typesLines("\n"), "init", "two", "--name", "two", "--model", "m")
	require.NotContains(t, shown, "Name of")
	require.FileExists(t, filepath.Join(l.dir, "two", "two.json"))
	shown = l.onTerminal(80, 24, exitInterrupted, typesLines("\x04"), "init", "three")
	require.Contains(t, shown, "Error: the questions were not answered, and nothing was written")
	require.NoDirExists(t, filepath.Join(l.dir, "three"))
}
