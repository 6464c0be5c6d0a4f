package graph

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
)

var update = flag.Bool("update", false, "write what is seen into the golden files")

func load(t *testing.T, path string) *cascade.Cascade {
	t.Helper()
	c, _, err := library.Folders{}.Load(t.Context(), path, cascade.Known{Tools: []string{
		"list_files", "read_file", "search_files", "write_file", "set_state", "get_state", "search_context",
		"request_decision", "ask_human", "ask_human_custom", "await_signal", "fire_signal", "memory",
	}})
	require.NoError(t, err)
	return c
}

// Everything that a cascade says of its routes and its context is in its graph.
func TestOf(t *testing.T) {
	t.Parallel()
	g := Of(load(t, "testdata/all.yaml"))
	require.Equal(t, "all", g.Title)
	require.Equal(t, []Node{
		{Name: "measure", Kind: ToolPhase, Start: true, Lines: []string{"tool: count"}},
		{Name: "triage", Kind: ModelPhase, Lines: []string{"tools: read_file, list_files, search_files, set_state and 1 more"}},
		{Name: "triage_on_error", Kind: ModelPhase},
		{Name: "billing", Kind: ModelPhase, Lines: []string{"context: selected (hybrid)"}},
		{Name: "technical", Kind: ModelPhase},
		{Name: "report", Kind: ModelPhase, Lines: []string{"context: all earlier phases except billing"}},
	}, g.Nodes)
	require.Equal(t, []Edge{
		{0, 0, Routing, "again"},
		{0, 5, Routing, "default"},
		{0, 1, Routing, "ok"},
		{0, 5, OnError, "on error"},
		{1, 3, Handoff, "money"},
		{1, 4, Handoff, ""},
		{1, 1, Handoff, "not sure, context: messages"},
		{1, 2, OnError, "on error"},
		{3, 5, Handoff, ""},
		{4, 5, Handoff, ""},
		{0, 3, Context, "anchors"},
		{1, 3, Context, "anchors"},
		{0, 4, Context, "context"},
		{1, 4, Context, "context: output, state"},
		{0, 5, Context, "context"},
		{4, 5, Context, "context"}, // whichever ran before
	}, g.Edges)
}

// A phase that waits for people says so.
func TestOfPeople(t *testing.T) {
	t.Parallel()
	c, _, err := cascade.Parse("p.json", []byte(`{"cascade_id": "p", "tools": [{"tool_id": "deploy", "type": "shell", "command": "true", "approve": true}],
		"phases": [{"name": "a", "instructions": "x", "tackle": ["deploy", "write_file"], "rules": {"approve": ["write_*"]}, "human_input": {"options": ["now", "later"]}},
		{"name": "b", "tool": "deploy"}, {"name": "c", "instructions": "x", "human_input": true},
		{"name": "d", "instructions": "x", "tackle": ["deploy"], "rules": {"approve": ["*"]}}]}`), cascade.Known{Tools: []string{"write_file"}})
	require.NoError(t, err)
	var lines [][]string
	for _, n := range Of(c).Nodes {
		lines = append(lines, n.Lines)
	}
	require.Equal(t, [][]string{
		{"tools: deploy, write_file", "approval: write_*, deploy", "asks a person: choice"},
		{"tool: deploy", "approval: deploy"},
		{"asks a person: text"},
		{"tools: deploy", "approval: *"},
	}, lines)
}

// Without hand-offs the phases follow each other, and previous is the one above.
func TestOfPhasesInOrder(t *testing.T) {
	t.Parallel()
	g := Of(load(t, "testdata/order.yaml"))
	require.Equal(t, []Edge{
		{0, 1, OnError, "on error"}, {0, 2, Next, ""}, {2, 3, Next, ""}, {2, 3, Context, "context"},
	}, g.Edges)
}

// The examples are drawn as they were looked at.
func TestExamples(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../examples/cascades/*.json")
	require.NoError(t, err)
	paths = append(paths, "testdata/all.yaml")
	n := 0
	for _, path := range paths {
		if strings.HasSuffix(path, ".script.json") {
			continue
		}
		n++
		g := Of(load(t, path))
		name := filepath.Join("testdata", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		golden(t, name+".mmd", g.Mermaid())
		golden(t, name+".svg", g.SVG())
		requireWhole(t, g)
	}
	require.Equal(t, 25, n)
}

func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./internal/graph -update writes what is seen")
}

var (
	mermaidNode = regexp.MustCompile(`^    p\d+(\{\{"[^"\[\]{}|<>;#]*(?:(?:#\d+;|<br>)[^"\[\]{}|<>;#]*)*"\}\}|\(\["[^"\[\]{}|<>;#]*(?:(?:#\d+;|<br>)[^"\[\]{}|<>;#]*)*"\]\)|\["[^"\[\]{}|<>;#]*(?:(?:#\d+;|<br>)[^"\[\]{}|<>;#]*)*"\]|\[\["[^"\[\]{}|<>;#]*(?:(?:#\d+;|<br>)[^"\[\]{}|<>;#]*)*"\]\])$`)
	mermaidEdge = regexp.MustCompile(`^    p\d+ (-->|==>|--o|-\.-o|-\.->)(\|"[^"\[\]{}|<>;#]*(?:#\d+;[^"\[\]{}|<>;#]*)*"\|)? p\d+$`)
)

// requireWhole demands that no text of a graph is anything but text in what is drawn of it.
func requireWhole(t *testing.T, g *Graph) {
	t.Helper()
	head, body, _ := strings.Cut(g.Mermaid(), "\n")
	require.Equal(t, "flowchart TB", head)
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	require.Len(t, lines, len(g.Nodes)+len(g.Edges))
	for i, line := range lines {
		pattern := mermaidEdge
		if i < len(g.Nodes) {
			pattern = mermaidNode
		}
		require.Regexp(t, pattern, line)
	}
	allowed := map[string][]string{
		"svg": {"xmlns", "width", "height", "viewBox", "role"}, "title": nil, "style": nil, "defs": nil, "g": nil,
		"marker": {"id", "viewBox", "refX", "refY", "markerWidth", "markerHeight", "markerUnits", "orient"},
		"path":   {"d", "fill", "class", "marker-end"}, "rect": {"width", "height", "fill", "class", "x", "y", "rx"}, "text": {"class", "x", "y"},
	}
	elements := map[string]int{}
	titles := []string{""}
	var in string
	for dec := xml.NewDecoder(strings.NewReader(g.SVG())); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			in = e.Name.Local
			attributes, known := allowed[in]
			require.True(t, known, in)
			for _, a := range e.Attr {
				require.Contains(t, attributes, a.Name.Local)
			}
			elements[in]++
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if in == "title" {
				titles = append(titles, string(e))
			}
		case xml.Comment, xml.ProcInst, xml.Directive:
			require.Fail(t, "a text is markup", "%v", e)
		}
	}
	labels := 0
	for _, e := range g.Edges {
		if cut(e.Label, longestLabel) != "" {
			labels++
		}
	}
	texts := labels
	for _, n := range g.Nodes {
		texts += 1 + len(n.Lines)
	}
	require.Equal(t, texts, elements["text"])
	require.Equal(t, len(g.Nodes)+labels, elements["g"])
	require.Equal(t, len(markers)+len(g.Edges), elements["path"])
	require.NotEmpty(t, titles)
}

// Hostile names stay text, however they get into a graph: the language allows few characters in the
// name of a phase, and any in descriptions, values of results and names of tools.
func FuzzHostileNames(f *testing.F) {
	for _, s := range []string{
		"a", `"] --> x["`, "</text><script>alert(1)</script>", "]]>", "<!--", "&amp;#34;", "#quot;", "%%{init: {}}%%", "\x00\x1b[31m\u202e",
		"\xff\xfe", "`md`", "\n    click p0 \"javascript:alert(1)\"", "|", "end", "日本語日本語日本語日本語日本語日本語日本語日本語", "\u2028", "<br>",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		c := &cascade.Cascade{CascadeID: other, Phases: []cascade.Phase{
			{Name: name, Instructions: "x", Tackle: []string{other, name}, Handoffs: []cascade.Handoff{{Target: "b", Description: other}, {Target: name, Description: name}}},
			{Name: "b", Tool: other, Routing: map[string]string{other: name, name: "b"}, OnError: &cascade.OnError{Phase: name}},
			{
				Name: other, Instructions: "x", Context: &cascade.Context{From: []cascade.Source{{Phase: name, Include: []cascade.Include{cascade.Include(other)}}, {Phase: cascade.FromAll}}, Exclude: []string{other}},
			},
		}}
		requireWhole(t, Of(c))
	})
}

func BenchmarkManyPhases(b *testing.B) {
	c := &cascade.Cascade{CascadeID: "many"}
	for i := range 200 {
		name := func(i int) string { return "p" + strings.Repeat("x", max(i, 0)%200) }
		p := cascade.Phase{Name: name(i), Instructions: "x", Handoffs: []cascade.Handoff{{Target: name(i + 1)}, {Target: name(i / 2)}}, Context: &cascade.Context{}}
		for k := range 5 {
			p.Context.From = append(p.Context.From, cascade.Source{Phase: name(i - 3*k)})
		}
		c.Phases = append(c.Phases, p)
	}
	for b.Loop() {
		Of(c).SVG()
	}
}
