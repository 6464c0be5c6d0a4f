package schema

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// exampleCascades returns the cascades that come with windlass.
func exampleCascades(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../examples/cascades/*.json")
	require.NoError(t, err)
	found := map[string][]byte{}
	for _, path := range paths {
		if filepath.Ext(path[:len(path)-len(".json")]) == "" { // else a script
			found[path], err = os.ReadFile(path)
			require.NoError(t, err)
		}
	}
	require.NotEmpty(t, found)
	return found
}

// agree demands that what is accepted without compiling the schema is valid by the library, too. It
// returns whether it was accepted.
func agree(t testing.TB, whole *Schema, value []byte) bool {
	t.Helper()
	instance, err := decode(value)
	if err != nil || len(badNumbers(instance)) > 0 {
		return false
	}
	accepted, err := Cascade().accepts(t.Context(), instance)
	require.NoError(t, err)
	violations, err := whole.Validate(value)
	require.NoError(t, err)
	if accepted {
		require.Empty(t, violations, "%s", value)
	}
	return accepted
}

// TestValidWithoutCompiling: a cascade that is valid is accepted as it is, and is not when any value
// of it is left out, of another type, or out of bounds, unless the library accepts that as well.
func TestValidWithoutCompiling(t *testing.T) {
	t.Parallel()
	whole, err := CompileOwn(CascadeJSON())
	require.NoError(t, err)
	require.False(t, whole.plain)
	changes, accepted, turn := 0, 0, 0
	for path, data := range exampleCascades(t) {
		require.True(t, agree(t, whole, data), path)
		var doc any
		require.NoError(t, json.Unmarshal(data, &doc))
		mutate(doc, &turn, func(v any) { doc = v }, func() {
			changed, err := json.Marshal(doc)
			require.NoError(t, err)
			if changes++; agree(t, whole, changed) {
				accepted++
			}
		})
	}
	require.Greater(t, changes, 1000)
	require.Greater(t, accepted, 50)
	require.Greater(t, changes-accepted, 500)
}

// others are what values are replaced by, a few of them at each place, in turn.
var others = []any{nil, true, "", "x y", "10m", -1, 0, 1, 0.5, 1e6, 3e9, []any{}, []any{"x"}, map[string]any{}, map[string]any{"x": 1}}

// mutate calls try with every value inside v replaced by others, and with each member left out or
// renamed.
func mutate(v any, turn *int, set func(any), try func()) {
	for range 3 {
		*turn++
		set(others[*turn%len(others)])
		try()
	}
	set(v)
	switch v := v.(type) {
	case []any:
		for i := range v {
			mutate(v[i], turn, func(x any) { v[i] = x }, try)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := v[name]
			mutate(member, turn, func(x any) { v[name] = x }, try)
			delete(v, name)
			try()
			v[name+"x"] = member
			try()
			delete(v, name+"x")
			v[name] = member
		}
	}
}

// FuzzPlain holds what is accepted without compiling the cascade schema against the library.
func FuzzPlain(f *testing.F) {
	whole, err := CompileOwn(CascadeJSON())
	require.NoError(f, err)
	for _, data := range exampleCascades(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, value []byte) { agree(t, whole, value) })
}

// TestPlainSchemas: what is not known of a schema accepts nothing.
func TestPlainSchemas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`true`: true, `false`: false, `{}`: true, `[]`: false, `{"minLength": 1}`: false, `{"type": ["string"]}`: false,
		`{"$ref": "other.json"}`: false, `{"$ref": "#/$defs/none"}`: false, `{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}`: true,
		`{"pattern": "("}`: false, `{"pattern": "^t"}`: true, `{"pattern": "^x"}`: false, `{"minItems": 1, "minimum": 2}`: true,
		`{"anyOf": []}`: false, `{"enum": [1, [2], "text"]}`: true, `{"enum": "text"}`: false,
	} {
		doc, err := decode([]byte(text))
		require.NoError(t, err)
		got, err := (&Schema{doc: doc}).accepts(t.Context(), "text")
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
}

// BenchmarkLoadSchema checks a valid cascade as a process does that has not checked one before, and
// compiles the schema, which it did before.
func BenchmarkLoadSchema(b *testing.B) {
	data := exampleCascades(b)["../examples/cascades/minimal.json"]
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if violations, err := embedded("").Validate(data); err != nil || len(violations) > 0 {
				b.Fatal(violations, err)
			}
		}
	})
	b.Run("compile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := CompileOwn(CascadeJSON()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
