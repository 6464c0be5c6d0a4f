package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A schema that says more than types and names is no simple one, so the library checks its values.
func TestSimpleSchemas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"type": "object", "properties": {"n": {"type": "integer", "title": "N", "default": 1}}, "required": ["n"], "additionalProperties": false}`: true,
		`{"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "description": "some"}`:                                                  true,
		`{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}`:                                                                 false,
		`{"type": "object", "properties": {"n": true}}`:                                                                                              false,
		`{"type": "object", "additionalProperties": {"type": "string"}}`:                                                                             false,
		`{"type": "array", "prefixItems": [{"type": "string"}]}`:                                                                                     false,
		`{"type": "integer", "enum": [1]}`:                                                                                                           false,
		`{"type": ["string", "null"]}`:                                                                                                               false,
		`{"type": "string", "format": "email"}`:                                                                                                      false,
		`{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}`:                                                                                  false,
		`{"properties": {"n": {"type": "integer"}}}`:                                                                                                 false,
		`true`: false,
	} {
		s, err := Compile([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, s.plain, text)
	}
}

// What is not certainly a schema is compiled at once, which says what is wrong with it.
func TestInvalidSchemasAreNotSimple(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type": "text"}`:                                        "/type: value must be one of",
		`{"type": "string", "title": 1}`:                          "/title: expected string, got number",
		`{"type": "object", "properties": {"n": {"type": "no"}}}`: "/properties/n/type",
		`{"type": "object", "required": ["a", "a"]}`:              "/required: items at index 0 and 1 are equal",
		`{"type": "object", "required": [1]}`:                     "/required/0: expected string, got number",
	} {
		_, err := Compile([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// What is accepted without the library, the library accepts, and it can compile every simple schema.
func FuzzSimple(f *testing.F) {
	const schema = `{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "x": {"type": "number"},
		"t": {"type": "string", "enum": ["a", "b"]}, "b": {"type": "boolean"}, "z": {"type": "null"},
		"l": {"type": "array", "items": {"type": "object", "properties": {"s": {"type": "string"}}}}}}`
	for _, value := range []string{
		`{"n": 1}`, `{"n": 1.0}`, `{"n": 1e2}`, `{"n": -0}`, `{"x": 1}`, `{"n": 1, "x": 1.5, "t": "a", "b": true, "z": null, "l": [{"s": ""}, {}]}`,
		`{"n": 1, "t": "c"}`, `{"n": 1, "other": 1}`, `{"n": 1, "n": "x"}`, `[]`, `"a"`, `{"n": 1, "l": [1]}`, `{"n": 99999999999999999999}`,
	} {
		f.Add(schema, value)
	}
	f.Add(`{"type": "array", "items": {"type": "number"}}`, `[1, 2.5, -3e4]`)
	f.Add(`{"type": "string", "enum": ["", "a"]}`, `""`)
	f.Add(`{"type": "string", "enum": []}`, `""`)
	f.Add(`{"type": "object", "properties": {"a": {"type": "object", "properties": {"a": {"type": "null"}}}}, "additionalProperties": false}`, `{"a": {"a": null}}`)
	f.Add(`{"type": "object", "required": ["a"], "title": "t", "additionalProperties": false, "properties": {"a": {"type": "string", "default": [1], "enum": ["a", "a"]}}}`, `{"a": "b"}`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := Compile([]byte(text))
		if err != nil || !s.plain {
			return
		}
		_, err = compile(s.raw)
		require.NoError(t, err, text)
		v, err := decode([]byte(value))
		if err != nil {
			return
		}
		if accepted, err := s.accepts(t.Context(), v); err != nil || !accepted {
			return
		}
		s.plain = false
		bad, err := s.Validate([]byte(value))
		require.NoError(t, err)
		require.Empty(t, bad, "%s against %s", value, text)
	})
}

func BenchmarkSimple(b *testing.B) {
	s, err := Compile([]byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`))
	require.NoError(b, err)
	value := []byte(`{"n":1}`)
	check := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if bad, err := s.Validate(value); err != nil || len(bad) > 0 {
				b.Fatal(bad, err)
			}
		}
	}
	b.Run("simple", check)
	s.plain = false
	b.Run("library", check)
}
