//go:build unix

package browser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/server/page/pagetest"
)

// TestImages: a browser shows the images of a question, names them to those who cannot see them, and opens one by
// itself;
// the name of a file and a document of a model get nothing done with them.
func TestImages(t *testing.T) {
	s := newSite(t, []pagetest.Named{pagetest.Pictures()})
	b := enter(t, s)
	b.openUntilQuiet(s.url("images"))
	require.Equal(t, []int64{1600, 320}, js[[]int64](b, "[...document.images].map(i => i.naturalWidth)"))
	require.LessOrEqual(t, js[float64](b, "document.images[0].getBoundingClientRect().right"), js[float64](b, "document.documentElement.clientWidth"), "it fits")
	require.Equal(t, []string{"plots/load of all regions.png", `plots/gnp"><script>alert(1)</script> .html`}, js[[]string](b, "[...document.images].map(i => i.alt)"))
	require.Equal(t, int64(1), js[int64](b, "document.scripts.length"), "a name is no script")
	b.golden("images")
	b.picture("images")

	b.open(s.url("images") + "/images/1")
	require.Equal(t, []string{"image/png", "1600"}, js[[]string](b, "[document.contentType, String(document.images[0].naturalWidth)]"))

	stranger := newTab(t)
	stranger.open(s.url("images") + "/images/1")
	require.NotEqual(t, "image/png", js[string](stranger, "document.contentType"), "who has not opened the page sees no image")
}
