package server

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/failure"
)

// An image of a question is sent as what it is and as nothing else; one that is not there is a problem.
func TestImages(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{})
	a := b.client.Do(t, http.MethodGet, "/api/waits/0123456789/images/1", nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.Equal(t, "\x89PNG", string(a.Body))
	for name, want := range map[string]string{
		"Content-Type": "image/png", "Content-Disposition": `attachment; filename="1-chart.png"`, "X-Content-Type-Options": "nosniff",
		"Cache-Control": "no-store", "Content-Security-Policy": "sandbox; default-src 'none'",
	} {
		require.Equal(t, want, a.Header.Get(name), name)
	}
	for path, want := range map[string]string{
		"2": "the wait 0123456789 has the images 1 to 1, and no 2", "0": `an image has a number from 1 to 8, not "0"`, "9": `an image has a number from 1 to 8, not "9"`,
		"x": `an image has a number from 1 to 8, not "x"`, "1%2e": `an image has a number from 1 to 8, not "1."`,
	} {
		a := b.client.Do(t, http.MethodGet, "/api/waits/0123456789/images/"+path, nil)
		require.Equal(t, http.StatusNotFound, a.Status, path)
		kind, detail, try := a.Problem(t)
		require.Equal(t, []string{string(NotFound), want, "GET /api/waits/ID lists the images of a wait"}, []string{kind, detail, try}, path)
	}
	b.fake.err = failure.New(failure.UnknownWait, errors.New("there is no such wait"), "")
	require.Equal(t, http.StatusNotFound, b.client.Do(t, http.MethodGet, "/api/waits/0123456789/images/1", nil).Status)
}
