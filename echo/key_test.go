package echo

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysPrintAndParse(t *testing.T) {
	t.Parallel()
	turn := PhaseKey("draft", 2).Attempt(1).Turn(3)
	for _, tc := range []struct {
		key  Key
		want string
		path Path
	}{
		{RunKey().Step(StepStart), "run/start", Path{Scope: ScopeRun, Effect: []Step{{Kind: StepStart}}}},
		{RunKey().Named(StepFacts, "openai/gpt-5"), "run/facts/openai%2Fgpt-5", Path{Scope: ScopeRun, Effect: []Step{{Kind: StepFacts, Name: "openai/gpt-5"}}}},
		{CardsKey().Numbered(StepCall, 7), "cards/call7", Path{Scope: ScopeCards, Effect: []Step{{Kind: StepCall, Number: 7}}}},
		{PhaseKey("run", 1).Step(StepStart), "run~1/start", Path{Phase: "run", Visit: 1, Effect: []Step{{Kind: StepStart}}}},
		{PhaseKey("a~b/c", 1), "a%7Eb%2Fc", Path{Phase: "a~b/c", Visit: 1}},
		{turn.Try(StepModel, 1), "draft~2/attempt1/turn3/model", Path{Phase: "draft", Visit: 2, Attempt: 1, Turn: 3, Effect: []Step{{Kind: StepModel}}}},
		{turn.Try(StepModel, 2), "draft~2/attempt1/turn3/model2", Path{Phase: "draft", Visit: 2, Attempt: 1, Turn: 3, Effect: []Step{{Kind: StepModel, Number: 2}}}},
		{
			turn.Named(StepValidate, "fair").Step(StepModel).Step(StepClock), "draft~2/attempt1/turn3/validate/fair/model/clock",
			Path{Phase: "draft", Visit: 2, Attempt: 1, Turn: 3, Effect: []Step{{Kind: StepValidate, Name: "fair"}, {Kind: StepModel}, {Kind: StepClock}}},
		},
		{turn.Named(StepState, ""), "draft~2/attempt1/turn3/state/%", Path{Phase: "draft", Visit: 2, Attempt: 1, Turn: 3, Effect: []Step{{Kind: StepState}}}},
		{
			RunKey().Numbered(StepReforge, 1).Numbered(StepSounding, 2).Step(StepCandidate), "run/reforge1/sounding2/candidate",
			Path{Scope: ScopeRun, Branches: []Step{{Kind: StepReforge, Number: 1}, {Kind: StepSounding, Number: 2}}, Effect: []Step{{Kind: StepCandidate}}},
		},
		{
			PhaseKey("draft", 1).Numbered(StepItem, 17).Numbered(StepSounding, 2).Numbered(StepNode, 3).Attempt(4), "draft/item17/sounding2/node3/attempt4",
			Path{Phase: "draft", Visit: 1, Branches: []Step{{Kind: StepItem, Number: 17}, {Kind: StepSounding, Number: 2}, {Kind: StepNode, Number: 3}}, Attempt: 4},
		},
	} {
		require.Equal(t, tc.want, tc.key.String())
		require.Equal(t, tc.path, tc.key.Path(), tc.want)
		back, err := ParseKey(tc.want)
		require.NoError(t, err)
		require.Equal(t, tc.key, back)
	}
}

func TestWhatIsNoKey(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"":                      `"" is no key: a part is empty`,
		"draft//model":          `"draft//model" is no key: "" is no step`,
		"draft~1":               `"draft~1" is no key: it is written "draft"`,
		"draft~0":               `"draft~0" is no key: visit: "0" is no number from 1`,
		"draft~02":              `"draft~02" is no key: it is written "draft~2"`,
		"draft/turn1":           `"draft/turn1" is no key: turn stands where it cannot`,
		"draft/model/item2":     `"draft/model/item2" is no key: item stands where it cannot`,
		"run/attempt1":          `"run/attempt1" is no key: attempt stands where it cannot`,
		"draft/attempt0":        `"draft/attempt0" is no key: "0" is no number from 1`,
		"draft/sounding":        `"draft/sounding" is no key: sounding has no number`,
		"draft/state":           `"draft/state" is no key: "state" has no name after it`,
		"draft/Model":           `"draft/Model" is no key: "Model" is no step`,
		"draft/state/%2f":       `"draft/state/%2f" is no key: it is written "draft/state/%2F"`,
		"draft/state/a%2":       `"draft/state/a%2" is no key: "a%2" ends within an escape`,
		"draft/state/a%zz":      `"draft/state/a%zz" is no key: "a%zz" has an escape without two hexadecimal digits`,
		"draft/tool99999999999": `"draft/tool99999999999" is no key: "99999999999" is no number from 1`,
	} {
		_, err := ParseKey(text)
		require.EqualError(t, err, why)
	}
}

func TestKeysInJSON(t *testing.T) {
	t.Parallel()
	type holder struct {
		Key Key `json:"key"`
	}
	text, err := json.Marshal(holder{PhaseKey("a", 1).Step(StepEnd)})
	require.NoError(t, err)
	require.JSONEq(t, `{"key":"a/end"}`, string(text))
	var back holder
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, PhaseKey("a", 1).Step(StepEnd), back.Key)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"key":"a/%"}`), &back), `"a/%" is no key`)
	require.NoError(t, json.Unmarshal([]byte(`{"key":""}`), &back))
	require.True(t, back.Key.IsZero())
}

func TestPurposeOfKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]Purpose{
		"read/attempt1/turn7/model":               "",
		"read/attempt1/turn7/model2":              "",
		"read/attempt1/turn7/compact1/model":      PurposeSummary,
		"read~2/attempt2/turn17/recount12/model":  PurposeRecount,
		"read/select/model":                       PurposeSelect,
		"compact1/attempt1/turn1/model":           "",
		"p/attempt1/turn1/validate/x/model":       PurposeValidator,
		"p/attempt1/turn1/ward2/validate/x/model": PurposeValidator,
		"p/ward1/clock":                           "",
		"cards/call12":                            PurposeCards,
		"cards/embed1":                            PurposeEmbed,
		"p/ballot3/model":                         PurposeJudge,
		"p/item2/reforge1/ballot12/model":         PurposeJudge,
		"run/score4/model":                        PurposeJudge,
		"p~2/aggregate/model2":                    PurposeAggregate,
		"p/sounding2/rewrite/model":               PurposeRewrite,
		"p/sounding2/attempt1/turn1/model":        "",
		"cards~1/attempt1/turn1/model":            "",
		"run":                                     "",
	} {
		require.Equal(t, want, MustKey(key).Purpose(), key)
	}
	require.Equal(t, "a/b", MustKey("p/attempt1/turn1/validate/a%2Fb/model2").Validator())
	require.Empty(t, MustKey("p/attempt1/turn1/model").Validator())
}

// The visit of a graph is that of a node, and what is below it is a part of the visit.
func TestVisitsOfGraphs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		visit string
		node  int
		parts []Step
	}{
		"fetch/node2/start": {"fetch/node2", 2, []Step{}},
		"fetch/node2":       {"fetch/node2", 2, []Step{}},
		"fetch/node12/item3/attempt1/turn1/model":  {"fetch/node12", 12, []Step{{Kind: StepItem, Number: 3}}},
		"fetch/item3/finish":                       {"fetch", 0, []Step{{Kind: StepItem, Number: 3}}},
		"node2/attempt1/turn1/model":               {"node2", 0, nil},
		"node2/node1/attempt1/turn1/tool1":         {"node2/node1", 1, []Step{}},
		"fetch/item3/node2/attempt1/turn1/context": {"fetch", 0, []Step{{Kind: StepItem, Number: 3}, {Kind: StepNode, Number: 2}}},
		"fetch/state/node2":                        {"fetch", 0, nil},
		"run/node":                                 {"run", 0, nil},
	} {
		k := Key{text}
		require.Equal(t, want.visit, k.VisitKey().String(), text)
		if text == "run/node" { // no key, and no reason to panic
			continue
		}
		p := MustKey(text).Path()
		require.Equal(t, want.node, p.Node(), text)
		require.Equal(t, want.parts, p.Parts(), text)
	}
}

func TestRelationsOfKeys(t *testing.T) {
	t.Parallel()
	visit := PhaseKey("draft", 2)
	turn := visit.Attempt(1).Turn(3)
	require.Equal(t, visit, turn.Step(StepModel).VisitKey())
	require.Equal(t, RunKey(), RunKey().Step(StepEnd).VisitKey())
	require.True(t, turn.Step(StepModel).Under(turn))
	require.True(t, turn.Under(turn))
	require.True(t, turn.Under(Key{}))
	require.False(t, visit.Attempt(12).Under(visit.Attempt(1)))
	require.Equal(t, "attempt1/turn3", turn.From(visit))
	require.Equal(t, "draft~2/attempt1/turn3", turn.From(PhaseKey("draft", 1)))
	require.Equal(t, turn.Try(StepModel, 2), turn.Try(StepContext, 2).ModelKey())
	require.Equal(t, turn.Step(StepTask), turn.Step(StepTask).ModelKey())
	require.Equal(t, turn.Named(StepState, "context"), turn.Named(StepState, "context").ModelKey(), "a name is no step")
}

// TestSelects: it is what ModelKey says, of keys whose names are like steps, too.
func TestSelects(t *testing.T) {
	t.Parallel()
	var keys []Key
	for _, text := range []string{
		"p/attempt1/turn1/context", "p/attempt1/turn1/model", "p/attempt1/turn1/context2", "p/attempt1/turn1/model2", "p/attempt1/turn11/model",
		"p/attempt1/turn1/state/context", "p/attempt1/turn1/state/model", "p/attempt1/context", "p/attempt1/model", "p/context", "p/model",
		"p/attempt1/turn1/state/turn1/context", "p/attempt1/turn1/state/turn1/model", "p/child/attempt1/context", "p/child/attempt1/model",
		"p/node1/attempt1/turn1/context", "p/node1/attempt1/turn1/model", "p/validate/turn1/context", "p/validate/turn1/model",
		"p/attempt1/validate/turn1/context", "p/attempt1/validate/turn1/model", "p/attempt1/turn1/compact1/context", "p/attempt1/turn1/compact1/model",
		"attempt1/attempt1/turn1/context", "attempt1/attempt1/turn1/model", "turn1/context", "turn1/model", "run", "run/context", "run/model",
		"p/item2/sounding1/attempt3/turn4/context", "p/item2/sounding1/attempt3/turn4/model", "p~2/attempt1/turn1/context",
	} {
		keys = append(keys, MustKey(text))
	}
	found := 0
	for _, k := range append(keys, Key{}) {
		for _, call := range append(keys, Key{}) {
			want := k.ModelKey() == call && k != call
			require.Equal(t, want, Selects(k, call), "%s for %s", k, call)
			if want {
				found++
			}
		}
	}
	require.Equal(t, 5, found)
}

func TestBranchesOfKeys(t *testing.T) {
	t.Parallel()
	visit := PhaseKey("draft", 1)
	item := visit.Numbered(StepItem, 17)
	try := item.Numbered(StepSounding, 2)
	tool := try.Attempt(1).Turn(2).Numbered(StepTool, 3)
	require.Equal(t, tool, tool.Step(StepSimilarity).Branch())
	require.Equal(t, tool, tool.Branch())
	require.Equal(t, try, tool.ParentBranch())
	require.Equal(t, try, try.Attempt(1).Turn(2).Step(StepModel).Branch())
	require.Equal(t, item, try.ParentBranch())
	require.Equal(t, Key{}, item.ParentBranch())
	require.Equal(t, Key{}, visit.Attempt(1).Turn(1).Step(StepModel).Branch())
	require.Equal(t, Key{}, visit.Step(StepTool).Branch(), "the tool of a phase without a model")
	require.Equal(t, Key{}, visit.Attempt(1).Turn(1).Numbered(StepTool, 1).ParentBranch())
	require.Equal(t, Key{}, RunKey().Step(StepStart).Branch())
	require.Equal(t, item.Numbered(StepBallot, 2), item.Numbered(StepBallot, 2).Step(StepModel).Branch())
	require.Equal(t, item, item.Numbered(StepBallot, 2).ParentBranch())
	step := RunKey().Numbered(StepReforge, 1)
	require.Equal(t, step, step.Step(StepChoice).Branch())
	require.Equal(t, step.Numbered(StepSounding, 2), step.Numbered(StepSounding, 2).Step(StepCandidate).Branch())
	require.Equal(t, step, step.Numbered(StepSounding, 2).Step(StepStart).Branch())
	require.Equal(t, Key{}, step.ParentBranch())
	require.Equal(t, item, try.Step(StepStart).Branch(), "a branch begins and ends in the one it grows from")
	require.Equal(t, Key{}, item.Step(StepEnd).Branch())
	require.Equal(t, try, try.Attempt(1).Step(StepEnd).Branch())
	require.Equal(t, Key{}, Key{}.ParentBranch())
}

// FuzzParseKey: what is read prints as it was, and has the parts that it was made of.
func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"run/start", "draft~2/attempt1/turn3/tool2", "a%2Fb/item3/node2/attempt1/validate/%/model2", "a/child/x%25", "a/attempt1/turn2/ward3/validate/x/child/y", "run~1/start", "cards/warning", "a/state/\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKey(text)
		if err != nil {
			return
		}
		require.Equal(t, text, k.String())
		p := k.Path()
		require.Equal(t, k, p.Key())
		require.True(t, k.Under(k.VisitKey()))
		require.True(t, k.Branch() == Key{} || k.Under(k.Branch()))
	})
}

// FuzzKeyOfNames: any name of a phase or of a step comes back.
func FuzzKeyOfNames(f *testing.F) {
	f.Add("draft", "fair", 1)
	f.Add("run", "", 1)
	f.Add("a~2/%", "x/y\x00\xff", 3)
	f.Fuzz(func(t *testing.T, phase, name string, visit int) {
		if visit < 1 || visit >= maxNumber {
			return
		}
		k := PhaseKey(phase, visit).Attempt(1).Turn(2).Named(StepVerdict, name)
		back, err := ParseKey(k.String())
		require.NoError(t, err)
		p := back.Path()
		require.Equal(t, phase, p.Phase)
		require.Equal(t, visit, p.Visit)
		require.Equal(t, []Step{{Kind: StepVerdict, Name: name}}, p.Effect)
	})
}

func TestHasBranches(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "run": false, "run/start": false, "draft": false, "draft~2/start": false, "draft/attempt1/turn2/tool1": false,
		"draft/state/item1": false, "item": false, "item/attempt1": false, "draft/item1": true, "draft~2/sounding2/start": true,
		"draft/node3": true, "draft/node3/attempt1": true, "draft/child/x": false, "draft/reforge1/attempt1/turn1/model": true,
	} {
		k := Key{}
		if text != "" {
			k = MustKey(text)
		}
		p := k.Path()
		require.Equal(t, want, k.HasBranches(), text)
		require.Equal(t, want, len(p.Branches) > 0, text)
	}
}
