package filetype

import (
	"bytes"
	"image"
	"image/png"
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

// The size of an image is that of its head; one that does not say it has none.
func TestSize(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 640, 480))))
	rest := strings.Repeat("\x00", 20)
	for text, want := range map[string][2]int{
		b.String(): {640, 480},
		"RIFF\x16\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00\x2f\x7f\xc2\x77\x00" + rest:                     {640, 480},
		"RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x7f\x02\x00\xdf\x01\x00" + rest: {640, 480},
		"RIFF\x16\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\x80\x02\xe0\x01" + rest: {640, 480},
		"RIFF\x16\x00\x00\x00WEBPVP8?" + rest:                                                         {},
		"RIFF\x16\x00\x00\x00WEBPVP8X":                                                                {},
	} {
		width, height, err := Size([]byte(text))
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, [2]int{width, height}, "%q", text)
	}
	_, _, err := Size([]byte("\xff\xd8\xff\xe0 no image"))
	require.Error(t, err)
}
