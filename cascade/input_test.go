package cascade

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
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
