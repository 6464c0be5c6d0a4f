package inspector_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// TestFamily: the screen of a run says where it was forked from, which sessions it has begun, and what it waits for.
func TestFamily(t *testing.T) {
	t.Parallel()
	forks, children, waits := 0, 0, 0
	for _, path := range inspectortest.Frozen(t, frozen) {
		rec, err := journal.Read(path)
		require.NoError(t, err)
		home := t.TempDir()
		session := inspectortest.Copy(t, home, path)
		page := inspectortest.New(t, home, nil).Open("/sessions/" + session)
		sums := record.Of(rec.Entries)
		if of := rec.Header.Parent; of != "" {
			require.Contains(t, page, `Forked from <a href="/sessions/`+of+`"><code>`+of+`</code></a>`)
			forks++
		}
		for _, c := range sums.Children() {
			require.Contains(t, page, `<a href="/sessions/`+c.Session+`"><code>`+c.Session+`</code></a>`)
			children++
		}
		for _, e := range record.OpenWaits(rec.Entries) {
			require.Contains(t, page, `<a href="/waits/`+echo.WaitID(session, e.Key)+`">`)
			waits++
		}
		require.Equal(t, len(sums.Children()) > 0, strings.Contains(page, `id="children"`))
	}
	require.Positive(t, forks)
	require.Positive(t, children)
	require.Positive(t, waits)
}

// TestMatrixBehindTheLastCall: an address that goes too far shows the last call.
func TestMatrixBehindTheLastCall(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inspectortest.Long{Calls: 5, Results: 1, Characters: 100}.Write(t, home, "long")
	require.Contains(t, inspectortest.New(t, home, nil).Open("/sessions/long/matrix?call=99999"), "Calls 5 to 5 of 5")
}

// TestLiveParts: what changes while a run goes on, and at its end, is in parts of the page that are fetched again.
func TestLiveParts(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session := inspectortest.Copy(t, home, frozen+"/rules7/rules7_values.jsonl")
	page := inspectortest.New(t, home, nil).Open("/sessions/" + session)
	parts := regexp.MustCompile(`id="(\w+)" data-part`).FindAllStringSubmatch(page, -1)
	var ids []string
	for _, p := range parts {
		ids = append(ids, p[1])
	}
	require.Equal(t, []string{"tabs", "title", "figures", "controls", "time", "went", "begun", "visits"}, ids)
}
