package tool

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRiskyTrust(t *testing.T) {
	t.Parallel()
	for _, risky := range []string{"git log *", "git *", "find . *", "go test *", "/usr/bin/env *", "  rg -n  *", "sort *", "tar tf *", "npm run *"} {
		require.Len(t, RiskyTrust([]string{risky}), 1, risky)
	}
	require.Empty(t, RiskyTrust([]string{"go vet ./...", "git log", "wc -l *", "cat *", "*", "", " *"}))
	require.Equal(t, []string{`trusted_commands has "git log *": git can run other programs, or write files, for its arguments; write the whole command out, without *`},
		RiskyTrust([]string{"wc -l *", "git log *"}))
}
