package term

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	const before = "{\n  \"n\": 1.50,\n  \"to\": \"prod\"\n}"
	require.Empty(t, Diff(before, before))
	require.Equal(t, []string{
		"@@ -1,4 +1,4 @@", " {", `   "n": 1.50,`, `-  "to": "prod"`, `+  "to": "staging"`, " }",
	}, Diff(before, "{\n  \"n\": 1.50,\n  \"to\": \"staging\"\n}"))
}
