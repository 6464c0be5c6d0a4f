package figures

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQuoted: a text is one string of SQL, in which everything is seen.
func TestQuoted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":            `''`,
		"it's":        `'it\'s'`,
		`a\`:          `'a\\'`,
		"ä ✓":         `'ä ✓'`,
		"a\x00\n\xff": `'a\x00\x0A\xFF'`,
		"\u202e":      `'\xE2\x80\xAE'`,
	} {
		require.Equal(t, want, Quoted(text))
	}
}
