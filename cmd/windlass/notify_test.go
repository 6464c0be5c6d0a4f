package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/notify"
)

// TestNotifyWebhook: an address is told of a wait until it has taken it, and then not again, by runs and by resumes
// that find no answer; a failure changes no exit code.
func TestNotifyWebhook(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []notify.Notice
	status := http.StatusInternalServerError
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		var n notify.Notice
		if err := json.Unmarshal(body, &n); err != nil {
			t.Error(err)
		}
		told = append(told, n)
		w.WriteHeader(status)
	}))
	defer srv.Close()
	l := newLab(t, "")
	l.file("windlass.json", `{"notify": [{"webhook": "`+srv.URL+`/secret-path"}]}`)
	l.file("ask.json", `{"cascade_id": "ask", "phases": [
  {"name": "one", "tool": "ask_human", "inputs": {"question": "First?\nYes or no."}}, {"name": "two", "tool": "ask_human", "inputs": {"question": "Second?"}}]}`)
	l.file("ask.script.json", `{"phases": {}}`)
	sent := func() []notify.Notice {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(told)
	}
	first := l.run(7, "run", "ask.json", "--offline", "--no-clickhouse", "--session", "s")
	require.Contains(t, first.err.String(), ": it answered with 500; it is tried again when the run is resumed\n")
	require.NotContains(t, first.err.String(), "secret-path")
	require.Contains(t, l.run(7, "resume", "s").err.String(), ": it answered with 500\n")
	mu.Lock()
	status = http.StatusOK
	mu.Unlock()
	for range 2 {
		require.NotContains(t, l.run(7, "resume", "s").err.String(), "Warning")
	}
	got := sent()
	require.Len(t, got, 3, "it is told until it has taken it")
	require.Equal(t, got[0], got[2])
	require.WithinDuration(t, time.Now(), got[0].Since, time.Hour)
	got[0].Since = time.Time{}
	require.Equal(t, notify.Notice{
		ID: got[0].ID, Kind: "question", Session: "s", Root: "s", Cascade: "ask", Phase: "one", Question: "First?", Answer: "windlass answer " + got[0].ID,
	}, got[0])
	l.run(7, "answer", got[0].ID, "yes", "--resume")
	require.Len(t, sent(), 4)
	require.Equal(t, "Second?", sent()[3].Question)
}
