package cascade

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// intraOf reads settings as they stand in a file; empty text is no block.
func intraOf(t *testing.T, text string) *IntraContext {
	t.Helper()
	if text == "" {
		return nil
	}
	var s IntraContext
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	return &s
}

// Each case has the block of a phase, the cascade's block, and what they change of the defaults.
func TestEffectiveIntra(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cascade, phase string
		want           func(*Intra)
	}{
		"no block":              {"", "", func(in *Intra) { in.Enabled = false }},
		"an empty block":        {"{}", "", func(*Intra) {}},
		"an empty phase block":  {"", "{}", func(*Intra) {}},
		"switched off":          {`{"enabled": false, "window": 9}`, "", func(in *Intra) { in.Enabled, in.Window = false, 9 }},
		"switched off in phase": {`{"window": 9}`, `{"enabled": false}`, func(in *Intra) { in.Enabled, in.Window = false, 9 }},
		"on again in phase":     {`{"enabled": false, "window": 9}`, `{}`, func(in *Intra) { in.Window = 9 }},
		"phase over cascade over defaults": {
			`{"window": 9, "mask_observations_after": 8, "advance": "step"}`, `{"window": 0, "step_turns": 2}`,
			func(in *Intra) { in.Window, in.MaskAfter, in.Advance, in.StepTurns = 0, 8, AdvanceStep, 2 },
		},
		"false is a value": {
			`{"preserve_errors": true}`, `{"preserve_errors": false, "compress_loops": false, "preserve_reasoning": false}`,
			func(in *Intra) { in.PreserveErrors, in.CompressLoops, in.PreserveReasoning = false, false, false },
		},
		"a list inherits": {`{"exclude_tools": ["a"]}`, `{"window": 1}`, func(in *Intra) { in.ExcludeTools, in.Window = []string{"a"}, 1 }},
		"a list replaces": {`{"exclude_tools": ["a"]}`, `{"exclude_tools": ["b"]}`, func(in *Intra) { in.ExcludeTools = []string{"b"} }},
		"an empty list":   {`{"exclude_tools": ["a"]}`, `{"exclude_tools": []}`, func(in *Intra) { in.ExcludeTools = []string{} }},

		"truncation by true": {"", `{"truncation": true}`, func(in *Intra) {
			in.Truncation = &IntraTruncation{RecentResults: 5, RecentLimit: 5000, OlderLimit: 1000, InactiveLimit: 300}
		}},
		"truncation, field by field": {
			`{"truncation": {"recent_results": 2, "older_limit": 700}}`, `{"truncation": {"older_limit": 600}}`,
			func(in *Intra) {
				in.Truncation = &IntraTruncation{RecentResults: 2, RecentLimit: 5000, OlderLimit: 600, InactiveLimit: 300}
			},
		},
		"truncation off in phase": {`{"truncation": {"recent_results": 2}}`, `{"truncation": false}`, func(*Intra) {}},
		"truncation on in phase, with the cascade's values": {
			`{"truncation": {"enabled": false, "recent_results": 2}}`, `{"truncation": true}`,
			func(in *Intra) {
				in.Truncation = &IntraTruncation{RecentResults: 2, RecentLimit: 5000, OlderLimit: 1000, InactiveLimit: 300}
			},
		},

		"clearing by an empty block": {`{"clear_tool_uses": {}}`, "", func(in *Intra) {
			in.ClearToolUses = &IntraClear{TriggerTokens: 100_000, Keep: 3, ClearAtLeastTokens: 5000}
		}},
		"clearing, field by field": {
			`{"clear_tool_uses": {"keep": 0, "exclude_tools": ["a"]}}`, `{"clear_tool_uses": {"trigger_tokens": 7, "clear_at_least_tokens": 0, "exclude_tools": []}}`,
			func(in *Intra) { in.ClearToolUses = &IntraClear{TriggerTokens: 7, ExcludeTools: []string{}} },
		},
		"clearing, as a provider writes it": {
			`{"clear_tool_uses": {"trigger": {"type": "input_tokens", "value": 7}, "keep": {"type": "tool_uses", "value": 2}, "clear_at_least": {"type": "input_tokens", "value": 0}}}`,
			`{"clear_tool_uses": {"exclude_tools": ["a"]}}`,
			func(in *Intra) {
				in.ClearToolUses = &IntraClear{TriggerTokens: 7, Keep: 2, ExcludeTools: []string{"a"}}
			},
		},
		"clearing off in phase": {`{"clear_tool_uses": true}`, `{"clear_tool_uses": {"enabled": false, "keep": 1}}`, func(*Intra) {}},

		"guard off":          {`{"guard": false}`, "", func(in *Intra) { in.Guard.Enabled = false }},
		"guard off in phase": {`{"guard": {"warn_percent": 50}}`, `{"guard": false}`, func(in *Intra) { in.Guard.Enabled, in.Guard.WarnPercent = false, 50 }},
		"guard on in phase":  {`{"guard": false}`, `{"guard": {"warn_percent": 50}}`, func(in *Intra) { in.Guard.WarnPercent = 50 }},
		"guard, field by field": {
			`{"guard": {"compact_percent": 88, "summarizer_model": "m", "recount": "probe", "removal_levels": [50]}}`,
			`{"guard": {"target_percent": 60, "compact_at_tokens": 9, "keep_recent_messages": 4, "removal_levels": [10, 100]}}`,
			func(in *Intra) {
				in.Guard = IntraGuard{
					Enabled: true, WarnPercent: 80, CompactPercent: 88, TargetPercent: 60, RemovalLevels: []int{10, 100},
					CompactAtTokens: 9, KeepRecentMessages: 4, SummarizerModel: "m", Recount: RecountProbe,
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := DefaultIntra()
			tc.want(&want)
			c := &Cascade{}
			if tc.cascade != "" {
				c.AutoContext = &AutoContext{IntraPhase: intraOf(t, tc.cascade)}
			}
			got := c.EffectiveIntra(&Phase{IntraContext: intraOf(t, tc.phase)})
			require.Empty(t, cmp.Diff(want, got))
		})
	}
}

// Each field has the value of the highest layer that sets it. The rule is written here once more,
// by reflection over the types of the file.
func TestIntraMergesFieldByField(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		low, high := randomIntra(t, rnd), randomIntra(t, rnd)
		both := overlay(reflect.ValueOf(*low), reflect.ValueOf(*high)).Interface().(IntraContext)
		c := &Cascade{AutoContext: &AutoContext{IntraPhase: low}}
		got := c.EffectiveIntra(&Phase{IntraContext: high})
		want := (&Cascade{}).EffectiveIntra(&Phase{IntraContext: &both})
		require.Empty(t, cmp.Diff(want, got))

		raw, err := json.Marshal(high)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(high, intraOf(t, string(raw))), "what is written is read again")
	}
}

// randomIntra sets a random half of the fields, and "enabled" always, so that its defaults play no
// part.
func randomIntra(t *testing.T, rnd *rand.Rand) *IntraContext {
	t.Helper()
	var s IntraContext
	fillRandom(t, reflect.ValueOf(&s).Elem(), rnd)
	if c := s.ClearToolUses; c != nil {
		c.Trigger, c.ClearAtLeast = nil, nil // other forms of the same sizes
	}
	return &s
}

func fillRandom(t *testing.T, v reflect.Value, rnd *rand.Rand) {
	t.Helper()
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if name != "Enabled" && rnd.IntN(2) == 0 {
			continue
		}
		if f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		switch {
		case f.Kind() == reflect.Struct:
			fillRandom(t, f, rnd)
		case f.Kind() == reflect.Bool:
			f.SetBool(rnd.IntN(2) == 0)
		case f.CanInt():
			f.SetInt(rnd.Int64N(100))
		case f.CanFloat():
			f.SetFloat(float64(rnd.IntN(100)) / 4)
		case f.Kind() == reflect.String:
			f.SetString([]string{"cost", "probe", "step"}[rnd.IntN(3)])
		case f.Type() == reflect.TypeFor[[]string]():
			f.Set(reflect.ValueOf([][]string{{}, {"a"}, {"b", "c"}}[rnd.IntN(3)]))
		case f.Type() == reflect.TypeFor[[]AnchorInclude]():
			f.Set(reflect.ValueOf([][]AnchorInclude{{}, {AnchorInput}, {AnchorOutput, AnchorErrors}}[rnd.IntN(3)]))
		case f.Type() == reflect.TypeFor[[]int]():
			f.Set(reflect.ValueOf([][]int{{}, {1}, {2, 3}}[rnd.IntN(3)]))
		default:
			t.Fatalf("the test does not know how to fill %s, a %s", name, f.Type())
		}
	}
}

// overlay returns low with what high has set.
func overlay(low, high reflect.Value) reflect.Value {
	out := reflect.New(low.Type()).Elem()
	for i := range low.NumField() {
		l, h := low.Field(i), high.Field(i)
		switch {
		case h.IsZero():
			out.Field(i).Set(l)
		case l.IsZero() || h.Kind() != reflect.Pointer || h.Elem().Kind() != reflect.Struct:
			out.Field(i).Set(h)
		default:
			merged := reflect.New(h.Type().Elem())
			merged.Elem().Set(overlay(l.Elem(), h.Elem()))
			out.Field(i).Set(merged)
		}
	}
	return out
}

// A change of resolved settings changes neither the cascade nor the next phase.
func TestSettingsShareNothing(t *testing.T) {
	t.Parallel()
	block := intraOf(t, `{"exclude_tools": ["a"], "guard": {"removal_levels": [10]}, "clear_tool_uses": {"exclude_tools": ["b"]}}`)
	c := &Cascade{AutoContext: &AutoContext{IntraPhase: block}}
	one := c.EffectiveIntra(&Phase{})
	one.ExcludeTools[0], one.Guard.RemovalLevels[0], one.ClearToolUses.ExcludeTools[0] = "x", 99, "x"
	two := c.EffectiveIntra(&Phase{})
	require.Equal(t, []string{"a"}, two.ExcludeTools)
	require.Equal(t, []int{10}, two.Guard.RemovalLevels)
	require.Equal(t, []string{"b"}, two.ClearToolUses.ExcludeTools)
}

func TestEffectiveTokenBudget(t *testing.T) {
	t.Parallel()
	c := &Cascade{}
	require.Nil(t, c.EffectiveTokenBudget(&Phase{Name: "a"}))
	c.TokenBudget = &TokenBudget{
		MaxTotal: 1000, ReserveForOutput: 100, WarningThreshold: 0.5,
		PhaseOverrides: map[string]TokenBudgetOverride{
			"a": {MaxTotal: 500, Strategy: BudgetFail}, "b": {ReserveForOutput: 200, WarningThreshold: 0.9}, "c": {},
		},
	}
	for name, want := range map[string]TokenBudget{
		"a":     {MaxTotal: 500, ReserveForOutput: 100, Strategy: BudgetFail, WarningThreshold: 0.5},
		"b":     {MaxTotal: 1000, ReserveForOutput: 200, Strategy: BudgetSummarize, WarningThreshold: 0.9},
		"c":     {MaxTotal: 1000, ReserveForOutput: 100, Strategy: BudgetSummarize, WarningThreshold: 0.5},
		"other": {MaxTotal: 1000, ReserveForOutput: 100, Strategy: BudgetSummarize, WarningThreshold: 0.5},
	} {
		require.Equal(t, want, *c.EffectiveTokenBudget(&Phase{Name: name}), name)
	}
	require.Empty(t, c.TokenBudget.Strategy, "the cascade stays as it is written")
	require.Len(t, c.TokenBudget.PhaseOverrides, 3)
}

// TestContextTwins loads the same settings from JSON and YAML.
func TestContextTwins(t *testing.T) {
	t.Parallel()
	const (
		asJSON = `{"cascade_id": "x", "auto_context": {"intra_phase": {"window": 4.0, "guard": false, "truncation": true, "exclude_tools": []}},
 "token_budget": {"max_total": 1e4, "warning_threshold": 1, "phase_overrides": {"a": {"max_total": 5000}}},
 "phases": [{"name": "a", "instructions": "x", "tackle": ["recall"], "intra_context": {"guard": {"warn_percent": 60}}}]}`
		asYAML = `
cascade_id: x
auto_context: {intra_phase: {window: 4, guard: false, truncation: true, exclude_tools: []}}
token_budget:
  max_total: 10000
  warning_threshold: 1.0
  phase_overrides: {a: {max_total: 5000}}
phases:
  - name: a
    instructions: x
    tackle: [recall]
    intra_context: {guard: {warn_percent: 60}}
`
	)
	c, found, err := Parse("x.json", []byte(asJSON), testKnown())
	require.NoError(t, err, show(found))
	twin, twinFound, err := Parse("x.yaml", []byte(asYAML), testKnown())
	require.NoError(t, err, show(twinFound))
	require.Empty(t, diff(c, twin))
	codes := func(ds Diagnostics) (out []string) {
		for _, d := range ds {
			out = append(out, string(d.Code)+" "+d.Message)
		}
		slices.Sort(out)
		return out
	}
	require.Equal(t, codes(found), codes(twinFound))
	in := c.EffectiveIntra(&c.Phases[0])
	require.True(t, in.Enabled)
	require.Equal(t, 4, in.Window)
	require.Equal(t, IntraGuard{
		Enabled: true, WarnPercent: 60, CompactPercent: 90, TargetPercent: 72, RemovalLevels: []int{10, 20, 50, 100},
		KeepRecentMessages: 10, Recount: RecountTokenizer,
	}, in.Guard)
	require.Equal(t, &IntraTruncation{RecentResults: 5, RecentLimit: 5000, OlderLimit: 1000, InactiveLimit: 300}, in.Truncation)
	require.Equal(t, int64(5000), c.EffectiveTokenBudget(&c.Phases[0]).MaxTotal)
}

// Settings that stand by themselves are read and refused like those in a cascade.
func TestParseIntra(t *testing.T) {
	t.Parallel()
	want := DefaultIntra()
	for _, text := range []string{"{}", `{"enabled": true}`} {
		in, found, err := ParseIntra("policy", []byte(text))
		require.NoError(t, err)
		require.Empty(t, found)
		require.Empty(t, cmp.Diff(want, in))
	}
	want.Window, want.Advance, want.ExcludeTools, want.Guard.Enabled = 3, AdvanceStep, []string{"any_tool"}, false
	for name, text := range map[string]string{
		"policy":      `{"window": 3, "advance": "step", "exclude_tools": ["any_tool"], "guard": false}`,
		"policy.yaml": "window: 3\nadvance: step\nexclude_tools: [any_tool]\nguard: false\n",
	} {
		in, _, err := ParseIntra(name, []byte(text))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, in), name)
	}
	for text, message := range map[string]string{
		`{"windw": 3}`:                    `policy:1:2: error: unknown key "windw" in the settings [unknown_key]`,
		`{"window": -1}`:                  `policy:1:12: error: "window" must be at least 0, got -1 [out_of_range]`,
		`{"advance": "cots"}`:             `policy:1:13: error: "advance": expected one of "cost", "every_turn", "step", got "cots" [invalid_value]`,
		`{"guard": {"warn_percent": 95}}`: `policy:1:28: error: "guard": "warn_percent" is 95 and "compact_percent" is 90 by default: the warning has to come before the guard acts [conflicting_settings]`,
		`{"guard": {"removal_levels": [20, 10], "summarizer_model": ""}}`: `policy:1:35: error: the levels of "guard.removal_levels" do not rise: 10 comes after 20 [invalid_value] (and 1 more error)`,
		`[1]`: `policy:1:1: error: the settings: expected object, got array [wrong_type]`,
		`{"timeout": "soon", "phases": [{"timeout": "soon"}]}`: `policy:1:2: error: unknown key "timeout" in the settings [unknown_key] (and 1 more error)`,
	} {
		in, _, err := ParseIntra("policy", []byte(text))
		require.EqualError(t, err, message)
		require.Zero(t, in)
	}
	for _, text := range []string{"", "{", "null", "nope"} {
		_, found, err := ParseIntra("policy", []byte(text))
		require.Error(t, err, text)
		require.NotEmpty(t, found, text)
	}
}
