//nolint:bodyclose // the bodies of a recorder are texts in memory
package page_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/server/page/pagetest"
)

// TestImages: the images of a question are shown by addresses of the page, with their names as texts, and are nothing
// but images, to whoever has the page open.
func TestImages(t *testing.T) {
	t.Parallel()
	asked := pagetest.Pictures()
	b := newBench(t, []pagetest.Named{asked, pagetest.Approval()})
	b.login()
	html := text(t, b.do(http.MethodGet, b.path("images"), nil))
	at := b.path("images") + "/images/"
	require.Contains(t, html, `<a href="`+at+`1"><img src="`+at+`1" alt="plots/load of all regions.png" width="1600" height="400"></a>`)
	require.Contains(t, html, `alt="plots/gnp&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt; .html"`)
	require.NotContains(t, html, "<script>alert")
	require.NotContains(t, html, "\u202e")
	require.NotContains(t, html, "base64", "the bytes are elsewhere")
	for i, file := range []string{"1-load-of-all-regions.png", "2-script.png"} {
		r := b.do(http.MethodGet, at+string(rune('1'+i)), nil)
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Equal(t, string(asked.Images[i].Data), text(t, r))
		require.Equal(t, "image/png", r.Header.Get("Content-Type"))
		require.Equal(t, `inline; filename="`+file+`"`, r.Header.Get("Content-Disposition"))
		require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "same-origin", r.Header.Get("Cross-Origin-Resource-Policy"))
		require.Equal(t, "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'", r.Header.Get("Content-Security-Policy"))
	}
	for _, path := range []string{at + "0", at + "3", at + "-1", at + "x", at + "1/", at, b.path("approval") + "/images/1", "/waits/0000000000/images/1"} {
		r := b.do(http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, r.StatusCode, path)
		require.Contains(t, r.Header.Get("Content-Type"), "text/html", path)
	}
	require.Contains(t, text(t, b.do(http.MethodGet, at+"3", nil)), "has the images 1 to 2, and no 3.")
	b.cookie = ""
	require.Equal(t, http.StatusUnauthorized, b.do(http.MethodGet, at+"1", nil).StatusCode)
	require.Equal(t, http.StatusForbidden, b.do(http.MethodGet, at+"1", nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image", "Sec-Fetch-Mode", "no-cors").StatusCode)
}
