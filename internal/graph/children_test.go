package graph

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
)

// tree returns a cascade of a graph, with a list, wards and cascades in all the ways to begin one.
func tree() *cascade.Cascade {
	summary := &cascade.Reached{File: "/w/children/summary.json", Cascade: &cascade.Cascade{
		CascadeID: "summary", Phases: make([]cascade.Phase, 2), Reaches: map[string]*cascade.Reached{"judge": {}},
	}}
	fair := &cascade.Reached{File: "/w/cascades/fair.yaml", Cascade: &cascade.Cascade{CascadeID: "fair", Phases: make([]cascade.Phase, 1)}}
	return &cascade.Cascade{
		CascadeID: "research",
		Reaches:   map[string]*cascade.Reached{"children/summary.json": summary, "summary": summary, "fair": fair},
		Phases: []cascade.Phase{
			{
				Name: "plan", Instructions: "x", Rules: cascade.Rules{LoopUntil: "fair"},
				SubCascades: []cascade.SubCascade{{Ref: "children/summary.json", Name: "background"}},
				Wards: &cascade.Wards{
					Pre:  []cascade.Ward{{Validator: "fair"}},
					Turn: []cascade.Ward{{Validator: "non_empty", Mode: cascade.WardAdvisory}, {Validator: "min_words:3", Mode: cascade.WardRetry}},
					Post: []cascade.Ward{{Validator: "json", Mode: cascade.WardRetry}, {Validator: "fair", Mode: cascade.WardBlocking}},
				},
			},
			{
				Name: "read", Instructions: "x", Tackle: []string{"summary", "read_file"}, After: []string{"plan"},
				ForEach: &cascade.ForEach{Items: json.RawMessage(`"outputs.plan.files"`), MaxParallel: 8, OnError: cascade.ItemSkip},
				OnError: &cascade.OnError{Inline: &cascade.Phase{Name: "read_on_error", Instructions: "x"}},
			},
			{
				Name: "check", Tool: "count", After: []string{"plan"}, ForEach: &cascade.ForEach{Items: json.RawMessage(`[1, 2, 3]`), OnError: cascade.ItemCollect},
				AsyncCascades: []cascade.AsyncCascade{{Ref: "audit.json"}, {Ref: "audit.json", Name: "late", Trigger: cascade.TriggerOnEnd, Detach: true}},
			},
			{Name: "news", Tool: "summary"},
			{
				Name: "report", Instructions: "x", After: []string{"read", "check", "news"},
				Context: &cascade.Context{From: []cascade.Source{{Phase: cascade.FromPrevious}}},
			},
		},
	}
}

// What runs in parallel, for each element, around a phase and as a session of its own is in the graph.
func TestOfTree(t *testing.T) {
	t.Parallel()
	g := Of(tree())
	require.Equal(t, []Node{
		{
			Name: "plan", Kind: ModelPhase, Start: true,
			Lines: []string{"wards pre: fair (blocking)", "wards turn: non_empty (advisory), min_words:3 (retry)", "wards post: json (retry), fair (blocking)"},
			Wards: []Ward{{"pre", "blocking"}, {"turn", "advisory"}, {"turn", "retry"}, {"post", "retry"}, {"post", "blocking"}},
		},
		{Name: "read", Kind: ModelPhase, List: true, Lines: []string{"× outputs.plan.files, 8 at a time, failed ones left out", "tools: summary, read_file"}},
		{Name: "read_on_error", Kind: ModelPhase},
		{Name: "check", Kind: ToolPhase, List: true, Lines: []string{"× 3 elements, errors collected", "tool: count"}},
		{Name: "news", Kind: ToolPhase, Start: true, Lines: []string{"tool: summary"}},
		{Name: "report", Kind: ModelPhase},
		{Name: "summary", Kind: Cascade, Lines: []string{"summary.json", "2 phases, 1 more cascade"}},
		{Name: "fair", Kind: Cascade, Lines: []string{"fair.yaml", "1 phase"}},
		{Name: "audit.json", Kind: Cascade},
	}, g.Nodes)
	require.Equal(t, []Edge{
		{0, 1, After, ""},
		{1, 2, OnError, "on error"},
		{0, 3, After, ""},
		{1, 5, After, ""},
		{3, 5, After, ""},
		{4, 5, After, ""},
		{1, 5, Context, "context"},
		{3, 5, Context, "context"},
		{4, 5, Context, "context"},
		{0, 6, Child, "sub background"},
		{0, 7, Child, "validator, ward pre, ward post"},
		{1, 6, Child, "tool"},
		{3, 8, Async, "async, async late, at the end, detached"},
		{4, 6, Child, "tool"},
	}, g.Edges)
	golden(t, "testdata/tree.mmd", g.Mermaid())
	golden(t, "testdata/tree.svg", g.SVG())
	golden(t, "testdata/tree.txt", g.Text())
	requireWhole(t, g)
}

// A list that is no list, and a name that nobody has looked for, are drawn as well.
func TestOfHalfOfATree(t *testing.T) {
	t.Parallel()
	g := Of(&cascade.Cascade{CascadeID: "c", Phases: []cascade.Phase{{
		Name: "a", Instructions: "x", After: []string{"nobody"}, ForEach: &cascade.ForEach{Items: json.RawMessage(`{`)},
		SubCascades: []cascade.SubCascade{{Ref: "none.json"}},
	}}})
	require.Equal(t, []Node{{Name: "a", Kind: ModelPhase, Start: true, List: true, Lines: []string{"× list"}}, {Name: "none.json", Kind: Cascade}}, g.Nodes)
	require.Equal(t, []Edge{{0, 1, Child, "sub"}}, g.Edges)
}
