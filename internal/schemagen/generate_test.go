package schemagen

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/schema"
)

var update = flag.Bool("update", false, "rewrite the committed schema")

const committed = "../../schema/cascade.schema.json"

func TestCommittedSchemaIsCurrent(t *testing.T) {
	t.Parallel()
	want, err := Generate()
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(committed, want, 0o644))
	}
	got, err := os.ReadFile(committed)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the committed schema differs from the types; run: go test ./internal/schemagen -update\n%s", diff)
	}
	_, err = schema.Compile(want)
	require.NoError(t, err)
}
