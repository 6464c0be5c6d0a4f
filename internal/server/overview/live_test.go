package overview_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
)

// TestLiveRuns: the script of the list of runs is told when a session comes and when one goes on, and of nothing that the page
// shows already.
func TestLiveRuns(t *testing.T) {
	t.Parallel()
	b, desk := granting(t)
	session := func(id string) *os.File {
		dir := config.SessionDir(desk.Home, id)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		f, err := os.Create(filepath.Join(dir, journal.File))
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	session("first")
	seen := regexp.MustCompile(`data-live="(/live\?seen=[^"]+)"`)
	address := seen.FindStringSubmatch(b.open("/"))[1]
	require.Equal(t, address, seen.FindStringSubmatch(b.open("/"))[1], "nothing has changed")

	server := httptest.NewServer(b.page)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+address, nil)
	require.NoError(t, err)
	r.Host = "127.0.0.1:8765"
	r.Header.Set("Cookie", b.cookie)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	second := session("second")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	in := bufio.NewScanner(resp.Body)
	next := func() string {
		for in.Scan() {
			if line, ok := strings.CutPrefix(in.Text(), "data: changed "); ok {
				return line
			}
		}
		require.Fail(t, "the stream has ended", "%v", in.Err())
		return ""
	}
	came := next()
	require.NoError(t, os.Mkdir(config.SessionDir(desk.Home, "third"), 0o700))
	folder := next()
	require.NotEqual(t, came, folder, "a session begins with its folder")
	session("third")
	came = next()
	require.NotEqual(t, folder, came, "and then has a journal")
	require.NotContains(t, address, came)
	_, err = second.WriteString("more\n")
	require.NoError(t, err)
	require.NotEqual(t, came, next(), "it goes on")
	b.page.EndStreams()
	for in.Scan() {
		require.NotContains(t, in.Text(), "changed")
	}
}
