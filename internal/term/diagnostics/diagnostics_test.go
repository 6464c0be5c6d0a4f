package diagnostics

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	Write(&out, cascade.Diagnostics{{
		Severity: cascade.SeverityError, Code: "invalid_script", File: "a\x1b[2J.json", Line: 3, Col: 5, EndCol: 8, SourceCol: 1,
		Source: `    foo: 1`, Message: "unknown key", Hint: "remove it",
	}})
	require.NotContains(t, out.String(), "\x1b", "a file's name moves no cursor, and there are no colours off a terminal")
	require.Contains(t, out.String(), ".json:3:5: error: unknown key [invalid_script]\n")
	require.Contains(t, out.String(), "    foo: 1\n")
	require.Contains(t, out.String(), "^^^\n")
	require.True(t, strings.HasSuffix(out.String(), "      = hint: remove it\n\n"), out.String())
}
