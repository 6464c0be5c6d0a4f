package shape_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/shape"
)

func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	const open, closed = `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
		`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"number"}}}`
	for _, tt := range []struct {
		name, schema string
		path         []any
		at           int // -1: nothing is missing
		never        bool
		kind         string
	}{
		{"a member", open, []any{"x", "a"}, -1, false, ""},
		{"a member nobody names", open, []any{"x", "b"}, 1, false, ""},
		{"a member of an element", open, []any{"x", "a", int64(0), "b"}, 3, true, "a string"},
		{"a member that is kept out", closed, []any{"x", "b"}, 1, true, ""},
		{"a member of a number", closed, []any{"x", "a", "b"}, 2, true, "a number"},
		{"anything of what refers to another schema", `{"$ref":"#/x"}`, []any{"x", "b"}, -1, false, ""},
		{"anything of several types", `{"type":["object","null"]}`, []any{"x", "b"}, -1, false, ""},
	} {
		lack := shape.Of(json.RawMessage(tt.schema)).Missing(tt.path, 1)
		if tt.at < 0 {
			require.Nil(t, lack, tt.name)
			continue
		}
		require.NotNil(t, lack, tt.name)
		require.Equal(t, []any{tt.at, tt.never, tt.kind}, []any{lack.At, lack.Never, lack.Of.Kind}, tt.name)
	}
}

func TestShapesOfExamples(t *testing.T) {
	t.Parallel()
	s := shape.OfSample(map[string]any{"id": "", "n": 1, "ok": true, "list": []any{}, "any": map[string]any{}})
	require.Nil(t, s.Missing([]any{"session", "any", "x"}, 1))
	require.True(t, s.Missing([]any{"session", "x"}, 1).Never)
	for name, kind := range map[string]string{"id": "a string", "n": "a number", "ok": "a boolean", "list": "a list"} {
		require.Equal(t, kind, s.Missing([]any{"session", name, "x"}, 1).Of.Kind, name)
	}
}
