package cascade

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRoundTrip writes cascades with everything in them and reads them again.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"everything.yaml", "graph.yaml"} {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		c, found, err := Parse(name, data, testKnown())
		require.NoError(t, err, show(found))
		require.Empty(t, found)
		raw, err := json.Marshal(c)
		require.NoError(t, err)
		again, found, err := Parse("again.json", raw, testKnown())
		require.NoError(t, err, show(found))
		if diff := diff(c, again); diff != "" {
			t.Error(diff)
		}
		var plain Cascade
		require.NoError(t, json.Unmarshal(raw, &plain))
		plain.Reaches = c.Reaches // they are no part of the JSON
		require.Empty(t, diff(c, &plain))
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{`90`: 90 * time.Second, `0.25`: 250 * time.Millisecond, `"1h30m"`: 90 * time.Minute, `null`: 0} {
		var d Duration
		require.NoError(t, json.Unmarshal([]byte(text), &d))
		require.Equal(t, Duration(want), d, text)
	}
	for _, text := range []string{`"soon"`, `1e300`, `true`} {
		var d Duration
		require.Error(t, json.Unmarshal([]byte(text), &d), text)
	}
}

func TestInputsSchemaForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text   string
		schema bool
	}{
		{`{"a": "what it is"}`, false},
		{`{}`, false},
		{`{"type": "what kind"}`, false},
		{`{"type": "string"}`, false},
		{`{"required": "who needs it", "properties": "of what"}`, false},
		{`{"type": "object"}`, true},
		{`{"properties": {"a": {}}}`, true},
		{`{"required": ["a"]}`, true},
		{`{"$ref": "#/$defs/x"}`, true},
		{`{"type": ["object", "null"]}`, true},
	}
	for _, tt := range tests {
		var s InputsSchema
		require.NoError(t, json.Unmarshal([]byte(tt.text), &s))
		require.Equal(t, tt.schema, s.Schema != nil, tt.text)
		raw, err := json.Marshal(s)
		require.NoError(t, err)
		require.JSONEq(t, tt.text, string(raw))
	}
}

func TestCheckInput(t *testing.T) {
	t.Parallel()
	const head, tail = `{"cascade_id": "x", `, `"phases": [{"name": "a", "instructions": "x"}]}`
	tests := []struct {
		name, schema string
		input        map[string]any
		want         []string
	}{
		{"no contract", ``, map[string]any{"x": 1}, nil},
		{"fits", `"inputs_schema": {"city": "where to go"},`, map[string]any{"city": "Rome"}, nil},
		{"names are a declaration", `"inputs_schema": {"city": "where to go", "when": "the day"},`, map[string]any{"city": 5, "more": nil}, nil},
		{"nothing is needed", `"inputs_schema": {"city": "where to go"},`, nil, nil},
		{
			"schema", `"inputs_schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},`,
			map[string]any{"n": "5", "more": true},
			[]string{"/n: expected integer, got string"},
		},
		{"schema, missing", `"inputs_schema": {"type": "object", "required": ["n"]},`, nil, []string{`missing input "n"`}},
		{
			"schema, unknown", `"inputs_schema": {"type": "object", "properties": {"city": {}}, "additionalProperties": false},`,
			map[string]any{"ciyt": 1},
			[]string{`unknown input "ciyt", did you mean "city"?`},
		},
		{"not JSON", `"inputs_schema": {"city": "where to go"},`, map[string]any{"city": func() {}}, []string{"the input is no JSON: json: unsupported type: func()"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, _, err := Parse("x.json", []byte(head+tt.schema+tail), Known{})
			require.NoError(t, err)
			var got []string
			for _, v := range c.CheckInput(tt.input) {
				got = append(got, v.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}
