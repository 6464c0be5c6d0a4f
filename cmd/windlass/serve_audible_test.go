//go:build unix

package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
)

// TestServeAudible: words that come over HTTP are told before the next turn of a run, once however often they are sent; what nobody
// would hear is refused, and each attempt is audited.
func TestServeAudible(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.file("cascades/talk.json", `{"cascade_id": "talk", "audibles": {"allow_retry": false}, "phases": [{"name": "draft", "instructions": "Write.", "tackle": ["ask_human"]}]}`)
	l.file("cascades/talk.script.json", `{"phases": {"draft": [{"calls": [{"tool": "ask_human", "arguments": {"question": "Which colour?"}}]}, {"text": "done"}]}}`)
	l.file("cascades/late.json", lateCascade)
	l.file("cascades/late.script.json", `{"phases": {}}`)
	s := l.serve("--no-clickhouse", "--offline", "--root", "cascades")
	s.begin(`{"file": "talk.json", "session_id": "talk"}`)
	q := s.awaitWait("talk", "")
	path := "/api/sessions/talk/audible"
	for _, body := range []string{`{"text": "Rather blue.", "letter": "mine-1"}`, `{"text": "Rather blue.", "letter": "mine-1"}`} {
		a := s.Do(t, http.MethodPost, path, body)
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		var said server.SaidAudible
		a.Into(t, &said)
		require.Equal(t, server.SaidAudible{Letter: "mine-1", Session: "talk", Status: echo.StatusWaiting}, said)
	}
	detail, _ := s.refused(409, failure.LetterTaken, http.MethodPost, path, `{"text": "Rather red.", "letter": "mine-1"}`)
	require.True(t, strings.HasPrefix(detail, "the letter mine-1 was left already, and says something else: "), detail)
	detail, try := s.refused(422, failure.InvalidRequest, http.MethodPost, path, `{"text": "x", "phase": "drafts"}`)
	require.Equal(t, []string{`cascade "talk" has no phase "drafts"`, "the phases that take audibles are draft"}, []string{detail, try})
	detail, _ = s.refused(422, failure.InvalidRequest, http.MethodPost, path, `{"text": "x", "retry": true}`)
	require.Equal(t, `cascade "talk" lets nobody take an answer back (allow_retry is false)`, detail)
	detail, _ = s.refused(422, failure.InvalidRequest, http.MethodPost, path, `{"text": " \n"}`)
	require.Equal(t, "the audible says nothing", detail)
	for _, body := range []string{`{}`, `{"text": ""}`, `{"text": 1}`, `{"text": "x", "letter": "../x"}`, `{"text": "x", "more": 1}`, `{"text": "` + strings.Repeat("x", 65537) + `"}`} {
		a := s.Do(t, http.MethodPost, path, body)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, a.Status, "%.100s", body)
	}
	s.refused(404, failure.UnknownSession, http.MethodPost, "/api/sessions/nothere/audible", `{"text": "x"}`)
	s.begin(`{"file": "late.json", "session_id": "late"}`)
	s.awaitWait("late", "")
	detail, _ = s.refused(422, failure.InvalidRequest, http.MethodPost, "/api/sessions/late/audible", `{"text": "x"}`)
	require.Equal(t, `no phase of cascade "late" takes audibles`, detail)

	require.Equal(t, http.StatusOK, s.Do(t, http.MethodPost, "/api/waits/"+q.ID, `{"value": "red"}`).Status)
	s.awaitStatus("talk", "completed")
	l.run(exitOK, "verify", "talk")
	shown := l.run(exitOK, "context", "show", "talk").out.String()
	require.Equal(t, 1, strings.Count(shown, "Rather blue."))
	s.refused(409, failure.NotResumable, http.MethodPost, path, `{"text": "too late"}`)
	again := s.Do(t, http.MethodPost, path, `{"text": "Rather blue.", "letter": "mine-1"}`)
	require.Equal(t, http.StatusAccepted, again.Status, "it was said and told, and the first answer may have been lost")
	s.refused(409, failure.LetterTaken, http.MethodPost, path, `{"text": "too late", "letter": "mine-1"}`)
	lines, _, err := audit.Read(l.home, 100)
	require.NoError(t, err)
	done := 0
	for _, x := range lines {
		if x.What == audit.Audible && x.Outcome == audit.Done {
			done++
			require.Equal(t, []string{"http", "talk", "mine-1"}, []string{x.Via, x.Session, x.Target})
		}
	}
	require.Equal(t, 3, done)
}
