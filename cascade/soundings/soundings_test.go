package soundings_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
)

// read reads soundings as a file has them, and holds them against what is written of them.
func read(t *testing.T, text string) *soundings.Soundings {
	t.Helper()
	s, again := &soundings.Soundings{}, &soundings.Soundings{}
	require.NoError(t, json.Unmarshal([]byte(text), s))
	written, err := json.Marshal(s)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(written, again))
	rewritten, err := json.Marshal(again)
	require.NoError(t, err)
	require.Equal(t, string(written), string(rewritten))
	return s
}

func TestNumberOfCandidates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ count, first int }{
		`{}`:                             {0, 0},
		`{"factor": 1}`:                  {1, 1},
		`{"factor": 3}`:                  {3, 3},
		`{"models": ["a", "b"]}`:         {2, 2},
		`{"models": ["a", "a", "b"]}`:    {3, 3},
		`{"models": ["a"], "factor": 4}`: {4, 4},
		`{"models": {"a": {}, "b": {}}}`: {2, 2},
		`{"models": {"a": {"factor": 2}, "b": {"factor": 3}}}`: {5, 5},
		`{"models": {"a": {"factor": 2}, "b": {}}}`:            {3, 3},
		`{"factor": 6, "adaptive": {}}`:                        {6, 2},
		`{"factor": 6, "adaptive": {"min": 3}}`:                {6, 3},
		`{"adaptive": {"min": 3, "max": 5}}`:                   {5, 3},
		`{"factor": 2, "adaptive": {"min": 3}}`:                {2, 2},
		`{"models": ["a", "b", "c"], "adaptive": {}}`:          {3, 2},
	} {
		s := read(t, text)
		require.Equal(t, want.count, s.Count(), text)
		require.Equal(t, want.count > 1, s.Active(), text)
		first, most := s.Bounds()
		require.Equal(t, want.first, first, text)
		require.Equal(t, want.count, most, text)
	}
	var none *soundings.Soundings
	require.False(t, none.Active())
	require.Nil(t, none.Assign("seed"))
}

// names returns the models of candidates as one text.
func names(models []soundings.Model) string {
	var out []string
	for _, m := range models {
		out = append(out, m.Name)
	}
	return strings.Join(out, " ")
}

func TestModelsOfCandidates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"factor": 3}`:                                                                                   "",
		`{"models": ["b", "a"]}`:                                                                          "b a",
		`{"models": ["b", "a"], "factor": 5}`:                                                             "b a b a b",
		`{"models": ["a", "b", "c"], "factor": 2}`:                                                        "a b",
		`{"models": {"z": {"factor": 3}, "b": {"factor": 1}}}`:                                            "z b z z",
		`{"models": {"a": {"factor": 1}, "b": {}}, "factor": 4}`:                                          "a b b b",
		`{"models": {"b": {}, "a": {"factor": 3}}, "factor": 4}`:                                          "b a a a",
		`{"models": {"b": {}, "a": {"factor": 2}}}`:                                                       "b a a",
		`{"models": {"a": {"factor": 2}, "b": {"factor": 1}}, "factor": 5}`:                               "a b a b a",
		`{"models": {"a": {"factor": 1}}, "factor": 3}`:                                                   "a a a",
		`{"models": {"a": {"factor": 4}, "b": {"factor": 1}}, "factor": 5, "model_strategy": "weighted"}`: "a a b a a",
		`{"models": {"a": {"factor": 2}, "b": {"factor": 1}}, "factor": 6, "model_strategy": "weighted"}`: "a b a a b a",
		`{"models": ["a", "b"], "factor": 3, "model_strategy": "weighted"}`:                               "a b a",
		`{"models": {"a": {"factor": 3}, "b": {"factor": 2}}, "adaptive": {"min": 2}}`:                    "a b a b a",
	} {
		require.Equal(t, want, names(read(t, text).Assign("any")), text)
	}
	m := read(t, `{"models": {"a": {"temperature": 0.5, "max_output_tokens": 9}}, "factor": 2}`).Assign("")[1]
	require.InDelta(t, 0.5, *m.Temperature, 0)
	require.Equal(t, 9, m.MaxOutputTokens)
}

// The seed decides, and nothing else does; each model is as likely as the others, and one with a factor
// gets as many candidates as that.
func TestModelsAtRandom(t *testing.T) {
	t.Parallel()
	s := read(t, `{"models": ["a", "b", "c"], "factor": 6, "model_strategy": "random"}`)
	require.Equal(t, "a b c a b c", names(read(t, `{"models": ["a", "b", "c"], "factor": 6}`).Assign("x")))
	require.Equal(t, "a c b a a a", names(s.Assign("session/draft")), "a replay has the same")
	counts, orders := map[string]int{}, map[string]bool{}
	for i := range 2000 {
		models := s.Assign(fmt.Sprint(i))
		orders[names(models)] = true
		for _, m := range models {
			counts[m.Name]++
		}
	}
	require.Greater(t, len(orders), 600, "of 729")
	for name, n := range counts {
		require.InDelta(t, 4000, n, 250, name)
	}
	fixed := read(t, `{"models": {"a": {"factor": 3}, "b": {"factor": 1}}, "model_strategy": "random"}`)
	places := map[string]int{}
	for i := range 400 {
		got := names(fixed.Assign(fmt.Sprint(i)))
		require.Equal(t, 3, strings.Count(got, "a"))
		places[got]++
	}
	require.Len(t, places, 4)
	for got, n := range places {
		require.InDelta(t, 100, n, 45, got)
	}
	mixed := read(t, `{"models": {"a": {"factor": 2}, "b": {}, "c": {}}, "factor": 5, "model_strategy": "random"}`)
	for i := range 50 {
		require.Equal(t, 2, strings.Count(names(mixed.Assign(fmt.Sprint(i))), "a"))
	}
}

func TestMutations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"factor": 3}`: false, `{"mutate": true}`: true, `{"mutation_mode": "augment"}`: true, `{"mutations": ["x"]}`: true,
		`{"mutations": ["x"], "mutate": false}`: false, `{"rewrite_model": "m"}`: false,
	} {
		require.Equal(t, want, read(t, text).Mutates(), text)
	}
	require.Equal(t, soundings.Rewrite, read(t, `{"mutations": ["x"]}`).MutatesBy())
	own := read(t, `{"mutation_mode": "approach", "mutations": ["x", "y"]}`)
	require.Equal(t, soundings.Approach, own.MutatesBy())
	var got []string
	for i := range 6 {
		got = append(got, own.Entry(i))
	}
	require.Equal(t, []string{"", "x", "y", "x", "y", "x"}, got)
}

// There are eight entries of each mode, all different, none of which a template would change.
func TestBuiltinMutations(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, mode := range []soundings.MutationMode{soundings.Rewrite, soundings.Augment, soundings.Approach} {
		entries := soundings.BuiltinMutations(mode)
		require.Len(t, entries, 8)
		s := read(t, fmt.Sprintf(`{"mutation_mode": %q}`, mode))
		require.Empty(t, s.Entry(0))
		for i, e := range entries {
			require.False(t, seen[e], e)
			seen[e] = true
			require.False(t, strings.ContainsAny(e, "{}%\n"), e)
			require.Equal(t, e, s.Entry(i+1))
			require.Equal(t, e, s.Entry(i+9))
		}
	}
	require.Empty(t, soundings.BuiltinMutations("none"))
}

func TestPairsAndConfidence(t *testing.T) {
	t.Parallel()
	least, most := soundings.DefaultMinPairs, soundings.DefaultMaxPairs
	for text, want := range map[string][2]int{
		`{}`: {least, most}, `{"ballots": {}}`: {least, most}, `{"ballots": {"min": 2}}`: {2, most}, `{"ballots": {"max": 40}}`: {least, 40},
		`{"ballots": {"max": 1}}`: {1, 1}, `{"ballots": {"min": 50}}`: {50, 50}, `{"ballots": {"min": 2, "max": 5}}`: {2, 5},
	} {
		from, to := read(t, text).Pairs()
		require.Equal(t, want, [2]int{from, to}, text)
	}
	require.InDelta(t, 0.9, read(t, `{}`).Confidence(), 0)
	require.InDelta(t, 0.9, read(t, `{"ballots": {"min": 1}}`).Confidence(), 0)
	require.InDelta(t, 0.75, read(t, `{"ballots": {"confidence": 0.75}}`).Confidence(), 0)
}

func TestOtherDefaults(t *testing.T) {
	t.Parallel()
	none, all := read(t, `{}`), read(t, `{"max_parallel": 7, "winner_history": 0, "mode": "aggregate", "on_tie": "first"}`)
	require.Equal(t, []any{3, 5, false, soundings.TieCheapest}, []any{none.Parallel(), none.Winners(), none.Aggregates(), none.Tie()})
	require.Equal(t, []any{7, 0, true, soundings.TieFirst}, []any{all.Parallel(), all.Winners(), all.Aggregates(), all.Tie()})

	costs := read(t, `{"cost_aware_evaluation": {}}`).CostAware
	quality, cost := costs.Weights()
	require.Equal(t, []float64{0.7, 0.3}, []float64{quality, cost})
	require.Equal(t, soundings.MinMax, costs.Normalized())
	costs = read(t, `{"cost_aware_evaluation": {"quality_weight": 0, "cost_weight": 2, "cost_normalization": "z_score"}}`).CostAware
	quality, cost = costs.Weights()
	require.Equal(t, []float64{0, 2}, []float64{quality, cost})
	require.Equal(t, soundings.ZScore, costs.Normalized())
	require.Equal(t, soundings.Balanced, read(t, `{"pareto_frontier": {}}`).Pareto.Prefers())
	require.Equal(t, soundings.PreferCheap, read(t, `{"pareto_frontier": {"policy": "prefer_cheap"}}`).Pareto.Prefers())
}

func TestReforge(t *testing.T) {
	t.Parallel()
	r := read(t, `{"reforge": {}}`).Reforge
	require.Equal(t, []int{1, 2, 1}, []int{r.MaxSteps(), r.PerStep(), r.MaxMisses()})
	r = read(t, `{"reforge": {"steps": 4, "factor_per_step": 3, "patience": 2}}`).Reforge
	require.Equal(t, []int{4, 3, 2}, []int{r.MaxSteps(), r.PerStep(), r.MaxMisses()})
	for text, want := range map[string]string{
		`{}`: "", `{"reforge": {}}`: "", `{"reforge": {"threshold": null}}`: "", `{"reforge": {"threshold": "json"}}`: "json",
		`{"reforge": {"threshold": {"validator": "min_words:9", "mode": "blocking"}}}`: "min_words:9", `{"reforge": {"threshold": 5}}`: "",
	} {
		require.Equal(t, want, read(t, text).Reforge.Until(), text)
	}
}

func TestModelsThatAreAsked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"factor": 3}`:                         {"run"},
		`{"factor": 2, "mode": "aggregate"}`:    nil,
		`{"factor": 1, "evaluator_model": "j"}`: nil,
		`{"models": ["a", "b", "a"], "evaluator_model": "j", "aggregator_model": "g", "rewrite_model": "r"}`:                        {"a", "b", "j"},
		`{"factor": 2, "mode": "aggregate", "evaluator_model": "j", "aggregator_model": "g", "rewrite_model": "r", "mutate": true}`: {"r"},
		`{"factor": 2, "mode": "aggregate", "aggregator_model": "g", "aggregator_instructions": "x"}`:                               {"g"},
		`{"factor": 2, "evaluator_model": "j", "rewrite_model": "r", "reforge": {"mutate": true}}`:                                  {"r", "j"},
		`{"factor": 2, "evaluator_model": "j", "rewrite_model": "r", "mutation_mode": "augment"}`:                                   {"j"},
		`{"factor": 2, "mutate": true, "evaluator_model": "j"}`:                                                                     {"run", "j"},
	} {
		require.Equal(t, want, read(t, text).Asks("run"), text)
	}
	var none *soundings.Soundings
	require.Empty(t, none.Asks("run"))
}

func TestValidatorsOfSoundings(t *testing.T) {
	t.Parallel()
	s := read(t, `{"validator": "json", "reforge": {"threshold": "non_empty"}}`)
	var got []string
	for key, v := range s.Validators() {
		got = append(got, key+" "+v)
	}
	require.Equal(t, []string{"soundings.validator json", "soundings.reforge.threshold non_empty"}, got)
	for range s.Validators() {
		break
	}
	var none *soundings.Soundings
	for range none.Validators() {
		t.Fatal("there is none")
	}
}

// Models keep the order of the file, written and read again.
func TestModelsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := read(t, `{"models": {"z": {"factor": 1}, "<a>": {}, "m": {"temperature": 0}}}`)
	require.Equal(t, "z <a> m", names(s.Models))
	written, err := json.Marshal(s.Models)
	require.NoError(t, err)
	require.Equal(t, `{"z":{"factor":1},"\u003ca\u003e":{},"m":{"temperature":0}}`, string(written))
	written, err = json.Marshal(read(t, `{"models": {"b": {}, "a": {}}}`).Models)
	require.NoError(t, err)
	require.Equal(t, `["b","a"]`, string(written))
	require.Nil(t, read(t, `{"models": null}`).Models)
	for _, wrong := range []string{`"a"`, `5`, `[5]`, `{"a": 5}`} {
		var m soundings.Models
		require.Error(t, json.Unmarshal([]byte(wrong), &m), wrong)
	}
}
