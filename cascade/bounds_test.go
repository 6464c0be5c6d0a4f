package cascade

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// phasesWith returns a cascade whose phases have an output_schema each.
func phasesWith(n int, schema string) []byte {
	phases := make([]string, n)
	for i := range phases {
		phases[i] = fmt.Sprintf(`{"name": "p%d", "instructions": "x", "output_schema": %s}`, i, schema)
	}
	return []byte("{\"cascade_id\": \"x\", \"phases\": [\n" + strings.Join(phases, ",\n") + "]}")
}

func wide(n int) string {
	return `{"allOf": [` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}`
}

// A schema that would keep the loader busy is an error with its place.
func TestHostileSchemasAreReported(t *testing.T) {
	t.Parallel()
	_, found, err := Parse("x.json", phasesWith(1, wide(100_000)), testKnown())
	require.Error(t, err)
	require.Equal(t, "x.json:2:54: error: output_schema is not a valid JSON Schema: the schema has too many subschemas: counted 100001, "+
		"at most 5000 are checked; split it, or check less with it [invalid_schema]", found[0].String())

	_, found, err = Parse("x.json", phasesWith(50, wide(999)), testKnown())
	require.Error(t, err)
	require.Len(t, found, 1, "all schemas together are bounded, and what follows is not compiled")
	require.Equal(t, "x.json:22:55: error: up to output_schema, the schemas of the cascade have 21000 subschemas in all, at most 20000 are checked [invalid_schema]",
		found[0].String())
	require.Equal(t, "split the cascade, or check less with its schemas", found[0].Hint)
}

// TestLoadingEndsWithItsContext: nobody waits for the diagnostics of somebody who went away.
func TestLoadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, found, err := ParseContext(ctx, "x.json", phasesWith(3, `{}`), testKnown())
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, `check cascade "x.json": context canceled`)
	require.Empty(t, found)
}

// TestLongJQ: a program is compiled only when its nesting cannot take much memory.
func TestLongJQ(t *testing.T) {
	t.Parallel()
	program := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	_, found, err := Parse("x.json", []byte(`{"cascade_id": "x", "tools": [{"tool_id": "t", "type": "shell", "description": "d", "command": "true", "response_jq": "`+
		program+`"}], "phases": [{"name": "p", "instructions": "x"}]}`), testKnown())
	require.Error(t, err)
	require.Equal(t, `response_jq of tool "t" has 2097152 bytes, more than the limit of 16384`, found[0].Message)
}
