//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGraphCommand(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	const two = `{"cascade_id": "two", "phases": [{"name": "a", "instructions": "x"}, {"name": "b", "instructions": "y"}]}`
	l.file("two.json", two)
	l.file("bad.json", `{"cascade_id": "bad", "phases": [{"name": "a", "instructions": "x", "handoffs": ["c"]}]}`)
	const mermaid = "flowchart TB\n    p0[\"a\"]\n    p1[\"b\"]\n    p0 --> p1\n"
	require.Equal(t, mermaid, l.run(exitOK, "graph", "two.json").out.String())

	svg := l.run(exitOK, "graph", "two.json", "--format", "svg").out.String()
	require.True(t, strings.HasPrefix(svg, "<svg ") && strings.HasSuffix(svg, "</svg>\n"), svg)
	p := l.run(exitOK, "graph", "two.json", "--format", "svg", "-o", "two.svg")
	require.Empty(t, p.out.String()+p.err.String())
	written, err := os.ReadFile(filepath.Join(l.dir, "two.svg"))
	require.NoError(t, err)
	require.Equal(t, svg, string(written))

	require.Equal(t, "cascade two\na\n  -> b\nb\n", l.run(exitOK, "graph", "two.json", "--format", "text").out.String())

	piped := &process{Cmd: exec.Command("windlass", "graph", "-"), t: t}
	piped.Stdin = strings.NewReader(two)
	l.begin(piped)
	require.Equal(t, exitOK, piped.wait())
	require.Equal(t, mermaid, piped.out.String())

	require.Equal(t, "Error: --format \"png\" is not known\nTry: --format mermaid, svg or text\n",
		l.run(exitUsage, "graph", "two.json", "--format", "png").err.String())
	bad := l.run(exitInvalid, "graph", "bad.json").err.String()
	require.Contains(t, bad, "Error: bad.json is not a valid cascade: 1 error\n")
	require.Contains(t, l.run(exitUsage, "graph", "none.json").err.String(), "Error: there is no file none.json\n")
	require.Contains(t, l.run(exitFailed, "graph", "two.json", "-o", "none/two.svg").err.String(), "Error: write the graph: ")
}

// TestOutputsKeepOtherFiles: what is written to a file that somebody names by mistake does not replace it.
func TestOutputsKeepOtherFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	text := `{"cascade_id": "c", "phases": [{"name": "one", "instructions": "x"}]}`
	l.file("c.json", text)
	require.NoError(t, os.Symlink("c.json", filepath.Join(l.dir, "link.json")))
	for _, output := range []string{"c.json", "./link.json"} {
		p := l.run(exitUsage, "graph", "c.json", "--output", output)
		require.Equal(t, "Error: --output: "+output+" has other content and is not overwritten\nTry: name another file\n", p.err.String())
	}
	p := l.run(exitUsage, "schema", "--output", "c.json")
	require.Equal(t, "Error: --output: c.json has other content and is not overwritten\nTry: name another file\n", p.err.String())
	l.file("talk.jsonl", `[{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}]`)
	for _, flag := range []string{"--svg", "--calls", "--dump"} {
		p = l.run(exitUsage, "simulate", "talk.jsonl", "--policy", "every_turn", flag, "c.json")
		require.Contains(t, p.err.String(), "Error: "+flag+": c.json has other content and is not overwritten\nTry: ")
	}
	kept, err := os.ReadFile(filepath.Join(l.dir, "c.json"))
	require.NoError(t, err)
	require.Equal(t, text, string(kept))
}
