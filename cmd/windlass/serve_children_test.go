package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/server"
)

// TestServeChildren: over HTTP a run begins others as the command does. They are no runs of the list, do
// not run by themselves, and are cancelled and resumed with it.
func TestServeChildren(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.file("cascades/gated.json", strings.Replace(gated, `"type": "shell"`, `"type": "shell", "idempotent": true`, 1)) // it may be called again
	l.file("cascades/family.json", `{"cascade_id": "family", "phases": [{"name": "one", "tool": "set_state", "inputs": {"key": "out", "value": "{{ subs.gated }}"}, "sub_cascades": [{"ref": "gated.json"}]}]}`)
	s := l.serve("--root", "cascades", "--no-clickhouse", "--allow-commands")
	s.begin(`{"file": "family.json", "session_id": "top"}`)
	child := echo.ChildSession("top", echo.MustKey("one/child/gated"))
	l.awaitGate(child)
	require.Equal(t, []string{"top"}, idsOf(t, s, 10))
	require.Equal(t, "running", s.get(child).Status)
	detail, try := s.refused(409, server.NotRunning, http.MethodPost, "/api/sessions/"+child+"/cancel", nil)
	require.Equal(t, "the session "+child+" does not run by itself: session top has begun it", detail)
	require.Equal(t, "POST /api/sessions/top/cancel cancels that and all that it has begun", try)
	require.Equal(t, http.StatusAccepted, s.Do(t, http.MethodPost, "/api/sessions/top/cancel", nil).Status)
	until(t, "both are interrupted", func() bool { return s.get("top").Status == "interrupted" && s.get(child).Status == "interrupted" })
	until(t, "it is resumed", func() bool { return s.Do(t, http.MethodPost, "/api/sessions/top/resume", `{}`).Status < 300 })
	l.open(child)
	until(t, "both have completed", func() bool { return s.get("top").Status == "completed" && s.get(child).Status == "completed" })
	s.stop(exitOK)
}
