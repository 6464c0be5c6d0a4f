package cascade

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/schema"
)

// soundingKnown also has the variables by which templates tell candidates apart.
func soundingKnown() Known {
	known := testKnown()
	known.Variables.Phase = maps.Clone(known.Variables.Phase)
	maps.Copy(known.Variables.Phase, map[string]any{"sounding_index": 0, "sounding_factor": 1, "is_sounding": false})
	return known
}

// Every key of soundings alone, and all that go together, are sound in a phase and in a cascade. What is
// recorded of such a cascade says the same.
func TestSoundSoundings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/soundings/*.json")
	require.NoError(t, err)
	require.Greater(t, len(paths), 70)
	for _, path := range paths {
		c, found, err := Load(path, soundingKnown())
		require.NoError(t, err, path)
		require.Empty(t, found, path)
		written, err := json.Marshal(c)
		require.NoError(t, err)
		known := soundingKnown()
		known.Recorded = true
		again, found, err := Parse(path, written, known)
		require.NoError(t, err, path)
		require.Empty(t, found, path)
		require.Equal(t, string(written), string(must(json.Marshal(again))), path)
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// keysOf collects the keys of all objects in a value.
func keysOf(value any, into map[string]bool) {
	switch x := value.(type) {
	case map[string]any:
		for key, v := range x {
			into[key] = true
			keysOf(v, into)
		}
	case []any:
		for _, v := range x {
			keysOf(v, into)
		}
	}
}

// No key of soundings, and no word of their closed sets, is missing among the files of the test above.
func TestSoundSoundingsHaveEveryKey(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	var all strings.Builder
	paths, err := filepath.Glob("testdata/soundings/*.json")
	require.NoError(t, err)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var value any
		require.NoError(t, json.Unmarshal(data, &value))
		keysOf(value, used)
		all.Write(data)
	}
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schema.CascadeJSON(), &doc))
	for _, def := range []string{"Soundings", "Model", "Ballots", "CostAware", "Pareto", "Adaptive", "Reforge", "HumanEval"} {
		require.NotEmpty(t, doc.Defs[def].Properties, def)
		for key, p := range doc.Defs[def].Properties {
			require.True(t, used[key], "no file has %s of %s", key, def)
			for _, word := range p.Enum {
				require.Contains(t, all.String(), `"`+word+`"`, "%s of %s", key, def)
			}
		}
	}
}

// The texts of files stand in the cascade; where text is no template, nothing in it is looked at.
func TestSoundingsInFiles(t *testing.T) {
	t.Parallel()
	c, _, err := Load("testdata/soundings/reforge_files.json", soundingKnown())
	require.NoError(t, err)
	require.Equal(t, "Make it shorter. {{ braces stay braces\n", c.Phases[0].Soundings.Reforge.HoningPrompt)
	require.Equal(t, "Which of {{ candidates | length }} answers is best for {{ task }}?\n", c.Phases[0].Soundings.Reforge.EvaluatorOverride)
	c, _, err = Load("testdata/soundings/cascade_aggregate.json", soundingKnown())
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(c.Soundings.AggregatorInstructions, "Which of"))
}

// The order of models in the file is that of the candidates, in JSON and in YAML.
func TestModelsOfFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"x.json": `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "x", "soundings": {"models": {"z": {"factor": 2}, "a": {}, "m": {}}}}]}`,
		"x.yaml": "cascade_id: x\nphases:\n- name: a\n  instructions: x\n  soundings:\n    models:\n      z: {factor: 2}\n      a: {}\n      m: {}\n",
	} {
		c, found, err := Parse(name, []byte(text), soundingKnown())
		require.NoError(t, err)
		require.Empty(t, found)
		s := c.Phases[0].Soundings
		require.Equal(t, 4, s.Count())
		require.Equal(t, []string{"z", "a", "m", "z"}, slices.Collect(func(yield func(string) bool) {
			for _, m := range s.Assign("") {
				if !yield(m.Name) {
					return
				}
			}
		}))
	}
}

// Validators of soundings are those of the phase, and cascades among them are reached.
func TestValidatorsOfSoundings(t *testing.T) {
	t.Parallel()
	c, found, err := Parse("x.json", []byte(`{"cascade_id": "x", "soundings": {"factor": 2, "validator": "judge"}, "phases": [
		{"name": "a", "instructions": "x", "rules": {"loop_until": "json"}, "wards": {"post": ["non_empty"]},
		 "soundings": {"factor": 2, "validator": "command:true", "reforge": {"threshold": {"validator": "judge"}}}}]}`), testKnown())
	require.NoError(t, err)
	require.Empty(t, found)
	var got []string
	for key, v := range c.Phases[0].Validators() {
		got = append(got, key+" "+v)
	}
	require.Equal(t, []string{"loop_until json", "soundings.validator command:true", "soundings.reforge.threshold judge", "wards.post non_empty"}, got)
	require.Equal(t, "judge", c.Reaches["judge"].Cascade.CascadeID)
	for key := range c.Phases[0].Validators() {
		if strings.HasPrefix(key, "soundings") {
			break
		}
	}
	v, err := c.ParseValidator(c.Soundings.Validator)
	require.NoError(t, err)
	require.Equal(t, ValidatorCascade, v.Kind)
}

// A run needs what the instructions of its judges use.
func TestJudgesNeedInput(t *testing.T) {
	t.Parallel()
	c, found, err := Parse("x.json", []byte(`{"cascade_id": "x", "soundings": {"factor": 2, "evaluator_instructions": "{{ input.style }} {{ env.TONE }}"}, "phases": [
		{"name": "a", "instructions": "x", "soundings": {"factor": 2, "evaluator_instructions": "{{ input.aim }}"}}]}`), testKnown())
	require.NoError(t, err)
	require.Empty(t, found)
	var got []string
	for _, v := range c.CheckInput(nil) {
		got = append(got, v.Message)
	}
	require.Equal(t, []string{
		`missing input "aim": used without default by "soundings.evaluator_instructions" of phase "a"`,
		`missing input "style": used without default by "soundings.evaluator_instructions"`,
	}, got)
	require.Equal(t, map[string][]string{"TONE": {`"soundings.evaluator_instructions"`}}, c.MissingEnv(nil))
}

// A whole run of a step of refinement is given more than its inputs_schema takes, and templates may use
// it where it may be missing.
func TestRefinementOfRuns(t *testing.T) {
	t.Parallel()
	const text = `{"cascade_id": "x", "inputs_schema": {"type": "object", "properties": {"n": {}}, "additionalProperties": false}, "soundings": {"factor": 2REFORGE},
		"phases": [{"name": "a", "instructions": "{{ input.n }} {% if input._refinement_context is defined %}{{ input._refinement_context.best }}{{ input._refinement_context.other | default(1) }}{% endif %}"}]}`
	c, found, err := Parse("x.json", []byte(strings.ReplaceAll(text, "REFORGE", `, "reforge": {}`)), testKnown())
	require.NoError(t, err)
	require.Empty(t, found)
	best := map[string]any{"best": "b", "prompt": "p", "step": 1}
	require.Empty(t, c.CheckInput(map[string]any{"n": 1, "_refinement_context": best}))
	require.Empty(t, c.CheckInput(map[string]any{"n": 1}))
	require.Len(t, c.CheckInput(map[string]any{"n": 1, "other": 2}), 1)
	require.Empty(t, c.InputWarnings(map[string]any{"n": 1, "_refinement_context": best}))

	named, _, err := Parse("x.json", []byte(`{"cascade_id": "x", "inputs_schema": {"n": "a number"}, "phases": [{"name": "a", "instructions": "x"}]}`), testKnown())
	require.NoError(t, err)
	input := map[string]any{"_refinement_context": best}
	require.Empty(t, named.InputWarnings(input))
	require.Len(t, input, 1, "what is given stays as it is")

	_, found, err = Parse("x.json", []byte(`{"cascade_id": "x", "soundings": {"factor": 2, "reforge": {}}, "inputs_schema": {"n": "a number"},
		"phases": [{"name": "a", "instructions": "{{ input._refinement_context.text }}"}]}`), testKnown())
	require.Error(t, err)
	require.Equal(t, `"instructions" of phase "a" uses "input._refinement_context.text", which cannot be there`, found[0].Message)
}

// What a phase gives that joins its candidates is the text of the join, whatever each of them gives.
func TestOutputOfAggregate(t *testing.T) {
	t.Parallel()
	const text = `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "x", "output_schema": {"type": "object", "properties": {"n": {}}, "additionalProperties": false},
		"soundings": {"factor": 2, "mode": "MODE"MORE}}, {"name": "b", "instructions": "{{ outputs.a.other }}"}]}`
	of := func(mode soundings.Mode, more string) []byte {
		return []byte(strings.NewReplacer("MODE", string(mode), "MORE", more).Replace(text))
	}
	_, found, err := Parse("x.json", of(soundings.Evaluate, ""), testKnown())
	require.Error(t, err)
	require.Len(t, found, 1)
	_, _, err = Parse("x.json", of(soundings.Aggregate, `, "aggregator_instructions": "Write one object."`), testKnown())
	require.NoError(t, err)
}
