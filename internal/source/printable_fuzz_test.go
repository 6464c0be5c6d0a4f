package source_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/source"
)

// A printable text is one line that neither commands a terminal nor reorders words; making it
// printable again changes nothing.
func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"plain", "\x1b]0;owned\x07", "\u009b31m", "\u202eevil\u202c", "a\r\nb\tc", "\xff\xfe", "\u2028", "e\u0301 👩‍👩‍👧", "\x7f\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean := source.Printable(s)
		require.Equal(t, clean, source.Printable(clean))
		require.Equal(t, utf8.RuneCountInString(s), utf8.RuneCountInString(clean))
		for _, r := range clean {
			require.False(t, unicode.IsControl(r) || unicode.Is(unicode.Cf, r), "%U", r)
		}
	})
}
