//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/servertest"
)

// serving is a windlass serve of a lab, with a client that holds every answer against the
// description.
type serving struct {
	*servertest.Client
	lab     *lab
	process *process
}

var listening = regexp.MustCompile(`listening on (https?://\S+)/api: `)

// serve starts the server on a free port of loopback and waits until it listens. The client shows
// the token that the command prints for it.
func (l *lab) serve(args ...string) *serving {
	l.t.Helper()
	return l.serveAt("127.0.0.1:0", args...)
}

// token returns what windlass serve token prints.
func (l *lab) token(args ...string) string {
	l.t.Helper()
	return strings.TrimSuffix(l.run(exitOK, append([]string{"serve", "token"}, args...)...).out.String(), "\n")
}

func (l *lab) serveAt(listen string, args ...string) *serving {
	l.t.Helper()
	return l.serveTo(&servertest.Client{}, listen, args...)
}

// serveTo starts the server for a client.
func (l *lab) serveTo(c *servertest.Client, listen string, args ...string) *serving {
	l.t.Helper()
	s := &serving{lab: l, Client: c}
	s.process = l.start(append([]string{"serve", "--listen", listen}, args...)...)
	var at string
	until(l.t, "the server listens", func() bool {
		m := listening.FindStringSubmatch(s.process.err.String())
		if m != nil {
			s.Base = strings.Replace(m[1], "[::]", "127.0.0.1", 1)
			_, at, _ = strings.Cut(m[1], "://")
		}
		return m != nil || s.process.ProcessState != nil
	})
	ask := []string{at}
	if i := slices.Index(args, "--token-file"); i >= 0 {
		ask = args[i : i+2]
	}
	s.Token = l.token(ask...)
	resp, err := s.client().Do(s.Request(l.t, http.MethodGet, "/api/openapi.json", nil))
	require.NoError(l.t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	data, err := io.ReadAll(resp.Body)
	require.NoError(l.t, err)
	require.Equal(l.t, http.StatusOK, resp.StatusCode, "%s", data)
	s.Description = servertest.Read(l.t, data)
	return s
}

func (s *serving) client() *http.Client {
	if s.HTTP != nil {
		return s.HTTP
	}
	return http.DefaultClient
}

// stop interrupts the server and demands an exit code.
func (s *serving) stop(code int) string {
	s.lab.t.Helper()
	require.NoError(s.lab.t, s.process.Process.Signal(os.Interrupt))
	require.Equal(s.lab.t, code, s.process.wait(), s.process.err.String())
	require.Empty(s.lab.t, s.process.out.String())
	return s.process.err.String()
}

// begin begins a run and demands that it is taken.
func (s *serving) begin(body any) server.Session {
	s.lab.t.Helper()
	a := s.Do(s.lab.t, http.MethodPost, "/api/runs", body)
	require.Equal(s.lab.t, http.StatusCreated, a.Status, "%s", a.Body)
	var begun server.Session
	a.Into(s.lab.t, &begun)
	require.Equal(s.lab.t, "running", begun.Status)
	require.Equal(s.lab.t, "/api/sessions/"+begun.ID, a.Header.Get("Location"))
	return begun
}

// get returns a session as it is now.
func (s *serving) get(id string) server.SessionDetail {
	s.lab.t.Helper()
	a := s.Do(s.lab.t, http.MethodGet, "/api/sessions/"+id, nil)
	require.Equal(s.lab.t, http.StatusOK, a.Status, "%s", a.Body)
	var d server.SessionDetail
	a.Into(s.lab.t, &d)
	return d
}

// refused demands that a request is refused, and why.
func (s *serving) refused(status int, kind failure.Kind, method, path string, body any) (detail, try string) {
	s.lab.t.Helper()
	a := s.Do(s.lab.t, method, path, body)
	require.Equal(s.lab.t, status, a.Status, "%s", a.Body)
	got, detail, try := a.Problem(s.lab.t)
	require.Equal(s.lab.t, string(kind), got)
	return detail, try
}

// sentEvent is one event of a stream.
type sentEvent struct{ id, name, data string }

// events follows a session to the end of the stream.
func (s *serving) events(path string, headers ...string) []sentEvent {
	s.lab.t.Helper()
	resp, err := s.client().Do(s.Request(s.lab.t, http.MethodGet, path, nil, headers...))
	require.NoError(s.lab.t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	return s.readEvents(resp.Body, -1)
}

// readEvents reads a stream up to n events, or to its end, and holds each entry against the
// description.
func (s *serving) readEvents(r io.Reader, n int) []sentEvent {
	s.lab.t.Helper()
	var out []sentEvent
	var e sentEvent
	buf := make([]byte, 0, 1<<16)
	one := make([]byte, 1)
	for n < 0 || len(out) < n {
		k, err := r.Read(one)
		if k == 0 && err != nil {
			require.ErrorIs(s.lab.t, err, io.EOF)
			return out
		}
		if one[0] != '\n' {
			buf = append(buf, one[0])
			continue
		}
		line := string(buf)
		buf = buf[:0]
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && e.name != "":
			s.checkEvent(e)
			out = append(out, e)
			e = sentEvent{}
		case field == "id":
			e.id = value
		case field == "event":
			e.name = value
		case field == "data":
			e.data = value
		default:
			require.True(s.lab.t, line == "" || strings.HasPrefix(line, ":"), "not a line of a stream: %q", line)
		}
	}
	return out
}

func (s *serving) checkEvent(e sentEvent) {
	s.lab.t.Helper()
	form := map[string]string{"end": "Session", "error": "Problem"}[e.name]
	switch {
	case e.id != "":
		form = "Entry"
	case e.name == "shutdown":
		require.Equal(s.lab.t, "{}", e.data)
		return
	}
	require.NotEmpty(s.lab.t, form, e.name)
	require.Empty(s.lab.t, s.Description.Violations(s.lab.t, s.Description.Components.Schemas[form], []byte(e.data)), e.data)
}

// sameAsJournal demands that events are the entries of a journal from a number on, each once and in
// order, and then the end with a status.
func (s *serving) sameAsJournal(events []sentEvent, id string, from int, status string) {
	s.lab.t.Helper()
	lines := journalOf(s.lab.t, s.lab.home, id)
	require.Len(s.lab.t, events, len(lines)-from+2)
	for i, e := range events[:len(events)-1] {
		seq := from + i
		require.Equal(s.lab.t, strconv.Itoa(seq), e.id)
		var want map[string]any
		require.NoError(s.lab.t, json.Unmarshal([]byte(lines[seq-1]), &want))
		delete(want, "sum") // of the journal's own chain
		wanted, err := json.Marshal(want)
		require.NoError(s.lab.t, err)
		require.JSONEq(s.lab.t, string(wanted), e.data)
		require.Equal(s.lab.t, want["node_type"], e.name)
	}
	last := events[len(events)-1]
	require.Equal(s.lab.t, "end", last.name)
	var end server.Session
	require.NoError(s.lab.t, json.Unmarshal([]byte(last.data), &end))
	require.Equal(s.lab.t, status, end.Status)
}

// gated is a cascade whose tool waits until its folder has a file with the name go.
const gated = `{"cascade_id": "gated", "tools": [{"tool_id": "wait", "type": "shell", "inputs_schema": {"dir": "a folder"},
	"command": "touch {{ dir }}/marker; until test -e {{ dir }}/go; do sleep 0.02; done; echo through"}],
	"phases": [{"name": "one", "tool": "wait", "inputs": {"dir": "{{ session.work_dir }}"}}]}`

// open lets a gated run go on.
func (l *lab) open(id string) {
	l.t.Helper()
	require.NoError(l.t, os.WriteFile(filepath.Join(l.home, "sessions", id, "work", "go"), nil, 0o600))
}

// awaitGate waits until a gated run stands before its gate.
func (l *lab) awaitGate(id string) {
	l.t.Helper()
	until(l.t, id+" waits", func() bool {
		_, err := os.Stat(filepath.Join(l.home, "sessions", id, "work", "marker"))
		return err == nil
	})
}

// inline is a request for a cascade that is sent itself.
func inline(cascade string, more ...string) string {
	return `{"cascade": ` + cascade + strings.Join(append([]string{""}, more...), ", ") + "}"
}

func newServeLab(t *testing.T, dsn string) *lab {
	t.Helper()
	l := newLab(t, dsn)
	require.NoError(t, os.Mkdir(filepath.Join(l.dir, "cascades"), 0o700))
	for name, text := range recorded {
		l.file(filepath.Join("cascades", name), text)
	}
	return l
}
