package memory

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden file")

const (
	golden = "testdata/commands.golden"
	head   = `# The words of the memory tool: what each command answers.
#
# The answers and errors are those of the provider's tool memory_20250818, as of 2026-11-28:
#   page: https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool
#   reference implementation: the local file system memory tool of its Python SDK,
#   github.com/anthropics/anthropic-sdk-python, src/anthropic/lib/tools/_beta_builtin_memory_tool.py
# Where both have a text, it is that of the page. What neither has is our own: the cases below "Our own".
`
)

// call is one case of the golden file.
type call struct {
	title string // begins a part of the file
	name  string
	files Files
	args  string
}

func of(args ...any) string {
	object := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		object[args[i].(string)] = args[i+1]
	}
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// answer returns the result of a call, and what Read says of it.
func answer(files Files, args string) Result {
	c, err := Read(json.RawMessage(args))
	if err != nil {
		return failed(err.Error())
	}
	return c.Run(files)
}

// Each command answers in the words of the golden file, and changes what that says.
func TestCommands(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	out.WriteString(head)
	names := map[string]bool{}
	for _, c := range calls() {
		require.False(t, names[c.name], "two cases %s", c.name)
		names[c.name] = true
		before := maps.Clone(c.files)
		r := answer(c.files, c.args)
		require.Equal(t, before, c.files, "%s changes the files given", c.name)
		if r.Failed {
			require.Equal(t, Result{Text: r.Text, Failed: true}, r, c.name)
		}
		if c.title != "" {
			fmt.Fprintf(&out, "\n## %s\n", c.title)
		}
		fmt.Fprintf(&out, "\n### %s\n", c.name)
		write(&out, c, r)
	}
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

func write(out *strings.Builder, c call, r Result) {
	if len(c.files) > 10 {
		fmt.Fprintf(out, "files: %d\n", len(c.files))
	} else {
		for _, path := range slices.Sorted(maps.Keys(c.files)) {
			fmt.Fprintf(out, "file: %s %s\n", path, short(c.files[path]))
		}
	}
	fmt.Fprintf(out, "call: %s\n", short(c.args)[1:len(short(c.args))-1])
	status := "answer"
	if r.Failed {
		status = "error"
	}
	fmt.Fprintf(out, "%s:\n", status)
	for line := range strings.SplitSeq(r.Text, "\n") {
		if len(line) > 500 {
			line = fmt.Sprintf("%s (%d bytes) %s", line[:100], len(line), line[len(line)-100:])
		}
		fmt.Fprintf(out, "| %s\n", seen(line))
	}
	for _, ch := range r.Changes {
		switch {
		case ch.Gone:
			fmt.Fprintf(out, "gone: %s\n", ch.Path)
		case ch.From != "":
			fmt.Fprintf(out, "renamed: %s %s from %s\n", ch.Path, short(ch.Text), ch.From)
		default:
			fmt.Fprintf(out, "written: %s %s\n", ch.Path, short(ch.Text))
		}
	}
	if len(r.Read) > 0 {
		fmt.Fprintf(out, "read: %s\n", strings.Join(r.Read, " "))
	}
	if len(r.Paths) > 0 {
		fmt.Fprintf(out, "paths: %s\n", strings.Join(r.Paths, " "))
	}
}

// short writes a text on one line, in backticks; only the size of a long one.
func short(text string) string {
	if len(text) > 300 {
		return fmt.Sprintf("`(%d bytes)`", len(text))
	}
	return "`" + seen(strings.ReplaceAll(text, "\n", `\n`)) + "`"
}

// seen writes hidden characters but tabs, and combining ones, as escapes.
func seen(line string) string {
	var out strings.Builder
	for _, r := range line {
		if r != '\t' && isHidden(r) || unicode.Is(unicode.M, r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
