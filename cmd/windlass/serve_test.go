//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/certificate/certificatetest"
	"github.com/windlass-run/windlass/internal/server/servertest"
)

// TestServeRun begins a run over HTTP, follows it, and holds what the API says of it against its
// journal, against what the commands say, and, without the journal, against ClickHouse.
func TestServeRun(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("cascades/README.md", "# A project\n")
	s := l.serve("--root", "cascades")
	begun := s.begin(inline(`{"cascade_id": "look", "inputs_schema": {"what": "a word"}, "phases": [
		{"name": "one", "instructions": "Look at {{ input.what }}.", "tackle": ["read_file", "list_files"]},
		{"name": "two", "instructions": "Say it again: {{ outputs.one }}"}]}`, `"input": {"what": "all"}`, `"model": "plain"`, `"models": {"one": "gpt-5-mini"}`))
	events := s.events("/api/sessions/" + begun.ID + "/events")
	s.sameAsJournal(events, begun.ID, 1, "completed")

	d := s.get(begun.ID)
	require.Equal(t, "look", d.CascadeID)
	require.Equal(t, "completed", d.Status)
	require.False(t, d.Resumable)
	require.Equal(t, "An answer in plain words.", d.Output)
	require.Equal(t, []uint64{2, 3, 2, 1}, []uint64{d.Phases, d.Calls, d.ToolCalls, d.UnknownCostCalls})
	require.Equal(t, int64(3600), d.TokensIn)
	require.Equal(t, "one", d.PhaseReports[0].Visit)
	require.Equal(t, []int{1, 2, 2, 2}, []int{d.PhaseReports[0].Attempts, d.PhaseReports[0].Turns, d.PhaseReports[0].Calls, d.PhaseReports[0].ToolCalls})
	require.Equal(t, d, s.get(begun.ID[:len(begun.ID)-1]), "by the beginning of its id")

	// From any point, without a gap and without a repetition.
	for _, from := range []int{1, 2, len(events) - 1, len(events)} {
		s.sameAsJournal(s.events(fmt.Sprintf("/api/sessions/%s/events?from=%d", begun.ID, from)), begun.ID, from, "completed")
		s.sameAsJournal(s.events("/api/sessions/"+begun.ID+"/events?from=99", "Last-Event-ID", fmt.Sprint(from-1)), begun.ID, from, "completed")
	}
	require.Len(t, s.events("/api/sessions/"+begun.ID+"/events?from=10000"), 1, "only the end")

	call := s.Do(t, http.MethodGet, "/api/sessions/"+begun.ID+"/context/one/attempt1/turn2", nil)
	require.Equal(t, http.StatusOK, call.Status)
	shown := l.run(exitOK, "context", "show", begun.ID, "--call", "2", "--json")
	require.JSONEq(t, shown.out.String(), string(call.Body))
	require.Equal(t, call.Body, s.Do(t, http.MethodGet, "/api/sessions/"+begun.ID+"/context/2", nil).Body)
	detail, _ := s.refused(404, failure.UnknownCall, http.MethodGet, "/api/sessions/"+begun.ID+"/context/9", nil)
	require.Equal(t, "session "+begun.ID+" has no model call number 9; it has 3 calls", detail)

	// What another machine ran, ClickHouse tells.
	require.Eventually(t, func() bool { return len(rowsBy(t, l, begun.ID)) == len(events)-1 }, deadline, 5*time.Millisecond)
	require.NoError(t, os.Rename(filepath.Join(l.home, "sessions", begun.ID), filepath.Join(l.dir, "gone")))
	elsewhere := s.get(begun.ID)
	s.sameHandoff(begun.ID, "completed")
	require.Equal(t, d, elsewhere)
	again := s.events("/api/sessions/" + begun.ID + "/events?from=3")
	require.Len(t, again, len(events)-2)
	require.Equal(t, "3", again[0].id)
	call = s.Do(t, http.MethodGet, "/api/sessions/"+begun.ID+"/context/2", nil)
	require.JSONEq(t, shown.out.String(), string(call.Body))
	require.Contains(t, idsOf(t, s, 1000), begun.ID)
	detail, _ = s.refused(409, failure.NotResumable, http.MethodPost, "/api/sessions/"+begun.ID+"/resume", nil)
	require.Equal(t, "the session "+begun.ID+" was run on another machine", detail)
	log := s.stop(exitOK)
	require.Contains(t, log, begun.ID+": begins: look (the cascade of the request)\n")
	require.Contains(t, log, " stopping: no new runs. Press Ctrl-C again to quit at once.\n", "%s", log)
}

// TestServeSoundings: the API says of candidates what the command says, in the form of its description.
func TestServeSoundings(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.file("cascades/c.json", `{"cascade_id": "c", "phases": [{"name": "draft", "instructions": "Write {{ sounding_index }}.",
		"soundings": {"factor": 2, "mutations": ["Be vivid."], "mutation_mode": "augment", "validator": "min_words:1", "reforge": {}}}]}`)
	l.file("cascades/c.script.json", `{"phases": {"draft": [{"text": "{{ input }}"}]}, "judges": {"*": {"prefer": ["vivid"]}}}`)
	l.run(exitOK, "run", "cascades/c.json", "--offline", "--no-clickhouse", "--session", "tried", "-q")
	l.file("cascades/w.json", `{"cascade_id": "w", "soundings": {"factor": 2, "reforge": {"factor_per_step": 1}}, "phases": [{"name": "draft",
		"instructions": "Write {{ sounding_index }}{% if input._refinement_context is defined %} better{% endif %}."}]}`)
	l.file("cascades/w.script.json", `{"phases": {"draft": [{"text": "{{ input }}"}]}, "judges": {"*": {"prefer": ["better"]}}}`)
	l.run(exitOK, "run", "cascades/w.json", "--offline", "--no-clickhouse", "--session", "whole", "-q")
	l.file("cascades/plain.json", `{"cascade_id": "plain", "phases": [{"name": "one", "tool": "list_files"}]}`)
	l.run(exitOK, "run", "cascades/plain.json", "--no-clickhouse", "--session", "none", "-q")
	s := l.serve("--root", "cascades")
	for _, id := range []string{"tried", "whole"} {
		a := s.Do(t, http.MethodGet, "/api/sessions/"+id+"/soundings", nil)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		require.JSONEq(t, l.run(exitOK, "soundings", id, "--json").out.String(), string(a.Body))
	}
	for _, x := range wholeSoundings(t, s.Do(t, http.MethodGet, "/api/sessions/whole/soundings", nil).Body) {
		child := s.Do(t, http.MethodGet, "/api/sessions/"+x.Session+"/soundings", nil)
		require.Equal(t, http.StatusOK, child.Status, "candidate %d of step %d is a session", x.Number, x.Index)
		require.JSONEq(t, "[]", string(child.Body), "which has no soundings of its own")
	}
	require.JSONEq(t, "[]", string(s.Do(t, http.MethodGet, "/api/sessions/none/soundings", nil).Body))
	s.refused(404, failure.UnknownSession, http.MethodGet, "/api/sessions/gone/soundings", nil)
	s.stop(exitOK)
}

// wholeSoundings reads the candidates of the soundings of a whole cascade that was refined once.
func wholeSoundings(t *testing.T, body []byte) []inspect.Candidate {
	t.Helper()
	var all []inspect.Sounding
	require.NoError(t, json.Unmarshal(body, &all), "%s", body)
	require.Len(t, all, 1)
	require.Empty(t, all[0].Phase)
	require.Equal(t, "run/reforge1/sounding1", all[0].Kept.String())
	require.Len(t, all[0].Steps, 2)
	list := slices.Concat(all[0].Steps[0].Candidates, all[0].Steps[1].Candidates)
	require.Len(t, list, 3)
	return list
}

// sameHandoff demands that the API says of where a run stands what the command says.
func (s *serving) sameHandoff(id, status string) {
	s.lab.t.Helper()
	a := s.Do(s.lab.t, http.MethodGet, "/api/sessions/"+id+"/handoff", nil)
	require.Equal(s.lab.t, http.StatusOK, a.Status, "%s", a.Body)
	require.JSONEq(s.lab.t, s.lab.run(exitOK, "sessions", "handoff", id, "--json").out.String(), string(a.Body))
	require.Contains(s.lab.t, string(a.Body), fmt.Sprintf(`"status":%q`, status))
}

func idsOf(t *testing.T, s *serving, limit int) []string {
	t.Helper()
	a := s.Do(t, http.MethodGet, fmt.Sprintf("/api/sessions?limit=%d", limit), nil)
	require.Equal(t, http.StatusOK, a.Status)
	var list server.SessionList
	a.Into(t, &list)
	ids := []string{}
	for i := range list.Sessions {
		ids = append(ids, list.Sessions[i].ID)
	}
	return ids
}

// TestServeList lists the sessions of this machine, whoever ran them, the newest first.
func TestServeList(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--root", "cascades", "--no-clickhouse")
	require.Equal(t, []string{}, idsOf(t, s, 10))
	for i := range 3 {
		l.run(exitOK, "run", "cascades/odd.json", "--offline", "--no-clickhouse", "--quiet", "--session", fmt.Sprintf("run-%d", i))
	}
	require.Equal(t, []string{"run-2", "run-1", "run-0"}, idsOf(t, s, 10))
	require.Equal(t, []string{"run-2", "run-1"}, idsOf(t, s, 2))
	detail, try := s.refused(404, failure.UnknownSession, http.MethodGet, "/api/sessions/run", nil)
	require.Equal(t, `"run" is the beginning of several sessions: run-0, run-1, run-2`, detail)
	require.Equal(t, "GET /api/sessions lists them", try)
	var found server.SessionDetail
	l.run(exitOK, "run", "cascades/odd.json", "--offline", "--no-clickhouse", "--quiet", "--session", "nightly-2")
	s.Do(t, http.MethodGet, "/api/sessions/tly-2", nil).Into(t, &found)
	require.Equal(t, "nightly-2", found.ID, "by the end of its id")
	for _, name := range []string{"last", found.CascadeID} { // what these mean changes between two requests
		detail, _ = s.refused(404, failure.UnknownSession, http.MethodGet, "/api/sessions/"+name, nil)
		require.Equal(t, fmt.Sprintf("no session %q on this machine", name), detail)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(l.home, "sessions", "nightly-2")))

	path := filepath.Join(l.home, "sessions", "run-1", "journal.jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), `"seq":2`, `"seq":7`, 1)), 0o600))
	a := s.Do(t, http.MethodGet, "/api/sessions", nil)
	var list server.SessionList
	a.Into(t, &list)
	require.Len(t, list.Sessions, 2)
	require.Len(t, list.Notes, 1)
	require.Contains(t, list.Notes[0], "session run-1 is left out: journal ")
	require.Contains(t, list.Notes[0], "is damaged at line 3")
	s.refused(503, failure.StorageFailed, http.MethodGet, "/api/sessions/run-1", nil)
	events := s.events("/api/sessions/run-1/events")
	require.Equal(t, "error", events[len(events)-1].name)
	require.Contains(t, events[len(events)-1].data, "is damaged at line 3")
	s.stop(exitOK)
}

// TestServeCancel interrupts a run: everything is recorded, its stream ends, and its place is free
// again. The limit of runs holds until then.
func TestServeCancel(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--root", "cascades", "--no-clickhouse", "--max-runs", "1", "--allow-commands")
	s.begin(inline(gated, `"session_id": "held"`))
	l.awaitGate("held")
	stream, err := http.DefaultClient.Do(s.Request(t, http.MethodGet, "/api/sessions/held/events", nil))
	require.NoError(t, err)
	defer stream.Body.Close() //nolint:errcheck // only read from
	first := s.readEvents(stream.Body, 3)
	s.sameHandoff("held", "running")
	require.Equal(t, "phase_start", first[2].name)
	require.Equal(t, "running", s.get("held").Status)
	require.Equal(t, "running", s.get("held").PhaseReports[0].Status)

	a := s.Do(t, http.MethodPost, "/api/runs", `{"file": "ask.json", "model": "plain"}`)
	require.Equal(t, http.StatusTooManyRequests, a.Status)
	require.Equal(t, "5", a.Header.Get("Retry-After"))
	_, detail, _ := a.Problem(t)
	require.Equal(t, "1 run is going on, which is the most that this server runs at once", detail)
	require.Len(t, idsOf(t, s, 10), 1, "nothing of it was begun")

	require.Equal(t, http.StatusAccepted, s.Do(t, http.MethodPost, "/api/sessions/held/cancel", nil).Status)
	s.sameAsJournal(append(first, s.readEvents(stream.Body, -1)...), "held", 1, "interrupted")
	d := s.get("held")
	require.True(t, d.Resumable)
	require.Equal(t, "interrupted", d.Reason)
	s.sameHandoff("held", "interrupted")
	detail, try := s.refused(409, server.NotRunning, http.MethodPost, "/api/sessions/held/cancel", nil)
	require.Equal(t, "the session held does not run in this server", detail)
	require.Equal(t, "GET /api/sessions/held shows how far it has come", try)
	s.refused(404, failure.UnknownSession, http.MethodPost, "/api/sessions/nobody/cancel", nil)

	until(t, "the place is free", func() bool {
		return s.Do(t, http.MethodPost, "/api/runs", `{"file": "ask.json", "model": "plain", "session_id": "next"}`).Status == http.StatusCreated
	})
	s.sameAsJournal(s.events("/api/sessions/next/events"), "next", 1, "completed")
	s.refused(409, failure.SessionExists, http.MethodPost, "/api/runs", `{"file": "ask.json", "model": "plain", "session_id": "next"}`)
	detail, try = s.refused(422, failure.InvalidRequest, http.MethodPost, "/api/runs", `{"file": "ask.json", "model": "plain", "session_id": "last"}`)
	require.Equal(t, `session id "last": commands use this name for the newest session`, detail)
	require.Equal(t, "another session_id, or none for a new one", try)
	s.stop(exitOK)
}

// TestServeStops: runs that finish in time end well; the others are interrupted and named.
// Meanwhile nothing new begins, and streams get to the end of what they follow.
func TestServeStops(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--root", "cascades", "--no-clickhouse", "--allow-commands", "--grace", "24h")
	s.begin(inline(gated, `"session_id": "slow"`))
	l.awaitGate("slow")
	require.NoError(t, s.process.Process.Signal(os.Interrupt))
	until(t, "it stops", func() bool { return strings.Contains(s.process.err.String(), "1 run has up to 24h0m0s to finish") })
	until(t, "nothing begins", func() bool {
		a := s.Do(t, http.MethodPost, "/api/runs", `{"file": "ask.json", "model": "hangs"}`)
		return a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "5"
	})
	require.Equal(t, "running", s.get("slow").Status, "what is there can still be asked for")
	l.open("slow")
	require.Equal(t, exitOK, s.process.wait(), s.process.err.String())
	require.Contains(t, s.process.err.String(), "slow: completed in ")

	s = l.serve("--root", "cascades", "--no-clickhouse", "--allow-commands", "--grace", "0s")
	s.begin(`{"file": "ask.json", "model": "hangs", "session_id": "cut-1"}`)
	s.begin(inline(gated, `"session_id": "cut-2"`))
	l.awaitGate("cut-2")
	l.awaitHanging("cut-1")
	other := l.start("run", "cascades/ask.json", "--model", "hangs", "--session", "other", "--no-clickhouse")
	until(t, "the other process runs", func() bool { return s.Do(t, http.MethodGet, "/api/sessions/other", nil).Status == http.StatusOK })
	streams := map[string]*http.Response{}
	for _, id := range []string{"cut-1", "cut-2", "other"} {
		resp, err := http.DefaultClient.Do(s.Request(t, http.MethodGet, "/api/sessions/"+id+"/events", nil))
		require.NoError(t, err)
		defer resp.Body.Close() //nolint:errcheck // only read from
		streams[id] = resp
	}
	log := s.stop(exitInterrupted)
	require.Contains(t, log, "Error: interrupted 2 runs: cut-")
	require.Regexp(t, `Try: windlass resume (cut-\d), or POST /api/sessions/(cut-\d)/resume\n$`, log)
	for _, id := range []string{"cut-1", "cut-2"} {
		s.sameAsJournal(s.readEvents(streams[id].Body, -1), id, 1, "interrupted")
	}
	events := s.readEvents(streams["other"].Body, -1)
	require.Equal(t, "shutdown", events[len(events)-1].name)
	require.NoError(t, other.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, other.wait())
}

// TestServeOtherProcesses follows sessions that this server does not run, to their end and to their
// death.
func TestServeOtherProcesses(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--no-clickhouse")
	for _, id := range []string{"ends", "dies"} {
		p := l.start("run", "cascades/ask.json", "--model", "hangs", "--session", id, "--no-clickhouse")
		until(t, "the model is asked", func() bool {
			lines, err := os.ReadFile(filepath.Join(l.home, "sessions", id, "journal.jsonl"))
			return err == nil && strings.Contains(string(lines), `"context_selection"`)
		})
		require.Equal(t, "running", s.get(id).Status)
		require.False(t, s.get(id).Resumable)
		s.refused(409, server.NotRunning, http.MethodPost, "/api/sessions/"+id+"/cancel", nil)
		if id == "ends" {
			require.NoError(t, p.Process.Signal(os.Interrupt))
		} else {
			require.NoError(t, p.Process.Kill())
		}
		status := map[string]string{"ends": "interrupted", "dies": "killed"}[id]
		s.sameAsJournal(s.events("/api/sessions/"+id+"/events"), id, 1, status)
		p.wait()
		d := s.get(id)
		require.Equal(t, status, d.Status)
		require.True(t, d.Resumable)
		require.Equal(t, status, d.PhaseReports[0].Status)
	}
	s.stop(exitOK)
}

// TestServeNothingYet shows a session that died before its first entry.
func TestServeNothingYet(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	dir := filepath.Join(l.home, "sessions", "empty")
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	j, err := journal.Create(dir, journal.Header{Rules: engine.Rules, SessionID: "empty", StartedAt: time.Unix(1e9, 0).UTC(), Cascade: []byte(`{"cascade_id": "c"}`), Input: []byte(`{}`)})
	require.NoError(t, err)
	s := l.serve("--no-clickhouse")
	require.Equal(t, "running", s.get("empty").Status)
	require.NoError(t, j.Close(context.Background()))
	d := s.get("empty")
	require.Equal(t, []string{"killed", "c", "2001-09-09T01:46:40Z"}, []string{d.Status, d.CascadeID, d.StartedAt.Format(time.RFC3339)})
	require.Len(t, s.events("/api/sessions/empty/events"), 1, "only the end")
	detail, try := s.refused(404, failure.NoHandoff, http.MethodGet, "/api/sessions/empty/handoff", nil)
	require.Equal(t, "the session has no entries yet", detail)
	require.Equal(t, "try again when the run has begun", try)
	s.refused(404, failure.UnknownCall, http.MethodGet, "/api/sessions/empty/context/1", nil)
	s.refused(503, failure.StorageFailed, http.MethodPost, "/api/sessions/empty/resume", nil)
	s.stop(exitOK)
	require.NoError(t, os.RemoveAll(dir)) // no run of windlass
}

// TestServeSlowReader: a client that reads nothing holds up nothing, and finds everything when it
// reads.
func TestServeSlowReader(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.file("cascades/big.json", `{"cascade_id": "big", "phases": [{"name": "one", "instructions": "{% for i in range(60) %}`+strings.Repeat("word ", 10_000)+`{% endfor %}"},
		{"name": "two", "instructions": "{{ history }}", "context": {"from": [{"phase": "one", "include": ["messages"]}]}}]}`)
	l.file("cascades/big.script.json", `{"phases": {"one": [{"text": "one"}], "two": [{"text": "two"}]}}`)
	s := l.serve("--root", "cascades", "--no-clickhouse", "--offline")
	s.begin(`{"file": "big.json", "session_id": "big"}`)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
	require.NoError(t, err)
	defer conn.Close() //nolint:errcheck // only read from
	_, err = fmt.Fprintf(conn, "GET /api/sessions/big/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", s.Token)
	require.NoError(t, err)
	until(t, "the run ends", func() bool { return s.get("big").Status == "completed" })
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	s.sameAsJournal(s.readEvents(bufio.NewReader(resp.Body), -1), "big", 1, "completed")
	s.stop(exitOK)
}

// TestServeGrants: what the flags do not grant no request gets.
func TestServeGrants(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.file("outside.json", recorded["ask.json"])
	l.file("outside.script.json", `{"phases": {"one": [{"text": "x"}]}}`)
	l.file("outside.tool.json", `{"tool_id": "secret", "type": "shell", "command": "echo TOPSECRET"}`)
	require.NoError(t, os.Mkdir(filepath.Join(l.dir, "cascades", "sub"), 0o700))
	for name, target := range map[string]string{
		"link.json": "../outside.json", "sub/inside.json": "../ask.json", "up": "..", "sub/scripted.json": "../ask.json",
		"sub/scripted.script.json": "../../outside.script.json", "absolute.json": filepath.Join(l.dir, "outside.json"),
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(l.dir, "cascades", name)))
	}
	for _, fifo := range []string{"pipe.json", "sub/piped.script.json"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(l.dir, "cascades", fifo), 0o600))
	}
	l.file("cascades/sub/piped.json", recorded["ask.json"])
	l.file("cascades/a\n2030 forged.json", recorded["ask.json"])
	l.file("cascades/bad.json", "{\n  \"cascade_id\": \"bad\",\n  \"phase\": []\n}\n")
	shell := `{"cascade_id": "c", "tools": [{"tool_id": "t", "type": "shell", "command": "touch pwned"}], "phases": [{"name": "one", "tool": "t"}]}`
	web := `{"cascade_id": "c", "tools": [{"tool_id": "t", "type": "http", "url": "http://169.254.169.254/"}], "phases": [{"name": "one", "tool": "t"}]}`
	judged := `{"cascade_id": "c", "phases": [{"name": "one", "instructions": "x", "rules": {"loop_until": "command:touch pwned"}}]}`
	handled := `{"cascade_id": "c", "phases": [{"name": "one", "tool": "read_file", "inputs": {"path": "x"}, "on_error": {"name": "two", "instructions": "x", "rules": {"loop_until": "command:true"}}}]}`
	l.file("cascades/shell.json", shell)
	tests := map[string]struct {
		body   string
		status int
		kind   failure.Kind
		detail string
	}{
		"a shell tool":              {inline(shell), 403, server.NotGranted, `the tool "t" runs a command, which this server was not started with --allow-commands for`},
		"a shell tool in a root":    {`{"file": "shell.json"}`, 403, server.NotGranted, `the tool "t" runs a command, which this server was not started with --allow-commands for`},
		"a validator":               {inline(judged), 403, server.NotGranted, `loop_until of the phase "one" runs a command, which this server was not started with --allow-commands for`},
		"a validator after a fault": {inline(handled), 403, server.NotGranted, `loop_until of the phase "two" runs a command, which this server was not started with --allow-commands for`},
		"an http tool":              {inline(web), 403, server.NotGranted, `the tool "t" sends requests over HTTP, which this server was not started with --allow-http for`},
		"outside":                   {`{"file": "../outside.json"}`, 403, server.NotGranted, "../outside.json is outside the folders that this server was started with"},
		"outside, absolute":         {`{"file": "/etc/passwd"}`, 403, server.NotGranted, "/etc/passwd is outside the folders that this server was started with"},
		"outside, around":           {`{"file": "sub/../../outside.json"}`, 403, server.NotGranted, "sub/../../outside.json is outside the folders that this server was started with"},
		"a link out":                {`{"file": "link.json"}`, 403, server.NotGranted, "a link in link.json leads out of the folder that this server was started with"},
		"an absolute link out":      {`{"file": "absolute.json"}`, 403, server.NotGranted, "a link in absolute.json leads out of the folder that this server was started with"},
		"a linked folder":           {`{"file": "up/outside.json"}`, 403, server.NotGranted, "a link in up/outside.json leads out of the folder that this server was started with"},
		"a script that leads out":   {`{"file": "sub/scripted.json", "offline": true}`, 403, server.NotGranted, "a link in scripted.script.json leads out of the folder that this server was started with"},
		"no file":                   {`{"file": "none.json"}`, 422, failure.InvalidRequest, "there is no file none.json in the folders that this server was started with"},
		"a folder":                  {`{"file": "sub"}`, 422, failure.InvalidRequest, "sub is not a file"},
		"a FIFO":                    {`{"file": "pipe.json"}`, 422, failure.InvalidRequest, "pipe.json is not a file"},
		"a script that is a FIFO":   {`{"file": "sub/piped.json", "offline": true}`, 422, failure.InvalidRequest, "piped.script.json is not a file"},
		"a long path":               {`{"file": "` + strings.Repeat("a/", 2000) + `b.json"}`, 422, failure.InvalidRequest, "there is no file a/a/a/"},
		"a NUL":                     {`{"file": "a\u0000b"}`, 403, server.NotGranted, "is outside the folders that this server was started with"},
		"no script":                 {`{"file": "ask.json", "offline": true}`, 422, failure.InvalidRequest, "there is no script beside ask.json"},
		"no script inline":          {inline(recorded["ask.json"], `"offline": true`), 422, failure.InvalidRequest, "a cascade that comes in a request has no script beside it to answer from offline"},
		"a broken cascade":          {`{"file": "bad.json"}`, 422, failure.InvalidCascade, "bad.json is not a valid cascade: 1 error"},
		"a broken cascade inline":   {inline(`{"cascade_id": "c"}`), 422, failure.InvalidCascade, "cascade.json is not a valid cascade: 1 error"},
		"a phase that is not":       {`{"file": "ask.json", "models": {"two": "plain"}}`, 422, failure.InvalidRequest, `model "plain" is named for the phase "two", and the cascade has no phase "two"`},
		"no model":                  {`{"file": "ask.json"}`, 422, failure.InvalidRequest, "no model: "},
		"an input that does not fit": {
			inline(`{"cascade_id": "c", "inputs_schema": {"type": "object", "required": ["n"], "properties": {"n": {}}, "additionalProperties": false}, "phases": [{"name": "one", "instructions": "x"}]}`, `"input": {"m": 1}`, `"model": "plain"`),
			422, failure.InvalidInput, `the input does not fit the cascade; /input: unknown input "m"; /input: missing input "n"`,
		},
	}
	s := l.serve("--root", "cascades", "--no-clickhouse")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := s.Do(t, http.MethodPost, "/api/runs", tt.body)
			kind, detail, try := a.Problem(t)
			require.Equal(t, tt.status, a.Status, "%s", a.Body)
			require.Equal(t, string(tt.kind), kind)
			require.Contains(t, detail, tt.detail)
			require.NotEmpty(t, try)
			require.NotContains(t, string(a.Body), "TOPSECRET")
		})
	}
	require.Empty(t, idsOf(t, s, 10), "no session was begun")
	a := s.Do(t, http.MethodPost, "/api/runs", `{"file": "bad.json"}`)
	var p struct {
		Diagnostics []struct {
			Line int
			File string
		}
	}
	a.Into(t, &p)
	require.Len(t, p.Diagnostics, 1)
	require.Equal(t, "bad.json", p.Diagnostics[0].File)

	// A phase with run_command, which nobody granted, begins no session; a link within the root leads
	// where it should; absolute paths are as good.
	refused := s.Do(t, http.MethodPost, "/api/runs", inline(`{"cascade_id": "c", "phases": [{"name": "one", "tool": "run_command", "inputs": {"command": "touch pwned"}}]}`, `"session_id": "command"`))
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Contains(t, string(refused.Body), "--allow-commands")
	require.Empty(t, idsOf(t, s, 10), "no session was begun")
	s.begin(`{"file": "sub/inside.json", "model": "plain", "session_id": "inside"}`)
	s.begin(fmt.Sprintf(`{"file": %q, "model": "plain", "session_id": "absolute"}`, filepath.Join(l.dir, "cascades", "ask.json")))
	for _, id := range []string{"inside", "absolute"} {
		s.sameAsJournal(s.events("/api/sessions/"+id+"/events"), id, 1, "completed")
	}
	require.NoFileExists(t, filepath.Join(l.dir, "cascades", "pwned"))
	s.begin(`{"file": "a\n2030 forged.json", "model": "plain", "session_id": "forged"}`)
	s.sameAsJournal(s.events("/api/sessions/forged/events"), "forged", 1, "completed")
	log := s.stop(exitOK)
	require.Contains(t, log, " forged.json)\n")
	require.NotContains(t, log, "\n2030", "a name does not begin a line of the log")

	// Without a folder there are only cascades in requests, and file tools have the session's own
	// folder.
	s = l.serve("--no-clickhouse")
	detail, _ := s.refused(403, server.NotGranted, http.MethodPost, "/api/runs", `{"file": "ask.json"}`)
	require.Equal(t, `the request names the file "ask.json", and this server was started without a folder of cascades`, detail)
	s.begin(inline(`{"cascade_id": "c", "phases": [{"name": "one", "tool": "read_file", "inputs": {"path": "`+filepath.Join(l.dir, "outside.json")+`"}}]}`, `"session_id": "reads"`))
	s.sameAsJournal(s.events("/api/sessions/reads/events"), "reads", 1, "failed")
	require.Contains(t, s.get("reads").Error, "outside the granted folders")
	s.stop(exitOK)
}

// TestServeResume goes on with sessions that did not come to their ends: nothing is asked twice,
// the stream goes on where it was, and what cannot go on is refused.
func TestServeResume(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.file("windlass.json", recorded["windlass.json"])
	s := l.serve("--no-clickhouse", "--allow-commands", "--max-runs", "1")
	two := `{"cascade_id": "two", "phases": [{"name": "one", "instructions": "x"}, {"name": "two", "instructions": "y"}]}`
	s.begin(inline(two, `"session_id": "limited"`, `"models": {"one": "plain", "two": "limited-once"}`))
	first := s.events("/api/sessions/limited/events")
	s.sameAsJournal(first, "limited", 1, "failed")
	require.True(t, s.get("limited").Resumable)
	asked := len(l.provider.Requests())
	before := s.get("limited")
	var a *servertest.Answer
	until(t, "its place is free", func() bool {
		a = s.Do(t, http.MethodPost, "/api/sessions/limit/resume", nil)
		return a.Status == http.StatusAccepted && a.Header.Get("Location") == "/api/sessions/limited"
	})
	requireGoesOn(t, before.Session, a)
	last := first[len(first)-2].id
	s.sameAsJournal(append(first[:len(first)-1:len(first)-1], s.events("/api/sessions/limited/events", "Last-Event-ID", last)...), "limited", 1, "completed")
	require.Len(t, l.provider.Requests(), asked+1, "only the call that failed is made again")
	d := s.get("limited")
	require.Equal(t, []uint64{2, 3}, []uint64{d.Phases, d.Calls})
	require.Equal(t, []string{"completed", "completed"}, []string{d.PhaseReports[0].Status, d.PhaseReports[1].Status})
	require.Empty(t, d.Error)
	detail, try := s.refused(409, failure.NotResumable, http.MethodPost, "/api/sessions/limited/resume", `{}`)
	require.Equal(t, "session limited: the run has completed: there is nothing to resume", detail)
	require.Equal(t, "POST /api/runs begins a new run", try)
	s.refused(404, failure.UnknownSession, http.MethodPost, "/api/sessions/nobody/resume", nil)

	// A budget that was too small, and one that is not.
	s.awaitPlace()
	s.begin(inline(recorded["ask.json"], `"budget": {"max_tokens": 10}`, `"model": "gpt-5-mini"`, `"session_id": "small"`))
	s.sameAsJournal(s.events("/api/sessions/small/events"), "small", 1, "over_budget")
	for _, again := range []struct{ body, status string }{{`{}`, "over_budget"}, {`{"budget": {"max_tokens": 90000}}`, "completed"}} {
		s.awaitPlace()
		require.Equal(t, http.StatusAccepted, s.Do(t, http.MethodPost, "/api/sessions/small/resume", again.body).Status)
		s.sameAsJournal(s.events("/api/sessions/small/events"), "small", 1, again.status)
	}

	// One that runs, here and elsewhere; and the limit of runs.
	s.awaitPlace()
	s.begin(inline(gated, `"session_id": "held"`))
	l.awaitGate("held")
	detail, _ = s.refused(409, failure.NotResumable, http.MethodPost, "/api/sessions/held/resume", nil)
	require.Equal(t, "the session held is running", detail)
	cut := l.start("run", "cascades/ask.json", "--model", "hangs", "--session", "cut", "--no-clickhouse", "--root", "cascades")
	until(t, "the model is asked", func() bool { return len(l.provider.Requests()) > asked+2 })
	a = s.Do(t, http.MethodPost, "/api/sessions/cut/resume", nil)
	require.Equal(t, http.StatusForbidden, a.Status, "it has a folder that the server has not")
	require.NoError(t, cut.Process.Kill())
	cut.wait()
	log := s.stopRunning("held")
	require.Contains(t, log, " limited: begins: two (the cascade of the request)\n")
	require.Contains(t, log, " limited: continues: two (the cascade of the request)\n")
}

// requireGoesOn demands that an answer has the figures of a session that goes on.
func requireGoesOn(t *testing.T, want server.Session, a *servertest.Answer) {
	t.Helper()
	var got server.Session
	a.Into(t, &got)
	want.Status, want.Reason, want.Error, want.Resumable = "running", "", "", false
	require.Equal(t, want, got)
}

// TestServeCancelSaysWhatWasDone: the answer has the figures of what was done until then.
func TestServeCancelSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--no-clickhouse")
	s.begin(inline(`{"cascade_id": "two", "phases": [{"name": "one", "instructions": "x"}, {"name": "two", "instructions": "y"}]}`,
		`"session_id": "held"`, `"models": {"one": "gpt-5-mini", "two": "hangs"}`))
	until(t, "the second phase asks", func() bool { return len(l.provider.Requests()) == 2 })
	now := s.get("held")
	require.Equal(t, []int64{2, 1, 1200, 40}, []int64{int64(now.Phases), int64(now.Calls), now.TokensIn, now.TokensOut})
	require.InDelta(t, 0.000335, *now.CostUSD, 1e-12)
	a := s.Do(t, http.MethodPost, "/api/sessions/held/cancel", nil)
	require.Equal(t, http.StatusAccepted, a.Status)
	requireGoesOn(t, now.Session, a)
	s.sameAsJournal(s.events("/api/sessions/held/events"), "held", 1, "interrupted")
	s.stop(exitOK)
}

// awaitPlace waits until the server has room for a run: one gives its place back a moment after its
// end is recorded. The session limited is there already, so nothing begins.
func (s *serving) awaitPlace() {
	s.lab.t.Helper()
	until(s.lab.t, "a place is free", func() bool {
		a := s.Do(s.lab.t, http.MethodPost, "/api/runs", inline(recorded["ask.json"], `"model": "plain"`, `"session_id": "limited"`))
		return a.Status == http.StatusConflict
	})
}

// stopRunning cancels a run and ends the server.
func (s *serving) stopRunning(id string) string {
	s.lab.t.Helper()
	require.Equal(s.lab.t, http.StatusAccepted, s.Do(s.lab.t, http.MethodPost, "/api/sessions/"+id+"/cancel", nil).Status)
	s.sameAsJournal(s.events("/api/sessions/"+id+"/events"), id, 1, "interrupted")
	return s.stop(exitOK)
}

// TestServeResumeKilled: the process of the server dies; the next one goes on with its run.
func TestServeResumeKilled(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--no-clickhouse", "--allow-commands")
	waits := strings.Replace(gated, `"type": "shell"`, `"type": "shell", "idempotent": true`, 1)
	s.begin(inline(waits, `"session_id": "dies"`))
	l.awaitGate("dies")
	require.NoError(t, s.process.Process.Kill())
	s.process.wait()
	s = l.serve("--no-clickhouse", "--allow-commands")
	d := s.get("dies")
	require.Equal(t, "killed", d.Status)
	require.True(t, d.Resumable)
	require.Equal(t, http.StatusAccepted, s.Do(t, http.MethodPost, "/api/sessions/dies/resume", nil).Status)
	require.Equal(t, "running", s.get("dies").Status)
	l.open("dies")
	s.sameAsJournal(s.events("/api/sessions/dies/events"), "dies", 1, "completed")
	require.Equal(t, "through\n", s.get("dies").Output)
	s.stop(exitOK)
}

// TestServeResumeGrants: a session keeps the rights that it was begun with, so a server that has
// fewer does not take it up.
func TestServeResumeGrants(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.file("windlass.json", recorded["windlass.json"])
	l.env = append(l.env, "SEEN=one")
	require.NoError(t, os.MkdirAll(filepath.Join(l.dir, "cascades", "elsewhere"), 0o700))
	l.file("cascades/elsewhere/windlass.json", recorded["windlass.json"])
	l.file("cascades/env.json", `{"cascade_id": "env", "phases": [{"name": "one", "instructions": "{{ env.SEEN }}"}]}`)
	begin := func(id string, args ...string) {
		l.run(exitProvider, append([]string{"run", "--session", id, "--model", "limited", "--no-clickhouse", "--quiet"}, args...)...)
	}
	begin("commands", "cascades/ask.json", "--root", "cascades", "--allow-commands")
	begin("env", "cascades/env.json", "--root", "cascades", "--allow-env", "SEEN")
	begin("writes", "cascades/ask.json", "--root", "cascades", "--allow-write", "flows/*.json")
	begin("folder", "cascades/ask.json")
	begin("fine", "cascades/ask.json", "--root", "cascades/elsewhere")
	dir := l.dir
	l.dir = filepath.Join(dir, "cascades", "elsewhere")
	begin("elsewhere", "../ask.json", "--root", "..")
	l.dir = dir
	s := l.serve("--root", "cascades", "--no-clickhouse")
	for id, want := range map[string]string{
		"commands":  "the session was begun with --allow-commands, which this server was not: it may run any command",
		"env":       "the session was begun with --allow-env SEEN, which this server was not: it sees the variable SEEN",
		"writes":    "the session was begun with --allow-write flows/*.json, which this server was not: it may write flows/*.json",
		"folder":    "the session was begun with --root " + l.dir + ", which this server was not: it may use the folder " + l.dir,
		"elsewhere": "the session was begun in " + filepath.Join(l.dir, "cascades", "elsewhere") + ", where another windlass.json holds than here",
	} {
		detail, try := s.refused(403, server.NotGranted, http.MethodPost, "/api/sessions/"+id+"/resume", nil)
		require.Equal(t, want, detail)
		require.NotEmpty(t, try)
		require.True(t, s.get(id).Resumable, "nothing was changed")
	}
	require.Equal(t, http.StatusAccepted, s.Do(t, http.MethodPost, "/api/sessions/fine/resume", nil).Status)
	s.sameAsJournal(s.events("/api/sessions/fine/events"), "fine", 1, "failed")
	s.stop(exitOK)

	// What a template sees has changed since: the run does not go the way that is recorded, and says
	// so.
	l.env = append(l.env, "SEEN=another")
	s = l.serve("--root", "cascades", "--no-clickhouse", "--allow-env", "SEEN", "--allow-write", "flows/*.json")
	require.Equal(t, http.StatusAccepted, s.Do(t, http.MethodPost, "/api/sessions/writes/resume", nil).Status)
	s.sameAsJournal(s.events("/api/sessions/writes/events"), "writes", 1, "failed")
	require.Equal(t, http.StatusAccepted, s.Do(t, http.MethodPost, "/api/sessions/env/resume", nil).Status)
	s.events("/api/sessions/env/events")
	require.Contains(t, s.get("env").Error, "another", "why it does not go on")
	require.Equal(t, "failed", s.get("env").Status)
	s.stop(exitOK)
}

// TestServeBudget: a run stops at the limit of the request, of the cascade or of the server,
// whichever counts.
func TestServeBudget(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--no-clickhouse", "--max-usd", "0.5", "--max-tokens", "100000")
	detail, try := s.refused(403, server.NotGranted, http.MethodPost, "/api/runs", inline(recorded["ask.json"], `"budget": {"max_usd": 2}`, `"model": "gpt-5-mini"`))
	require.Equal(t, "the request asks for a max_usd of 2, and this server grants a run 0.5 at most", detail)
	require.Equal(t, `"budget": {"max_usd": 0.5} or less`, try)
	s.refused(422, failure.InvalidRequest, http.MethodPost, "/api/runs", inline(recorded["ask.json"], `"budget": {"max_usd": -1}`))
	s.refused(400, server.BadRequest, http.MethodPost, "/api/runs", inline(recorded["ask.json"], `"budget": {"max_usd": -1}`, `"budget": {}`, `"model": "plain"`))
	require.Empty(t, idsOf(t, s, 10))
	s.begin(inline(recorded["ask.json"], `"budget": {"max_tokens": 10}`, `"model": "gpt-5-mini"`, `"session_id": "small"`))
	s.sameAsJournal(s.events("/api/sessions/small/events"), "small", 1, "over_budget")
	require.True(t, s.get("small").Resumable)
	require.Empty(t, l.provider.Requests(), "the call that would exceed it is not made")
	s.begin(inline(recorded["ask.json"], `"model": "gpt-5-mini"`, `"session_id": "enough"`))
	s.sameAsJournal(s.events("/api/sessions/enough/events"), "enough", 1, "completed")
	require.Contains(t, journalOf(t, l.home, "enough")[0], `"budget":{"max_usd":0.5,"max_tokens":100000}`)
	s.stop(exitOK)
}

// TestServeToken: the token that a person gives is demanded, no run sees it, and it is written
// nowhere.
func TestServeToken(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef0123"
	l := newServeLab(t, "")
	l.file("token", token+"\n")
	require.NoError(t, os.Chmod(filepath.Join(l.dir, "token"), 0o644))
	fromFile := l.serveAt("0.0.0.0:0", "--no-clickhouse", "--token-file", "token")
	require.Equal(t, token, fromFile.Token)
	log := fromFile.stop(exitOK)
	require.Contains(t, log, " warning: other users of this machine can use --token-file token (mode 0644): chmod 600\n")
	require.Contains(t, log, " warning: without --tls-cert and --tls-key the token and all that is asked and answered cross the network unencrypted")
	require.NotContains(t, log, token)
	require.NoDirExists(t, filepath.Join(l.home, "serve"), "no token is made where one is given")
	l.env = append(l.env, "WINDLASS_SERVE_TOKEN="+token)
	p := l.run(exitUsage, "serve", "--token-file", "token")
	require.Contains(t, p.err.String(), "Error: --token-file and WINDLASS_SERVE_TOKEN exclude each other\n")

	s := l.serveAt("0.0.0.0:0", "--no-clickhouse", "--allow-commands", "--allow-env", "WINDLASS_SERVE_TOKEN")
	require.Equal(t, token, s.Token)
	nobody := servertest.Client{Base: s.Base, Description: s.Description}
	a := nobody.Do(t, http.MethodPost, "/api/runs", inline(recorded["ask.json"]))
	require.Equal(t, http.StatusUnauthorized, a.Status)
	require.Equal(t, http.StatusOK, s.Do(t, http.MethodGet, "/api/sessions", nil, "Host", "windlass.example").Status, "a name of its own, with the token")
	s.begin(inline(`{"cascade_id": "c", "tools": [{"tool_id": "env", "type": "shell", "command": "env"}], "phases": [
		{"name": "one", "tool": "env"}, {"name": "two", "instructions": "[{{ env.WINDLASS_SERVE_TOKEN | default('nothing') }}]"}]}`, `"session_id": "env"`, `"model": "plain"`))
	s.sameAsJournal(s.events("/api/sessions/env/events"), "env", 1, "completed")
	for _, line := range journalOf(t, l.home, "env") {
		require.NotContains(t, line, token)
	}
	require.Contains(t, strings.Join(journalOf(t, l.home, "env"), "\n"), "[nothing]")
	require.NotContains(t, s.stop(exitOK), token)
}

// TestServeMadeToken: on loopback, too, nothing is answered without the token. Nobody has to give
// one: each server makes its own, in a file of its owner alone, and takes it away when it ends.
func TestServeMadeToken(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	nobodyServes := func() {
		t.Helper()
		p := l.run(exitUsage, "serve", "token")
		require.Equal(t, "Error: no server of this home folder is running that made a token\nTry: windlass serve starts one; a token of your own is that of WINDLASS_SERVE_TOKEN or --token-file FILE\n", p.err.String())
		require.Empty(t, p.out.String())
	}
	nobodyServes()
	s := l.serve("--root", "cascades", "--no-clickhouse")
	require.Regexp(t, "^[0-9a-f]{64}$", s.Token)
	require.Equal(t, "Authorization: Bearer "+s.Token, l.token("--header"))
	other := l.serve("--no-clickhouse")
	require.NotEqual(t, s.Token, other.Token)
	p := l.run(exitUsage, "serve", "token")
	require.Regexp(t, `^Error: several servers of this home folder made a token: 127.0.0.1:\d+, 127.0.0.1:\d+\nTry: windlass serve token 127.0.0.1:\d+\n$`, p.err.String())
	p = l.run(exitUsage, "serve", "token", "127.0.0.1:1")
	require.Contains(t, p.err.String(), "Error: no server of this home folder made a token for 127.0.0.1:1; there are 127.0.0.1:")
	file := filepath.Join(l.home, "serve", strings.ReplaceAll(strings.TrimPrefix(s.Base, "http://"), ":", "_")+".token")
	for path, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
	nobody := servertest.Client{Base: s.Base, Description: s.Description}
	for _, request := range []string{"POST /api/runs", "POST /api/sessions/x/resume", "GET /api/sessions", "GET /api/sessions/x/events", "GET /api/openapi.json", "GET /nothing"} {
		method, path, _ := strings.Cut(request, " ")
		var body any
		if method == http.MethodPost {
			body = `{"file": "ask.json", "model": "plain"}`
		}
		for _, wrong := range []string{"", "Bearer ", "Bearer " + s.Token[:63], "Bearer " + strings.Repeat("0", 64), "Basic " + s.Token, "Bearer " + other.Token} {
			a := nobody.Do(t, method, path, body, "Authorization", wrong)
			require.Equal(t, http.StatusUnauthorized, a.Status, "%s %q", request, wrong)
			require.Equal(t, `Bearer realm="windlass"`, a.Header.Get("WWW-Authenticate"))
			_, detail, try := a.Problem(t)
			require.Equal(t, "the request has no token, or not the right one", detail)
			require.Equal(t, "send the header Authorization: Bearer TOKEN; windlass serve token --header prints it", try)
		}
	}
	require.Empty(t, idsOf(t, s, 10), "nothing was begun")

	// What others can read is known to them.
	require.NoError(t, os.Chmod(file, 0o644))
	p = l.run(exitStorage, "serve", "token", strings.TrimPrefix(s.Base, "http://"))
	require.Equal(t, "Error: the token's file "+file+" can be used by other users of this machine (mode 0644)\nTry: others may know the token: stop the server, and remove the file\n", p.err.String())
	require.Empty(t, p.out.String())
	for _, one := range []*serving{s, other} {
		log := one.stop(exitOK)
		require.Regexp(t, `; token: `+regexp.QuoteMeta(filepath.Dir(file))+`/127\.0\.0\.1_\d+\.token; up to 8 runs\n`, log)
		require.NotContains(t, log, one.Token)
		require.NotContains(t, log, "warning: ")
	}
	require.NoFileExists(t, file)
	nobodyServes()

	// A server that was killed leaves its file, and nobody is told what is in it.
	s = l.serve("--no-clickhouse")
	require.NoError(t, s.process.Process.Kill())
	s.process.wait()
	require.FileExists(t, filepath.Join(l.home, "serve", strings.ReplaceAll(strings.TrimPrefix(s.Base, "http://"), ":", "_")+".token"))
	nobodyServes()
	again := l.serveAt(strings.TrimPrefix(s.Base, "http://"), "--no-clickhouse")
	require.NotEqual(t, s.Token, again.Token)
	again.stop(exitOK)

	require.NoError(t, os.Chmod(filepath.Dir(file), 0o755))
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0", "--no-clickhouse"}, {"serve", "token"}} {
		p = l.run(exitStorage, args...)
		require.Contains(t, p.err.String(), "Error: the token's folder "+filepath.Dir(file)+" can be used by other users of this machine (mode 0755)\nTry: make it yours alone: chmod 700 ")
	}
	require.NoError(t, os.RemoveAll(l.home))
	l.file("windlass", "")
	p = l.run(exitStorage, "serve", "--listen", "127.0.0.1:0", "--no-clickhouse")
	require.Regexp(t, `^Error: make the folder of the token: .*\nTry: set WINDLASS_SERVE_TOKEN or --token-file FILE, or WINDLASS_HOME to a folder that can be written\n$`, p.err.String())
	require.NoError(t, os.Remove(l.home))
}

// TestServeUnknown: a session that nobody has is unknown and nothing is out of reach, whatever is
// asked of it, also in a server without ClickHouse.
func TestServeUnknown(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--no-clickhouse")
	for _, path := range []string{"", "/handoff", "/context/1", "/context/..%2f", "/context/p%2Fattempt1", "/events"} {
		a := s.Do(t, http.MethodGet, "/api/sessions/nobody"+path, nil)
		require.Equal(t, http.StatusNotFound, a.Status, "%s: %s", path, a.Body)
	}
	detail, _ := s.refused(404, failure.UnknownSession, http.MethodGet, "/api/sessions/nobody/context/1", nil)
	require.Equal(t, `no session "nobody" on this machine`, detail)
	detail, try := s.refused(404, failure.UnknownCall, http.MethodGet, "/api/sessions/nobody/context/..%2f", nil)
	require.Equal(t, `no model call can be named "../"`, detail)
	require.Equal(t, "a call's number, such as 1, or its key, such as PHASE/attempt1/turn1", try)
	detail, try = s.refused(404, failure.UnknownSession, http.MethodGet, "/api/sessions/..%2f/handoff", nil)
	require.Equal(t, `no session can be named "../"`, detail)
	require.Equal(t, "GET /api/sessions lists them", try)
	detail, try = s.refused(404, server.NotFound, http.MethodGet, "/api/sessions/../sessions", nil)
	require.Equal(t, "there is nothing at /api/sessions/../sessions", detail)
	require.Equal(t, "ask for /api/sessions", try)
	s.stop(exitOK)
}

// TestServeTLS: with a certificate everything goes over TLS, also streams, over HTTP/2, and a
// renewed certificate is used without a restart.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	now := time.Now()
	write := func(serial int64) certificatetest.Files {
		return certificatetest.Write(t, l.dir, serial, now.Add(-time.Hour), now.Add(24*time.Hour))
	}
	files := write(1)
	var served *x509.Certificate
	dial := func(config *tls.Config) *http.Client {
		config.RootCAs = files.Pool
		config.VerifyConnection = func(state tls.ConnectionState) error { served = state.PeerCertificates[0]; return nil }
		tr := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}
	client := &servertest.Client{HTTP: dial(&tls.Config{})}
	s := l.serveTo(client, "127.0.0.1:0", "--root", "cascades", "--no-clickhouse", "--allow-commands", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	require.True(t, strings.HasPrefix(s.Base, "https://127.0.0.1:"), s.Base)
	a := s.Do(t, http.MethodGet, "/api/sessions", nil)
	require.Equal(t, []any{http.StatusOK, "HTTP/2.0"}, []any{a.Status, a.Proto})
	s.begin(inline(gated, `"session_id": "held"`))
	l.awaitGate("held")
	resp, err := s.HTTP.Do(s.Request(t, http.MethodGet, "/api/sessions/held/events", nil))
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	require.Equal(t, "HTTP/2.0", resp.Proto)
	first := s.readEvents(resp.Body, 3)
	require.Equal(t, "running", s.get("held").Status, "beside the open stream, over the same connection")
	l.open("held")
	s.sameAsJournal(append(first, s.readEvents(resp.Body, -1)...), "held", 1, "completed")
	a = (&servertest.Client{Base: s.Base, Description: s.Description, HTTP: s.HTTP}).Do(t, http.MethodGet, "/api/sessions", nil)
	require.Equal(t, http.StatusUnauthorized, a.Status)

	// Old TLS and none.
	_, err = tls.Dial("tcp", strings.TrimPrefix(s.Base, "https://"), &tls.Config{RootCAs: files.Pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	require.ErrorContains(t, err, "protocol version")
	plain, err := http.Get(strings.Replace(s.Base, "https:", "http:", 1) + "/api/sessions")
	require.NoError(t, err)
	require.NoError(t, plain.Body.Close())
	require.Equal(t, http.StatusBadRequest, plain.StatusCode)

	require.Equal(t, int64(1), served.SerialNumber.Int64())
	files = write(2)
	until(t, "the new certificate is used", func() bool {
		c := dial(&tls.Config{})
		resp, err := c.Do(s.Request(t, http.MethodGet, "/api/sessions", nil))
		return err == nil && resp.Body.Close() == nil && served.SerialNumber.Int64() == 2
	})
	log := s.stop(exitOK)
	require.Contains(t, log, " the certificate was read again; it is valid until ")
	require.Contains(t, log, " the certificate is valid until "+now.Add(24*time.Hour).UTC().Format(time.RFC3339)+"\n")

	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no key":         {[]string{"--tls-cert", "cert.pem"}, "Error: --tls-cert and --tls-key belong together, and only one of them is given\nTry: --tls-cert FILE --tls-key FILE, or neither\n"},
		"no certificate": {[]string{"--tls-key", "key.pem"}, "Error: --tls-cert and --tls-key belong together, and only one of them is given\nTry: --tls-cert FILE --tls-key FILE, or neither\n"},
		"swapped":        {[]string{"--tls-cert", "key.pem", "--tls-key", "cert.pem"}, "Error: --tls-cert: use the certificate key.pem with the key cert.pem: tls: "},
		"nothing there":  {[]string{"--tls-cert", "none.pem", "--tls-key", "key.pem"}, "Error: --tls-cert: stat none.pem: no such file or directory\nTry: --tls-cert FILE --tls-key FILE with a certificate that is valid now, and its key\n"},
	} {
		p := l.run(exitUsage, append([]string{"serve", "--no-clickhouse"}, tt.args...)...)
		require.Contains(t, p.err.String(), tt.want, name)
	}
}

// TestServeManyAtOnce begins, follows and reads runs from many clients at once.
func TestServeManyAtOnce(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	s := l.serve("--root", "cascades", "--no-clickhouse", "--max-runs", "4")
	const clients = 12
	done := make(chan int, clients)
	for i := range clients {
		go func() {
			taken := 0
			defer func() { done <- taken }()
			id := fmt.Sprintf("many-%d", i)
			for taken == 0 {
				a, err := post(t.Context(), s.Base+"/api/runs", s.Token, fmt.Sprintf(`{"file": "ask.json", "model": "plain", "session_id": %q}`, id))
				switch {
				case err != nil:
					return
				case a == http.StatusCreated:
					taken = 1
				case a != http.StatusTooManyRequests:
					return
				}
			}
		}()
	}
	total := 0
	for range clients {
		total += <-done
	}
	require.Equal(t, clients, total)
	for i := range clients {
		id := fmt.Sprintf("many-%d", i)
		s.sameAsJournal(s.events("/api/sessions/"+id+"/events"), id, 1, "completed")
	}
	ids := idsOf(t, s, 100)
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), clients)
	require.Len(t, l.provider.Requests(), clients)
	s.stop(exitOK)
}

func post(ctx context.Context, url, token, body string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// TestServeFaults: what is wrong with the server itself is said as that.
func TestServeFaults(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.env = append(l.env, "OPENAI_API_KEY=", "OPENAI_BASE_URL=https://models.example/v1")
	s := l.serve("--root", "cascades", "--no-clickhouse")
	detail, try := s.refused(503, failure.ModelUnavailable, http.MethodPost, "/api/runs", `{"file": "ask.json", "model": "plain"}`)
	require.Contains(t, detail, "no key: OPENAI_API_KEY is not set")
	require.True(t, strings.HasPrefix(try, "on the server: "), try)
	require.NoError(t, os.RemoveAll(l.home))
	require.NoError(t, os.WriteFile(l.home, nil, 0o600))
	detail, _ = s.refused(503, failure.StorageFailed, http.MethodPost, "/api/runs", inline(`{"cascade_id": "c", "phases": [{"name": "one", "tool": "list_files"}]}`))
	require.Contains(t, detail, "make session folder: ")
	var v any
	require.NoError(t, json.Unmarshal(s.Do(t, http.MethodGet, "/api/openapi.json", nil).Body, &v))
	s.stop(exitOK)
}
