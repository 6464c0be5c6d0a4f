package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/snapshot/suite"
)

// TestExampleTests runs the tests of the examples as a person would, from this repository and with
// nothing else.
func TestExampleTests(t *testing.T) {
	t.Parallel()
	var out, errw bytes.Buffer
	code := run(t.Context(), []string{"test", "run", "../../examples/tests", "--json"}, nil, &out, &errw)
	require.Equal(t, exitOK, code, "%s%s", &out, &errw)
	var report suite.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &report))
	require.NotEmpty(t, report.Tests)
	require.Equal(t, len(report.Tests), report.Passed)
}
