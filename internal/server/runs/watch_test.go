package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/waits"
)

var began = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// watchLab is a home with a watcher whose clock stands, and what it has resumed.
type watchLab struct {
	*Watcher
	t       *testing.T
	log     bytes.Buffer
	now     time.Time
	resumed []string
	running map[string]bool
	err     error
}

func newWatchLab(t *testing.T) *watchLab {
	t.Helper()
	l := &watchLab{t: t, now: began.Add(time.Minute), running: map[string]bool{}}
	l.Watcher = &Watcher{
		desk: waits.Desk{Home: t.TempDir(), Now: func() time.Time { return l.now }},
		busy: func(id string) bool { return l.running[id] }, log: log.New(&l.log, "", 0), told: make(chan struct{}, 1), known: map[string]*watched{},
		resume: func(_ context.Context, id string) error { l.resumed = append(l.resumed, id); return l.err },
	}
	return l
}

// key is that of the only wait of each session.
var key = echo.MustKey("a/attempt1/turn1/tool1/wait")

// session makes a session that has ended: one that waits, or, with another status, has done so.
func (l *watchLab) session(h journal.Header, w echo.Wait, status echo.Status) *journal.Journal {
	l.t.Helper()
	h.Rules, h.StartedAt, h.Cascade, h.Input = 1, began, json.RawMessage(`{"cascade_id":"c"}`), json.RawMessage(`{}`)
	j, err := journal.Create(config.SessionDir(l.desk.Home, h.SessionID), h)
	require.NoError(l.t, err)
	wait, end := &echo.Entry{Key: key}, &echo.Entry{Key: echo.MustKey("run/end")}
	wait.Set(w)
	end.Set(echo.RunEnd{Status: status, Reason: echo.StopWaiting})
	for i, e := range []*echo.Entry{wait, end} {
		e.SessionID, e.Seq, e.At, e.CascadeID, e.Phase = h.SessionID, uint64(i+1), began, "c", "a"
		e.SetKeyFields()
		require.NoError(l.t, j.Write(e))
	}
	j.Flush()
	return j
}

func (l *watchLab) waits(id, root string, w echo.Wait) {
	l.t.Helper()
	h := journal.Header{SessionID: id}
	if root != "" {
		h.Root, h.ChildOf = root, root
	}
	require.NoError(l.t, l.session(h, w, echo.StatusWaiting).Close(l.t.Context()))
}

func (l *watchLab) answer(id string, via echo.Via) {
	l.t.Helper()
	w, err := l.desk.Get(l.t.Context(), echo.WaitID(id, key))
	require.NoError(l.t, err)
	require.NoError(l.t, l.desk.Answer(w, waits.Given{Value: "x", By: "ann", Via: via}))
}

func (l *watchLab) served(id string) {
	l.t.Helper()
	require.NoError(l.t, waits.Box(l.desk.Home, id).Mark(servedMark))
}

// look returns what one look has resumed.
func (l *watchLab) look() []string {
	l.resumed = nil
	l.Watcher.look(l.t.Context())
	return l.resumed
}

var question = echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: "Who?"}}

// TestWatchAnswers: an answer over HTTP or on the page resumes any session, another one only those of the server.
func TestWatchAnswers(t *testing.T) {
	t.Parallel()
	l := newWatchLab(t)
	for _, id := range []string{"command", "http", "mine", "page", "unanswered"} {
		l.waits(id, "", question)
	}
	l.served("mine")
	l.served("unanswered")
	require.Empty(t, l.look())
	l.answer("http", echo.ViaHTTP)
	l.answer("page", "page")
	l.answer("command", echo.ViaCommand)
	l.answer("mine", echo.ViaCommand)
	l.running["page"] = true
	require.Equal(t, []string{"http", "mine"}, l.look())
	l.running["page"] = false
	require.Equal(t, []string{"page"}, l.look(), "the others were resumed")
	require.Empty(t, l.log.String())
}

// TestWatchSignalsAndDeadlines: a signal, and a deadline to the second, resume the sessions of the server.
func TestWatchSignalsAndDeadlines(t *testing.T) {
	t.Parallel()
	l := newWatchLab(t)
	for id, w := range map[string]echo.Wait{
		"late": {Kind: echo.WaitQuestion, Form: question.Form, Timeout: 90}, "go": {Kind: echo.WaitSignal, Signal: "go"}, "other": {Kind: echo.WaitSignal, Signal: "go"},
	} {
		l.waits(id, "", w)
	}
	l.served("late")
	l.served("go")
	l.now = began.Add(90*time.Second - 1)
	require.Empty(t, l.look())
	l.now = began.Add(90 * time.Second)
	require.Equal(t, []string{"late"}, l.look())
	require.NoError(t, l.desk.Signal("", "go", echo.Answer{Letter: "l1", By: "ann", Via: echo.ViaCommand, At: l.now}))
	require.Equal(t, []string{"go"}, l.look())
}

// TestWatchChildren: an answer to a session that another one has begun resumes that.
func TestWatchChildren(t *testing.T) {
	t.Parallel()
	l := newWatchLab(t)
	l.waits("parent", "", echo.Wait{Kind: echo.WaitSignal, Signal: "never"})
	l.waits("child", "parent", question)
	require.Empty(t, l.look())
	l.answer("child", echo.ViaHTTP)
	require.Equal(t, []string{"parent"}, l.look())
}

// TestWatchOthers: what another process runs, and what does not wait, is left alone.
func TestWatchOthers(t *testing.T) {
	t.Parallel()
	l := newWatchLab(t)
	l.waits("ended", "", question)
	held := l.session(journal.Header{SessionID: "held"}, question, echo.StatusWaiting)
	require.NoError(t, l.session(journal.Header{SessionID: "failed"}, question, echo.StatusFailed).Close(t.Context()))
	l.served("failed")
	l.answer("held", echo.ViaHTTP)
	require.Empty(t, l.look())
	require.NoError(t, held.Close(t.Context()))
	require.Equal(t, []string{"held"}, l.look())
}

// TestWatchPauses: a session that cannot be resumed is tried again later and later, and the log says why once; one for which
// there is no place is tried at each look.
func TestWatchPauses(t *testing.T) {
	t.Parallel()
	l := newWatchLab(t)
	l.waits("s", "", question)
	l.answer("s", echo.ViaHTTP)
	l.err = server.NewProblem(server.TooManyRuns, "", "too many")
	require.Len(t, l.look(), 1)
	require.Len(t, l.look(), 1)
	l.err = errors.New("no key\nfor it")
	for _, pause := range []time.Duration{firstPause, 2 * firstPause, 4 * firstPause} {
		require.Len(t, l.look(), 1)
		l.now = l.now.Add(pause - 1)
		require.Empty(t, l.look())
		l.now = l.now.Add(1)
	}
	l.err = nil
	require.Len(t, l.look(), 1)
	require.Empty(t, l.look())
	require.Equal(t, "s: warning: it was not resumed: no key for it\n", l.log.String())
}

// TestWatchEnds: the watcher looks when it is told to, and ends with its context.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	l := newWatchLab(t)
	l.waits("s", "", question)
	l.answer("s", echo.ViaHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	resumed, ended := make(chan string), make(chan struct{})
	l.resume = func(_ context.Context, id string) error { resumed <- id; return nil }
	go func() { l.Watch(ctx, nil); close(ended) }()
	for range 3 {
		l.Look()
	}
	require.Equal(t, "s", <-resumed)
	cancel()
	<-ended
}

// TestWatchManySessions: a look reads the journals of sessions that wait once, whatever there is besides.
func TestWatchManySessions(t *testing.T) {
	t.Parallel()
	l := newWatchLab(t)
	for i := range 20 {
		l.waits(fmt.Sprintf("s%02d", i), "", question)
	}
	l.answer("s07", echo.ViaHTTP)
	require.Equal(t, []string{"s07"}, l.look())
	first := l.known["s00"].waits
	require.Empty(t, l.look())
	require.Same(t, first[0], l.known["s00"].waits[0], "it was not read again")
}
