package filetype

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file is what its first bytes say; one that ends within them, or within its head, is cut off.
func TestOf(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 60)
	for begins, want := range map[string]string{
		"\x89PNG\r\n\x1a\n":            "image/png",
		"\xff\xd8\xff\xe0":             "image/jpeg",
		"GIF87a":                       "image/gif",
		"GIF89a":                       "image/gif",
		"RIFF\x00.\nzWEBPVP8L":         "image/webp",
		"%PDF-2.0":                     "application/pdf",
		"RIFF\x00\x00\x00\x00WAVEfmt ": "",
		"\x89PNG\n\x1a\n":              "",
		"a text":                       "",
		"<svg":                         "",
		" %PDF-1.4":                    "",
	} {
		is, whole := Of([]byte(begins + body))
		require.Equal(t, want, is, "%q", begins)
		require.Equal(t, want != "", whole, "%q", begins)
		if want != "" {
			is, whole = Of([]byte(begins[:3]))
			require.Equal(t, want, is, "%q", begins)
			require.False(t, whole, "%q", begins)
		}
	}
	for _, short := range []string{"", "x", "\x89P", "%P"} {
		is, _ := Of([]byte(short))
		require.Empty(t, is, "%q", short)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	require.True(t, Image.Takes("image/webp") && Any.Takes("image/webp") && Any.Takes("application/pdf") && PDF.Takes("application/pdf"))
	require.False(t, PDF.Takes("image/webp") || Image.Takes("application/pdf") || Kind("date").IsKnown())
	require.Equal(t, "image PDF image or PDF", strings.Join([]string{Image.Noun(), PDF.Noun(), Any.Noun()}, " "))
}
