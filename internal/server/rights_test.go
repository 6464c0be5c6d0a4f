package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/server/token"
)

// rightsLab is a server with issued tokens, whose clock and audit are here.
type rightsLab struct {
	*testBundle
	book *token.Book

	mu    sync.Mutex
	now   time.Time
	lines []audit.Line
	err   error // of the audit
}

func newRightsLab(t *testing.T) *rightsLab {
	t.Helper()
	l := &rightsLab{book: token.NewBook(token.Folder(t.TempDir())), now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	l.testBundle = newBundle(t, Options{
		Issued: l.book, Now: func() time.Time { l.mu.Lock(); defer l.mu.Unlock(); return l.now },
		Audit: func(a audit.Line) error { l.mu.Lock(); defer l.mu.Unlock(); l.lines = append(l.lines, a); return l.err },
	})
	return l
}

func (l *rightsLab) as(t *testing.T, name string, rights ...token.Right) string {
	t.Helper()
	text, _, err := l.book.Issue(t.Context(), name, rights, time.Hour, l.now)
	require.NoError(t, err)
	return text
}

// bodies are those with which changes are taken.
var bodies = map[string]string{
	"/api/runs": `{"file": "a.json"}`, "/api/waits/{id}": `{"value": "x", "shown": "0"}`, "/api/signals": `{"name": "go"}`, "/api/sessions/{id}/audible": `{"text": "x"}`,
}

// send sends what a route takes.
func (l *rightsLab) send(t *testing.T, rt route, text string) (status int, kind, detail string) {
	t.Helper()
	path := strings.NewReplacer("{id}", "0123456789", "{call}", "1", "{n}", "1").Replace(rt.path)
	var body any
	if b := bodies[rt.path]; b != "" && rt.method == http.MethodPost {
		body = b
	}
	l.client.Token = text
	a := l.client.Do(t, rt.method, path, body)
	if a.Status >= 400 {
		kind, detail, _ = a.Problem(t)
	}
	return a.Status, kind, detail
}

// TestRights: each address needs its right and no other, whatever a token may do besides; the server's own token may everything.
func TestRights(t *testing.T) {
	t.Parallel()
	l := newRightsLab(t)
	l.fake.err = errors.New("what is granted gets this far")
	only := map[token.Right]string{}
	for _, r := range token.Rights() {
		only[r] = l.as(t, "only-"+string(r), r)
	}
	for _, rt := range routes() {
		for right, text := range only {
			status, kind, detail := l.send(t, rt, text)
			if right == rt.right && rt.path != "/api/page" {
				require.Contains(t, []int{http.StatusOK, http.StatusNotFound, http.StatusInternalServerError}, status, "%s %s", rt.method, rt.path)
				continue
			}
			require.Equal(t, http.StatusForbidden, status, "%s %s", rt.method, rt.path)
			require.Equal(t, string(NotGranted), kind)
			lacks := rt.right
			if right == rt.right { // the page shows everything that waits, and takes answers
				lacks = token.Read
			}
			require.Equal(t, fmt.Sprintf(`the token only-%s does not have the right %q`, right, lacks), detail)
		}
		status, _, _ := l.send(t, rt, testToken)
		require.NotEqual(t, http.StatusForbidden, status)
	}
	status, kind, _ := l.send(t, route{method: http.MethodPost, path: "/api/page"}, l.as(t, "both", token.Read, token.Answer))
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, string(NotFound), kind)
	require.Empty(t, l.fake.started)
}

// TestIssuedTokens: a running server sees tokens that are issued, revoked and expire; who answers is the token's name.
func TestIssuedTokens(t *testing.T) {
	t.Parallel()
	l := newRightsLab(t)
	ann := l.as(t, "ann", token.Answer)
	answer := route{method: http.MethodPost, path: "/api/waits/{id}"}
	status, _, _ := l.send(t, answer, ann)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, []string{"0123456789", "ann", "x"}, l.fake.asked)
	l.mu.Lock()
	l.now = l.now.Add(time.Hour)
	l.mu.Unlock()
	status, kind, detail := l.send(t, answer, ann)
	require.Equal(t, http.StatusUnauthorized, status)
	require.Equal(t, string(Unauthorized), kind)
	require.Equal(t, "the token ann has expired at 2026-11-24T13:00:00Z", detail)
	bob := l.as(t, "bob", token.Answer)
	status, _, _ = l.send(t, answer, bob)
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, l.book.Revoke(t.Context(), "bob"))
	status, _, detail = l.send(t, answer, bob)
	require.Equal(t, http.StatusUnauthorized, status)
	require.Equal(t, "the request has no token, or not the right one", detail)
}

// TestChangesAreAudited: each change over HTTP and each that was refused has a line; answers and signals have theirs from the desk.
func TestChangesAreAudited(t *testing.T) {
	t.Parallel()
	l := newRightsLab(t)
	ann := l.as(t, "ann", token.Read)
	run, cancel := route{method: http.MethodPost, path: "/api/runs"}, route{method: http.MethodPost, path: "/api/sessions/{id}/cancel"}
	l.send(t, run, testToken)
	l.send(t, run, ann)
	l.send(t, cancel, testToken)
	l.send(t, route{method: http.MethodPost, path: "/api/waits/{id}"}, testToken)
	l.send(t, route{method: http.MethodPost, path: "/api/signals"}, ann)
	l.send(t, route{method: http.MethodGet, path: "/api/sessions"}, ann)
	l.client.Token = testToken
	require.Equal(t, http.StatusBadRequest, l.client.Do(t, http.MethodPost, "/api/signals", "{").Status)
	for range strangers + 5 {
		l.send(t, run, "0123456789abcdef-tokem")
	}
	l.send(t, route{method: http.MethodGet, path: "/api/sessions"}, "0123456789abcdef-tokem")
	line := func(by, what, target, outcome, reason string) audit.Line {
		return audit.Line{At: l.now, By: by, Via: "http", What: what, Target: target, Outcome: outcome, Reason: reason}
	}
	want := []audit.Line{
		line("server", "run", "s1", "done", ""), line("ann", "run", "", "refused", "not_granted"), line("server", "cancel", "0123456789", "done", ""),
		line("ann", "signal", "", "refused", "not_granted"), line("server", "signal", "", "refused", "bad_request"),
	}
	for range strangers {
		want = append(want, line("", "request", "", "refused", "unauthorized"))
	}
	require.Equal(t, want, l.lines)
	l.mu.Lock()
	l.err = errors.New("no space")
	l.mu.Unlock()
	status, _, _ := l.send(t, run, testToken)
	require.Equal(t, http.StatusCreated, status, "it has begun")
	require.Contains(t, l.log.String(), "warning: the audit does not have run s1: no space")
}
