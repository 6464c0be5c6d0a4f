package cascade

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// interOf reads the cascade's block as it stands in a file; empty text is no block.
func interOf(t *testing.T, text string) *AutoContext {
	t.Helper()
	if text == "" {
		return nil
	}
	var s InterContext
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	return &AutoContext{InterPhase: &s}
}

// contextOf reads a phase's context as it stands in a file; empty text is none.
func contextOf(t *testing.T, text string) *Context {
	t.Helper()
	if text == "" {
		return nil
	}
	var c Context
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	return &c
}

// Each case has the context of a phase, the cascade's block, and what they change of the defaults.
func TestEffectiveInter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cascade, context string
		want             func(*Inter)
	}{
		"no context":           {"", "", func(in *Inter) { in.Enabled = false }},
		"mode explicit":        {`{"enabled": true}`, `{"from": "all"}`, func(in *Inter) { in.Enabled = false }},
		"mode auto":            {"", `{"mode": "auto"}`, func(*Inter) {}},
		"an empty block":       {"{}", `{"mode": "auto"}`, func(*Inter) {}},
		"a block without mode": {`{"strategy": "llm"}`, "", func(in *Inter) { in.Enabled, in.Selection.Strategy = false, StrategyLLM }},
		"switched off":         {`{"enabled": false}`, `{"mode": "auto", "anchors": {"window": 9}}`, func(in *Inter) { in.Enabled, in.Anchors.Window = false, 9 }},
		"the short way": {
			`{"strategy": "hybrid", "selector_model": "m"}`, `{"mode": "auto"}`,
			func(in *Inter) { in.Selection.Strategy, in.Selection.SelectorModel = StrategyHybrid, "m" },
		},
		"phase over the short way": {
			`{"strategy": "hybrid", "selector_model": "m"}`, `{"mode": "auto", "selection": {"strategy": "llm", "selector_model": "n"}}`,
			func(in *Inter) { in.Selection.Strategy, in.Selection.SelectorModel = StrategyLLM, "n" },
		},
		"selection, field by field": {
			`{"selection": {"strategy": "semantic", "max_tokens": 9, "recency_weight": 1, "similarity_threshold": 0.7}}`,
			`{"mode": "auto", "selection": {"max_tokens": 7, "max_messages": 5, "keyword_weight": 0, "callout_weight": 0.5, "similarity_threshold": 0}}`,
			func(in *Inter) {
				in.Selection = InterSelection{Strategy: StrategySemantic, MaxTokens: 7, MaxMessages: 5, RecencyWeight: 1, CalloutWeight: 0.5}
			},
		},
		"anchors, field by field": {
			`{"anchors": {"window": 1, "from_phases": ["a"]}}`, `{"mode": "auto", "anchors": {"window": 0, "include": ["output"]}}`,
			func(in *Inter) {
				in.Anchors = InterAnchors{FromPhases: []string{"a"}, Include: []AnchorInclude{AnchorOutput}}
			},
		},
		"a list replaces": {
			`{"anchors": {"from_phases": ["a", "b"]}}`, `{"mode": "auto", "anchors": {"from_phases": ["prev", "c"]}}`,
			func(in *Inter) { in.Anchors.FromPhases = []string{FromPrevious, "c"} },
		},
		"empty lists": {
			`{"anchors": {"from_phases": ["a"]}}`, `{"mode": "auto", "anchors": {"from_phases": [], "include": []}}`,
			func(in *Inter) { in.Anchors.FromPhases, in.Anchors.Include = []string{}, []AnchorInclude{} },
		},
		"cards": {
			`{"card_model": "m", "cards": {"wait_seconds": 0.25}}`, `{"mode": "auto"}`,
			func(in *Inter) { in.Cards = InterCards{Enabled: true, Model: "m", Wait: 250 * time.Millisecond} },
		},
		"cards off": {`{"cards": {"enabled": false}}`, `{"mode": "auto"}`, func(in *Inter) { in.Cards.Enabled = false }},
		"no wait":   {`{"cards": {"wait_seconds": 0}}`, `{"mode": "auto"}`, func(in *Inter) { in.Cards.Wait = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := DefaultInter()
			tc.want(&want)
			c := &Cascade{AutoContext: interOf(t, tc.cascade)}
			got := c.EffectiveInter(&Phase{Context: contextOf(t, tc.context)})
			require.Empty(t, cmp.Diff(want, got))
			require.Equal(t, got.Cards, c.EffectiveCards())
		})
	}
}

// Random fields of a phase have the same effect as if they stood in the cascade's block.
func TestInterMergesFieldByField(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var low, high InterContext
		fillRandom(t, reflect.ValueOf(&low).Elem(), rnd)
		fillRandom(t, reflect.ValueOf(&high).Elem(), rnd)
		own := InterContext{Anchors: high.Anchors, Selection: high.Selection}
		both := overlay(reflect.ValueOf(low), reflect.ValueOf(own)).Interface().(InterContext)

		context := &Context{Mode: ContextAuto, Anchors: high.Anchors, Selection: high.Selection}
		got := (&Cascade{AutoContext: &AutoContext{InterPhase: &low}}).EffectiveInter(&Phase{Context: context})
		want := (&Cascade{AutoContext: &AutoContext{InterPhase: &both}}).EffectiveInter(&Phase{Context: &Context{Mode: ContextAuto}})
		require.Empty(t, cmp.Diff(want, got))
		require.Equal(t, *low.Enabled, got.Enabled)

		raw, err := json.Marshal(context)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(context, contextOf(t, string(raw))), "what is written is read again")
		raw, err = json.Marshal(low)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(&low, interOf(t, string(raw)).InterPhase), "what is written is read again")
	}
}

// A change of resolved settings changes neither the cascade, nor the defaults, nor the next phase.
func TestInterSharesNothing(t *testing.T) {
	t.Parallel()
	c := &Cascade{AutoContext: interOf(t, `{"anchors": {"from_phases": ["a"], "include": ["output"]}}`)}
	for _, owner := range []*Cascade{c, {}} {
		p := &Phase{Context: &Context{Mode: ContextAuto}}
		one, want := owner.EffectiveInter(p), owner.EffectiveInter(p)
		one.Anchors.FromPhases[0], one.Anchors.Include[0] = "x", "x"
		require.Equal(t, want, owner.EffectiveInter(p))
	}
	require.Equal(t, []string{"a"}, c.AutoContext.InterPhase.Anchors.FromPhases)
}

// TestUsesCards says for which cascades cards have to be made.
func TestUsesCards(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"phases": [{"name": "a", "instructions": "x"}, {"name": "b", "instructions": "x", "context": {"from": "a"}}]}`:                                                        false,
		`{"auto_context": {"inter_phase": {"card_model": "m"}}, "phases": [{"name": "a", "instructions": "x"}]}`:                                                                false,
		`{"phases": [{"name": "a", "instructions": "x"}, {"name": "b", "instructions": "x", "context": {"mode": "auto"}}]}`:                                                     true,
		`{"auto_context": {"inter_phase": {"enabled": false}}, "phases": [{"name": "a", "instructions": "x", "context": {"mode": "auto"}}]}`:                                    false,
		`{"phases": [{"name": "a", "instructions": "x", "tackle": ["search_context"]}]}`:                                                                                        true,
		`{"phases": [{"name": "a", "instructions": "x", "on_error": {"instructions": "y", "on_error": {"instructions": "z", "context": {"mode": "auto"}}}}]}`:                   true,
		`{"auto_context": {"inter_phase": {"enabled": false}}, "phases": [{"name": "a", "instructions": "x", "on_error": {"instructions": "y", "tools": ["search_context"]}}]}`: true,
	} {
		var c Cascade
		require.NoError(t, json.Unmarshal([]byte(text), &c))
		require.Equal(t, want, c.UsesCards(), text)
	}
}

// TestSourceTakesOver says which sources stand alone for what their phases said.
func TestSourceTakesOver(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"a"`:              true,
		`{"phase": "all"}`: true,
		`{"phase": "a", "include": ["state", "messages"]}`: true,
		`{"phase": "a", "include": ["output"]}`:            true,
		`{"phase": "a", "include": ["state", "images"]}`:   false,
	} {
		var s Source
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		require.Equal(t, want, s.TakesOver(), text)
	}
}

// TestInterTwins loads the same settings from JSON and YAML.
func TestInterTwins(t *testing.T) {
	t.Parallel()
	const (
		asJSON = `{"cascade_id": "x", "auto_context": {"inter_phase": {"strategy": "hybrid", "cards": {"wait_seconds": 1.5}, "anchors": {"from_phases": ["first"]}}},
 "phases": [{"name": "a", "instructions": "x"}, {"name": "b", "instructions": "x", "context": {"mode": "auto", "from": {"phase": "a", "include": ["state"]},
  "anchors": {"window": 2.0, "from_phases": ["prev"]}, "selection": {"max_tokens": 2e4}}}]}`
		asYAML = `
cascade_id: x
auto_context:
  inter_phase: {strategy: hybrid, cards: {wait_seconds: 1.5}, anchors: {from_phases: [first]}}
phases:
  - {name: a, instructions: x}
  - name: b
    instructions: x
    context:
      mode: auto
      from: {phase: a, include: [state]}
      anchors: {window: 2, from_phases: [previous]}
      selection: {max_tokens: 20000}
`
	)
	c, found, err := Parse("x.json", []byte(asJSON), testKnown())
	require.NoError(t, err, show(found))
	require.Empty(t, found)
	twin, found, err := Parse("x.yaml", []byte(asYAML), testKnown())
	require.NoError(t, err, show(found))
	require.Empty(t, found)
	require.Empty(t, diff(c, twin))
	in := c.EffectiveInter(&c.Phases[1])
	require.True(t, in.Enabled)
	require.Equal(t, []string{FromPrevious}, in.Anchors.FromPhases)
	require.Equal(t, StrategyHybrid, in.Selection.Strategy)
	require.Equal(t, int64(20_000), in.Selection.MaxTokens)
	require.Equal(t, 1500*time.Millisecond, in.Cards.Wait)
}
