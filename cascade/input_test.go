package cascade

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/wording"
)

func TestReadValueFollowsTheSchema(t *testing.T) {
	t.Parallel()
	c := &Cascade{InputsSchema: &InputsSchema{Schema: json.RawMessage(`{"type":"object","properties":{
		"n":{"type":"integer"},"s":{"type":"string"},"l":{"type":"array"},"any":{},"maybe":{"type":["integer","null"]}}}`)}}
	for name, tc := range map[string]struct {
		input, text string
		want        any
	}{
		"integer":          {"n", "12345678901234567890", json.Number("12345678901234567890")},
		"not an integer":   {"n", "twelve", "twelve"},
		"more than one":    {"n", "1 2", "1 2"},
		"string of digits": {"s", "5", "5"},
		"array":            {"l", `["a"]`, []any{"a"}},
		"no type":          {"any", "5", "5"},
		"several types":    {"maybe", "null", nil},
		"unknown input":    {"x", "5", "5"},
	} {
		require.Equal(t, tc.want, c.ReadValue(tc.input, tc.text), name)
	}
	named := &Cascade{InputsSchema: &InputsSchema{Names: map[string]string{"n": "a number"}}}
	require.Equal(t, "5", named.ReadValue("n", "5"), "inputs given by name are strings")
	require.Equal(t, "5", (&Cascade{}).ReadValue("n", "5"))
}

func TestBodyKind(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		headers map[string]string
		body    string
		kind    TemplateKind
		sent    string
	}{
		"object":            {nil, ` {"a": {{ b }}}`, TemplateJSON, "application/json"},
		"array":             {nil, `[1]`, TemplateJSON, "application/json"},
		"begins with a tag": {nil, `{% if a %}{}{% endif %}`, TemplateText, "text/plain; charset=utf-8"},
		"begins with value": {nil, `{{ a }}`, TemplateText, "text/plain; charset=utf-8"},
		"declared":          {map[string]string{"content-type": "application/problem+json; charset=utf-8"}, `{{ a }}`, TemplateJSON, ""},
		"form":              {map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, `a={{ a }}`, TemplateForm, ""},
		"other":             {map[string]string{"Content-Type": "text/csv"}, `{"a":1}`, TemplateText, ""},
		"not a media type":  {map[string]string{"Content-Type": ";"}, `{"a":1}`, TemplateText, ""},
	} {
		tool := Tool{Headers: tc.headers, Body: tc.body}
		kind, sent := tool.BodyKind()
		require.Equal(t, tc.kind, kind, name)
		require.Equal(t, tc.sent, sent, name)
	}
}

// TestNeededInput: what a template of every rendering looks up has to be there, whatever the schema.
func TestNeededInput(t *testing.T) {
	t.Parallel()
	const phases = `"phases": [
		{"name": "a", "instructions": "{{ input.city }} {{ input.city }} {{ input.day | default(1) }} {% if input.far is defined %}{{ input.far }}{% endif %}"},
		{"name": "b", "instructions": "{% if turn > 1 %}{{ input.perhaps }}{% endif %} {{ input.where.street }} {{ input.list[1] }}",
			"rules": {"loop_until": "v"}, "context": {"from": [{"phase": "a", "condition": "{{ input.city }}"}]}},
		{"name": "c", "tool": "read_file", "inputs": {"path": ["{{ input['a b'] }}"]}, "callouts": "{{ input.city }}"}],
		"validators": {"v": {"instructions": "{{ input.city }}"}}}`
	missing := func(schema string, input map[string]any) (out []string) {
		c, found, err := Parse("x.json", []byte(`{"cascade_id": "x", `+schema+phases), testKnown())
		require.NoError(t, err, show(found))
		for _, v := range c.CheckInput(input) {
			require.Equal(t, "required", v.Keyword)
			out = append(out, v.String())
		}
		return out
	}
	const city = `: used without default by "instructions" of phase "a", "context.from.0.condition" of phase "b", "callouts" of phase "c" and 1 more`
	others := []string{
		`missing input "where": used without default by "instructions" of phase "b"`,
		`missing input "list": used without default by "instructions" of phase "b"`,
		`missing input "a b": used without default by "inputs.path.0" of phase "c"`,
	}
	require.Equal(t, append([]string{`missing input "city"` + city}, others...), missing("", nil))
	require.Equal(t, append([]string{`missing input "city" (where to go)` + city}, others...), missing(`"inputs_schema": {"city": "where to go", "where": "", "list": "", "a b": "", "day": "", "far": "", "perhaps": ""},`, nil))
	require.Equal(t, append([]string{`missing input "city"`}, others...), missing(`"inputs_schema": {"required": ["city"]},`, nil), "it is said once")
	full := map[string]any{"city": nil, "where": map[string]any{"street": 1}, "list": []any{1, 2}, "a b": ""}
	require.Empty(t, missing("", full))
	full["where"], full["list"] = "here", []any{1}
	require.Equal(t, []string{
		`missing input "where.street": used without default by "instructions" of phase "b"`,
		`missing input "list[1]": used without default by "instructions" of phase "b"`,
	}, missing("", full))
}

// TestNeededPath: what is no template is a path, and of one that nothing declares it is said how a text
// is written.
func TestNeededPath(t *testing.T) {
	t.Parallel()
	missing := func(schema string) (out []string) {
		c, found, err := Parse("x.json", []byte(`{"cascade_id": "x", `+schema+`"phases": [{"name": "a", "instructions": "x", "sub_cascades": [
			{"ref": "child", "input_map": {"topic": "German"}}, {"ref": "child", "name": "b", "input_map": {"topic": "it.s"}}]}]}`), testKnown())
		require.NoError(t, err, show(found))
		for _, v := range c.CheckInput(nil) {
			out = append(out, v.String())
		}
		return out
	}
	require.Equal(t, []string{
		`missing input "German": used without default by "sub_cascades.0.input_map.topic" of phase "a" (for a text write {{ 'German' }})`,
		`missing input "it": used without default by "sub_cascades.1.input_map.topic" of phase "a" (for a text write {{ 'it.s' }})`,
	}, missing(""))
	require.Equal(t, []string{
		`missing input "German" (a language): used without default by "sub_cascades.0.input_map.topic" of phase "a"`,
		`missing input "it": used without default by "sub_cascades.1.input_map.topic" of phase "a" (for a text write {{ 'it.s' }})`,
	}, missing(`"inputs_schema": {"German": "a language"},`))
	require.Equal(t, "for a text write {{ \"it's\" }}", wording.AsText("it's"))
}

func TestInputWarnings(t *testing.T) {
	t.Parallel()
	c := &Cascade{InputsSchema: &InputsSchema{Names: map[string]string{"city": "", "day": ""}}}
	require.Equal(t, []string{`inputs_schema does not name the input "ciyt", did you mean "city"?`, `inputs_schema does not name the input "x"`},
		c.InputWarnings(map[string]any{"city": 1, "x": 1, "ciyt": 2}))
	require.Empty(t, (&Cascade{}).InputWarnings(map[string]any{"x": 1}))
}

func TestMissingEnv(t *testing.T) {
	t.Parallel()
	c, found, err := Parse("x.json", []byte(`{"cascade_id": "x", "phases": [
		{"name": "a", "instructions": "{{ env.TOKEN }} {{ env.HOME }} {{ env.NO | default('') }} {% if turn %}{{ env.PERHAPS }}{% endif %}"}]}`), testKnown())
	require.NoError(t, err, show(found))
	require.Equal(t, map[string][]string{"TOKEN": {`"instructions" of phase "a"`}}, c.MissingEnv(map[string]string{"HOME": "/"}))
}
