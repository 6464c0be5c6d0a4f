package schema

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	const person = `{"type": "object", "required": ["name", "age"], "additionalProperties": false, "properties": {
		"name": {"type": "string", "minLength": 2, "maxLength": 4}, "age": {"type": "integer", "minimum": 1, "maximum": 120},
		"tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2, "uniqueItems": true},
		"a/b": {"type": ["string", "null"]}, "mail": {"format": "email"}, "kind": {"const": 1}}}`
	tests := []struct {
		name, schema, value string
		want                []string
	}{
		{"valid", person, `{"name": "Ann", "age": 3}`, nil},
		{"type", `{"type": "integer"}`, `"3"`, []string{"expected integer, got string"}},
		{"integer written as a float", `{"type": "integer"}`, `3.0`, nil},
		{"types", person, `{"name": "Ann", "age": 3, "a/b": 5}`, []string{"/a~1b: expected string or null, got integer"}},
		{"several at once, in order", person, `{"age": 0, "name": 1, "x": 1, "tags": ["a", "c"]}`, []string{
			`unknown property "x"; known are a/b, age, kind, mail, name, tags`, "/age: must be at least 1, got 0",
			"/name: expected string, got integer", `/tags/1: expected one of "a", "b", got "c"`,
		}},
		{"each missing property", person, `{}`, []string{`missing required property "age"`, `missing required property "name"`}},
		{"lengths", person, `{"age": 1, "name": "é"}`, []string{"/name: must have at least 2 characters, has 1"}},
		{"items", person, `{"age": 1, "name": "ab", "tags": []}`, []string{"/tags: must have at least 1 item, has 0"}},
		{"too many items", person, `{"age": 1, "name": "ab", "tags": ["a","b","b"]}`, []string{
			"/tags: must have at most 2 items, has 3", "/tags: two items are equal, all must differ",
		}},
		{"maximum", person, `{"age": 1e3, "name": "ab"}`, []string{"/age: must be at most 120, got 1e3"}},
		{"const", person, `{"age": 1, "name": "ab", "kind": 2}`, []string{"/kind: expected 1, got 2"}},
		{"format", person, `{"age": 1, "name": "ab", "mail": "x"}`, []string{`/mail: "x" is not a valid email`}},
		{"pattern", `{"pattern": "^a"}`, `"b"`, []string{`"b" does not match the pattern "^a"`}},
		{"exclusive bounds", `{"exclusiveMinimum": 0}`, `0`, []string{"must be greater than 0, got 0"}},
		{"multiple", `{"multipleOf": 2}`, `3`, []string{"must be a multiple of 2, got 3"}},
		{"property names", `{"propertyNames": {"maxLength": 2}}`, `{"abc": {"x": 1}}`, []string{"/abc: must have at most 2 characters, has 3"}},
		{"properties", `{"minProperties": 2}`, `{}`, []string{"must have at least 2 properties, has 0"}},
		{"pattern properties are known", `{"patternProperties": {"^x": {}}, "additionalProperties": false}`, `{"xa": 1, "y": 1}`, []string{`unknown property "y"`}},
		{"not", `{"not": {"type": "string"}}`, `"x"`, []string{"has a form that is excluded"}},
		{"false", `{"properties": {"a": false}}`, `{"a": 1}`, []string{"/a: nothing is allowed here"}},
		{"a long value is shortened", `{"const": 1}`, `"` + strings.Repeat("x", 200) + `"`, []string{`expected 1, got "` + strings.Repeat("x", 79) + "..."}},
		{"dependent", `{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, []string{"property 'b' is required, if 'a' property exists"}},
		{"contains", `{"contains": {"type": "string"}}`, `[1]`, []string{"has too few items of the kind that it must contain"}},
		{"reference", `{"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}`, `true`, []string{"expected number, got boolean"}},
		{"with its own id", `{"$id": "https://example.com/x.json", "type": "number"}`, `true`, []string{"expected number, got boolean"}},
		{"draft 7", `{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}`, `[1]`, []string{"/0: expected string, got integer"}},
		{"huge number", `{"type": "integer"}`, `[1e999999999]`, []string{"/0: the number 1e999999999 is out of range"}},

		{"union, no form has the type", `{"anyOf": [{"type": "string"}, {"type": "array"}]}`, `1`, []string{"expected string or array, got integer"}},
		{"union, the form with the type speaks", `{"anyOf": [{"type": "string"}, {"type": "object", "required": ["a"]}]}`, `{}`, []string{`missing required property "a"`}},
		{"union, two fit one allowed", `{"oneOf": [{"type": "string"}, {"minLength": 1}]}`, `"x"`, []string{"fits more than one of the allowed forms, must fit exactly one"}},
		{"union inside a union", `{"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "array"}]}`, `1`, []string{"expected string, null or array, got integer"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := Compile([]byte(tt.schema))
			require.NoError(t, err)
			violations, err := s.Validate([]byte(tt.value))
			require.NoError(t, err)
			var got []string
			for _, v := range violations {
				got = append(got, v.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, pointer, message string }{
		{"no object", `"x"`, "", "expected object or boolean, got string"},
		{"unknown type", `{"properties": {"a": {"type": "strin"}}}`, "/properties/a/type", `"string"`},
		{"wrong keyword value", `{"minimum": "x"}`, "/minimum", "expected number, got string"},
		{"pattern", `{"properties": {"a": {"pattern": "("}}}`, "/properties/a/pattern", "missing closing"},
		{"pattern property", `{"patternProperties": {"(": {}}}`, "/patternProperties/(", "missing closing"},
		{"reference to the network", `{"properties": {"a": {"$ref": "https://example.com/x.json"}}}`, "/properties/a/$ref", "nothing is loaded from elsewhere"},
		{"reference to a file", `{"$ref": "file:///etc/passwd"}`, "/$ref", "nothing is loaded from elsewhere"},
		{"relative reference", `{"$ref": "other.json"}`, "/$ref", "nothing is loaded from elsewhere"},
		{"reference to nothing", `{"$ref": "#/$defs/x"}`, "/$ref", `there is nothing at "#/$defs/x"`},
		{"reference to itself", `{"$ref": "#"}`, "", "infinite loop"},
		{"unknown dialect", `{"$schema": "https://example.com/dialect"}`, "/$schema", "nothing is loaded from elsewhere"},
		{"huge number", `{"minimum": 1e999999999}`, "/minimum", "out of range"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile([]byte(tt.schema))
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, tt.pointer, invalid.Violations[0].Pointer)
			require.Contains(t, invalid.Violations[0].Message, tt.message)
			require.Contains(t, err.Error(), "not a valid JSON Schema: ")
		})
	}
}

func TestNotJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", "{} {}", "nope"} {
		_, err := Compile([]byte(text))
		require.ErrorIs(t, err, ErrNotJSON, "%q", text)
		_, err = Cascade().Validate([]byte(text))
		require.ErrorIs(t, err, ErrNotJSON, "%q", text)
	}
}

func TestReferenceWithAnnotationIsData(t *testing.T) {
	t.Parallel()
	_, err := Compile([]byte(`{"default": {"$ref": "#/nothing"}, "properties": {"$ref": {"type": "string"}}}`))
	require.NoError(t, err)
}

func TestEmbeddedSchemas(t *testing.T) {
	t.Parallel()
	violations, err := Cascade().Validate([]byte(`{"cascade_id": "x", "phases": [{"name": "a", "instructions": "b"}]}`))
	require.NoError(t, err)
	require.Empty(t, violations)
	violations, err = Tool().Validate([]byte(`{"tool_id": "x", "type": "shell", "comand": "ls"}`))
	require.NoError(t, err)
	require.Len(t, violations, 1)
	require.Equal(t, "comand", violations[0].Property)
	violations, err = Intra().Validate([]byte(`{"window": 5, "guard": {"warn": 80}, "truncation": true}`))
	require.NoError(t, err)
	require.Len(t, violations, 1)
	require.Equal(t, "warn", violations[0].Property)
	var doc struct {
		ID string `json:"$id"`
	}
	require.NoError(t, json.Unmarshal(CascadeJSON(), &doc))
	require.Equal(t, CascadeURL, doc.ID)
}

func TestJoin(t *testing.T) {
	t.Parallel()
	vs := []Violation{{Pointer: "/a", Message: "x"}, {Message: "y"}, {Message: "z"}}
	require.Equal(t, "/a: x; y; z", Join(vs, 3))
	require.Equal(t, "/a: x (and 2 more)", Join(vs, 1))
}

// Many goroutines get the same violations of one schema in the same order.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(`{"additionalProperties": {"type": "string"}, "required": ["z", "y"]}`))
	require.NoError(t, err)
	value := []byte(`{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "a10": 1}`)
	first, err := s.Validate(value)
	require.NoError(t, err)
	require.Len(t, first, 8)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				got, err := s.Validate(value)
				if err != nil || Join(got, 100) != Join(first, 100) {
					t.Errorf("got %v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzCompile checks that no schema and no value panic or hang.
func FuzzCompile(f *testing.F) {
	f.Add(`{"type": "object", "properties": {"a": {"$ref": "#"}}}`, `{"a": {}}`)
	f.Add(`{"pattern": "("}`, `"x"`)
	f.Add(`{"$ref": "#/properties/a", "properties": {"a": {"$dynamicRef": "#x"}}}`, `1`)
	f.Add(`{"$id": "x", "anyOf": [{"$anchor": "a"}, {"$ref": "#a"}]}`, `[1, 1e9]`)
	f.Add(`{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true}`, `1`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := Compile([]byte(schema))
		if err != nil {
			return
		}
		violations, err := s.Validate([]byte(value))
		if err != nil {
			return
		}
		for _, v := range violations {
			if v.Message == "" {
				t.Fatalf("a violation without a message: %+v", v)
			}
		}
	})
}
