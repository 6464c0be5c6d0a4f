package excerpt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHidden(t *testing.T) {
	t.Parallel()
	for _, seen := range []string{"", "a\tb\r\nc", "é 東京 مرحبا", "👩\u200d👧", "❤️", "می\u200cخواهم"} {
		_, is := FirstHidden(seen)
		require.False(t, is, seen)
		text, count := Unhidden(seen)
		require.Equal(t, seen, text)
		require.Zero(t, count)
	}
	for hidden, want := range map[string]string{
		"a\x00b": `a\u0000b`, "\x1b[31m": `\u001b[31m`, "a\u202eb": `a\u202eb`, "a\u200b": `a\u200b`, "\u2028": `\u2028`,
		"\u2066x\u2069": `\u2066x\u2069`, "\U000e0041": `\ue0041`, "\ufeff": `\ufeff`, "a\u00adb": `a\u00adb`, "\u3164": `\u3164`, "\u0085": `\u0085`,
	} {
		r, is := FirstHidden(hidden)
		require.True(t, is)
		require.True(t, Hidden(r))
		text, count := Unhidden(hidden)
		require.Equal(t, want, text)
		require.Positive(t, count)
	}
}
