//go:build unix

package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/waits"
)

// What waits in these tests: a question, then an approval; a signal.
const (
	shipCascade = `{"cascade_id": "ship", "phases": [
  {"name": "prepare", "instructions": "x", "tackle": ["request_decision", "write_file"], "rules": {"approve": ["write_*"]}}]}`
	shipScript = `{"phases": {"prepare": [
  {"calls": [{"tool": "request_decision", "arguments": {"question": "Who is it for?", "options": ["users", "developers"]}}]},
  {"calls": [{"tool": "write_file", "arguments": {"path": "note.md", "content": "Version 1.\n"}}]},
  {"text": "The note is written."}]}}`
	holdCascade = `{"cascade_id": "hold", "phases": [{"name": "hold", "tool": "await_signal", "inputs": {"signal_name": "go"}}]}`
	lateCascade = `{"cascade_id": "late", "phases": [{"name": "hold", "tool": "ask_human", "inputs": {"question": "Well?"}}]}`
)

func newWaitsLab(t *testing.T) (*lab, *serving) {
	t.Helper()
	l := newServeLab(t, "")
	for name, text := range map[string]string{
		"ship.json": shipCascade, "ship.script.json": shipScript, "hold.json": holdCascade, "hold.script.json": `{"phases": {}}`,
		"late.json": lateCascade, "late.script.json": `{"phases": {}}`,
	} {
		l.file("cascades/"+name, text)
	}
	return l, l.serve("--no-clickhouse", "--offline", "--root", "cascades")
}

// awaitWait returns the open wait of a session that is not this one.
func (s *serving) awaitWait(session, not string) *waits.Wait {
	s.lab.t.Helper()
	var found *waits.Wait
	until(s.lab.t, "session "+session+" waits", func() bool {
		var list []*waits.Wait
		s.Do(s.lab.t, http.MethodGet, "/api/waits?session="+session, nil).Into(s.lab.t, &list)
		if len(list) > 0 && list[0].ID != not {
			found = list[0]
		}
		return found != nil && s.get(session).Status == "waiting"
	})
	return found
}

func (s *serving) awaitStatus(session, status string) {
	s.lab.t.Helper()
	until(s.lab.t, "session "+session+" is "+status, func() bool { return s.get(session).Status == status })
}

// TestServeWaits: a run that was begun over HTTP is answered over HTTP, and the server resumes it each time; what is not an
// answer to what was shown is refused, and all of it is audited.
func TestServeWaits(t *testing.T) {
	t.Parallel()
	l, s := newWaitsLab(t)
	s.begin(`{"file": "ship.json", "session_id": "ship"}`)
	q := s.awaitWait("ship", "")
	require.Equal(t, []string{"ship", "ship", "prepare", "Who is it for?"}, []string{q.Session, q.Root, q.Phase, q.Asked})
	path := "/api/waits/" + q.ID
	ann := &serving{lab: l}
	client := *s.Client
	ann.Client = &client
	ann.Token = l.run(exitOK, "serve", "token", "create", "--rights", "read,answer", "--expires", "1h", "--name", "ann").out.String()[:64]

	detail, _ := ann.refused(422, failure.InvalidAnswer, http.MethodPost, path, `{"value": "martians"}`)
	require.Equal(t, "the answer to wait "+q.ID+" is not taken: the answer is one of the options: users, developers", detail)
	ann.refused(404, failure.UnknownWait, http.MethodPost, "/api/waits/0000000000", `{"value": "users"}`)
	short := q.ID[:6]
	detail, try := ann.refused(404, failure.UnknownWait, http.MethodPost, "/api/waits/"+short, `{"value": "users"}`)
	require.Equal(t, []string{`no wait can be named "` + short + `"`, "GET /api/waits lists them"}, []string{detail, try})
	ann.refused(403, server.NotGranted, http.MethodPost, "/api/sessions/ship/cancel", nil)
	a := ann.Do(t, http.MethodPost, path, `{"value": "users"}`)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	var answered server.AnsweredWait
	a.Into(t, &answered)
	require.Equal(t, server.AnsweredWait{Wait: q.ID, Session: "ship", Resume: "ship"}, answered)
	again := ann.Do(t, http.MethodPost, path, `{"value": "users"}`)
	require.Equal(t, http.StatusConflict, again.Status)
	var taken struct {
		Answered struct{ By, Via string }
	}
	again.Into(t, &taken)
	require.Equal(t, "ann", taken.Answered.By)
	require.Equal(t, "http", taken.Answered.Via)

	w := s.awaitWait("ship", q.ID)
	require.Equal(t, "write_file", w.Call.Tool)
	path = "/api/waits/" + w.ID
	detail, _ = ann.refused(422, failure.InvalidRequest, http.MethodPost, path, `{"value": "allow"}`)
	require.Equal(t, "the wait "+w.ID+" is for an approval, and the answer does not say what was shown", detail)
	ann.refused(409, failure.AlreadyAnswered, http.MethodPost, path, `{"value": "allow", "shown": "0000000000000000"}`)
	ann.refused(422, failure.InvalidAnswer, http.MethodPost, path, map[string]any{"value": map[string]any{"decision": "edit", "arguments": []int{1}}, "shown": w.Shown})
	require.Equal(t, http.StatusOK, ann.Do(t, http.MethodPost, path, map[string]any{"value": map[string]any{"decision": "allow"}, "shown": w.Shown, "grant": "session"}).Status)
	s.awaitStatus("ship", "completed")
	l.run(exitOK, "verify", "ship")
	require.Contains(t, l.run(exitOK, "grants").out.String(), "write_file")
	ann.refused(409, failure.AlreadyAnswered, http.MethodPost, path, map[string]any{"value": "allow", "shown": w.Shown})

	lines, damaged, err := audit.Read(l.home, 100)
	require.NoError(t, err)
	require.Zero(t, damaged)
	var got []string
	for _, x := range lines {
		got = append(got, x.By+" "+x.What+" "+x.Outcome+" "+x.Reason)
	}
	require.Equal(t, "server run done ", got[0])
	require.Equal(t, short, lines[4].Target)
	require.Contains(t, got[1], " token_create done ")
	require.Equal(t, []string{
		"ann answer refused invalid_answer", "ann answer refused unknown_wait", "ann answer refused unknown_wait", "ann cancel refused not_granted", "ann answer done ", "ann answer refused already_answered",
		"ann answer refused invalid_request", "ann answer refused already_answered", "ann answer refused invalid_answer", "ann answer done ", "ann answer refused already_answered",
	}, got[2:])
	l.run(exitOK, "serve", "token", "revoke", "ann")
	ann.refused(401, server.Unauthorized, http.MethodGet, "/api/waits", nil)
	require.NotContains(t, s.stop(exitOK), ann.Token)
}

// TestServeResumesSignals: a signal over HTTP resumes a run of the server, and an answer over HTTP one that the command began; an
// answer by the command resumes only the server's own.
func TestServeResumesSignals(t *testing.T) {
	t.Parallel()
	l, s := newWaitsLab(t)
	s.begin(`{"file": "hold.json", "session_id": "hold"}`)
	s.awaitWait("hold", "")
	require.Equal(t, http.StatusAccepted, s.Do(t, http.MethodPost, "/api/signals", `{"name": "go", "data": {"n": 1.50}}`).Status)
	s.awaitStatus("hold", "completed")
	l.run(exitOK, "verify", "hold")
	s.refused(404, failure.UnknownSession, http.MethodPost, "/api/signals", `{"name": "go", "session": "nobody"}`)
	s.refused(422, failure.InvalidRequest, http.MethodPost, "/api/signals", `{"name": " "}`)

	l.run(7, "run", "cascades/late.json", "--offline", "--no-clickhouse", "--root", "cascades", "--session", "mine")
	w := s.awaitWait("mine", "")
	require.Equal(t, http.StatusOK, s.Do(t, http.MethodPost, "/api/waits/"+w.ID, `{"value": "so"}`).Status)
	s.awaitStatus("mine", "completed")

	s.begin(`{"file": "late.json", "session_id": "served"}`)
	w = s.awaitWait("served", "")
	l.run(exitOK, "answer", w.ID, "so")
	s.awaitStatus("served", "completed")
	s.stop(exitOK)
}

// TestServeResumesAfterRestart: what was answered while no server was there is resumed by the next one.
func TestServeResumesAfterRestart(t *testing.T) {
	t.Parallel()
	l, s := newWaitsLab(t)
	s.begin(`{"file": "late.json", "session_id": "served"}`)
	w := s.awaitWait("served", "")
	s.stop(exitOK)
	l.run(exitOK, "answer", w.ID, "so")
	s = l.serve("--no-clickhouse", "--offline", "--root", "cascades")
	s.awaitStatus("served", "completed")
	s.stop(exitOK)
}
