package comparison

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMerged: phases of both stand in the order of the one, those of the other alone in place.
func TestMerged(t *testing.T) {
	t.Parallel()
	for want, of := range map[string][2]string{
		"":        {"", ""},
		"a b c":   {"a b c", "a b c"},
		"a x b":   {"a x b", "a b"},
		"a y b x": {"a b x", "a y b"},
		"c d a b": {"a b", "c d"},
		"b a":     {"a b", "b a"},
	} {
		require.Equal(t, want, strings.Join(merged(strings.Fields(of[0]), strings.Fields(of[1])), " "))
	}
}

// TestOutputs: texts are compared line by line, values as JSON, and no output is no text.
func TestOutputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b any
		want Output
	}{
		{nil, nil, Output{Equal: true}},
		{"x", "x\n", Output{Equal: true, LinesA: 1, LinesB: 1}},
		{"x\ny", "x\nz", Output{LinesA: 2, LinesB: 2, Line: 2, A: "y", B: "z"}},
		{"x", "x\ny", Output{LinesA: 1, LinesB: 2, Line: 2, B: "y"}},
		{nil, "", Output{LinesB: 1, Line: 1}},
		{map[string]any{"b": 1.0, "a": "<"}, map[string]any{"a": "<", "b": 2.0}, Output{LinesA: 4, LinesB: 4, Line: 3, A: `  "b": 1`, B: `  "b": 2`}},
		{"1", 1.0, Output{Equal: true, LinesA: 1, LinesB: 1}},
	} {
		got := newOutput(c.a, c.b)
		unified := got.Unified("A", "B")
		require.Equal(t, c.want.Equal, unified == "")
		got.was, got.is = nil, nil
		require.Equal(t, c.want, *got)
	}
	require.Equal(t, "--- A\n+++ B\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n", newOutput("x\ny", "x\nz").Unified("A", "B"))
}
