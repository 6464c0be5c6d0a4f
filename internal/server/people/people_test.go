package people_test

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/people"
	"github.com/windlass-run/windlass/internal/waits"
)

var key = echo.MustKey("a/attempt1/turn1/tool1/wait")

// desk has one session that waits for a rating, and counts how often something was left.
func desk(t *testing.T) (d *people.Desk, id string, ready *atomic.Int64) {
	t.Helper()
	began := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	home := t.TempDir()
	h := journal.Header{SessionID: "s1", Rules: 1, StartedAt: began, Cascade: json.RawMessage(`{"cascade_id":"c"}`), Input: json.RawMessage(`{}`)}
	j, err := journal.Create(config.SessionDir(home, h.SessionID), h)
	require.NoError(t, err)
	wait, end := &echo.Entry{Key: key}, &echo.Entry{Key: echo.MustKey("run/end")}
	wait.Set(echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormRating, Question: "How good?", Most: 5}})
	end.Set(echo.RunEnd{Status: echo.StatusWaiting, Reason: echo.StopWaiting})
	for i, e := range []*echo.Entry{wait, end} {
		e.SessionID, e.Seq, e.At, e.CascadeID, e.Phase = h.SessionID, uint64(i+1), began, "c", "a"
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}
	j.Flush()
	require.NoError(t, j.Close(t.Context()))
	ready = &atomic.Int64{}
	return &people.Desk{Waits: waits.Desk{Home: home}, Ready: func() { ready.Add(1) }}, echo.WaitID("s1", key), ready
}

// TestAnswersAtOnce: of many answers at once one counts, whoever sends them; the others are told whose it is, and all are in the audit.
func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	d, id, ready := desk(t)
	const n = 16
	var all sync.WaitGroup
	var taken atomic.Int64
	for i := range n {
		all.Go(func() {
			_, err := d.Answer(t.Context(), &server.Caller{Name: string(rune('a' + i))}, id, &server.AnswerRequest{Value: json.Number("3")})
			p := server.ProblemOf(err)
			switch {
			case err == nil:
				taken.Add(1)
			case p.Kind != failure.AlreadyAnswered || p.Try != "GET /api/waits lists what is still open":
				t.Errorf("%s: %v", p.Kind, err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, taken.Load())
	require.EqualValues(t, 1, ready.Load(), "only the first one is ready")
	lines, damaged, err := audit.Read(d.Waits.Home, 100)
	require.NoError(t, err)
	require.Zero(t, damaged)
	require.Len(t, lines, n)
}

// TestRefusedForClients: what is refused has a kind and the next step of a client, and nothing is left.
func TestRefusedForClients(t *testing.T) {
	t.Parallel()
	d, id, ready := desk(t)
	ann := &server.Caller{Name: "ann"}
	for _, c := range []struct {
		id          string
		r           server.AnswerRequest
		kind        failure.Kind
		detail, try string
	}{
		{id, server.AnswerRequest{Value: json.Number("6")}, failure.InvalidAnswer, "the answer to wait " + id + " is not taken: the answer is a whole number from 1 to 5", "GET /api/waits/ID has the form that an answer fits"},
		{id, server.AnswerRequest{}, failure.InvalidAnswer, "the answer to wait " + id + " is not taken: the answer is a whole number from 1 to 5", "GET /api/waits/ID has the form that an answer fits"},
		{"0000000000", server.AnswerRequest{Value: "x"}, failure.UnknownWait, `there is no open wait "0000000000"`, "GET /api/waits lists them"},
		{id[:6], server.AnswerRequest{Value: "x"}, failure.UnknownWait, `there is no open wait "` + id[:6] + `"`, "GET /api/waits lists them"},
	} {
		_, err := d.Answer(t.Context(), ann, c.id, &c.r)
		p := server.ProblemOf(err)
		require.Equal(t, []any{c.kind, c.detail, c.try}, []any{p.Kind, p.Detail, p.Try})
	}
	_, err := d.List(t.Context(), "nobody")
	require.Equal(t, failure.UnknownSession, server.ProblemOf(err).Kind)
	_, err = d.Signal(t.Context(), ann, &server.SignalRequest{Name: "go", Data: strings.Repeat("x", 2<<20)})
	require.Equal(t, []any{failure.InvalidRequest, "send at most 1024 KiB, such as where the rest is"}, []any{server.ProblemOf(err).Kind, server.ProblemOf(err).Try})
	_, err = d.Signal(t.Context(), ann, &server.SignalRequest{Name: "go", Session: "../s1"})
	require.Equal(t, failure.UnknownSession, server.ProblemOf(err).Kind)
	_, err = d.Signal(t.Context(), ann, &server.SignalRequest{Name: "go", Letter: "../x"})
	require.Equal(t, failure.InvalidRequest, server.ProblemOf(err).Kind)
	require.EqualError(t, err, `"../x" is no id of a letter: it has 1 to 64 of a to z, 0 to 9 and -`)
	w, err := d.Get(t.Context(), id)
	require.NoError(t, err)
	require.Nil(t, w.Answer)
	require.Zero(t, ready.Load())
}

// TestSignalAgain: a request that is sent again with the letter of the client is one signal and gets the same answer; the same letter of
// another signal is refused. A letter is known by its session.
func TestSignalAgain(t *testing.T) {
	t.Parallel()
	d, _, ready := desk(t)
	ann := &server.Caller{Name: "ann"}
	ask := server.SignalRequest{Name: "go", Session: "s1", Letter: "build-7", Data: map[string]any{"n": json.Number("1")}}
	for range 3 {
		sent, err := d.Signal(t.Context(), ann, &ask)
		require.NoError(t, err)
		require.Equal(t, &server.SentSignal{Signal: "go", Letter: "build-7", Session: "s1"}, sent)
	}
	require.EqualValues(t, 3, ready.Load(), "the first answer may have been lost before the run was resumed")
	for _, other := range []server.SignalRequest{{Name: "stop", Session: "s1", Letter: "build-7", Data: ask.Data}, {Name: "go", Session: "s1", Letter: "build-7"}} {
		_, err := d.Signal(t.Context(), ann, &other)
		p := server.ProblemOf(err)
		require.Equal(t, []any{failure.LetterTaken, "another letter, or none, for another signal"}, []any{p.Kind, p.Try})
		require.Regexp(t, `^the letter build-7 was left already, and says something else: the signal "go", sent by ann \(http\) at 20`, p.Detail)
	}
	_, err := d.Signal(t.Context(), ann, &server.SignalRequest{Name: "go", Letter: "build-7"})
	require.NoError(t, err)
	for _, box := range []mailbox.Box{waits.Box(d.Waits.Home, "s1"), waits.HomeBox(d.Waits.Home)} {
		one, err := box.Take("go", "one", time.Time{})
		require.NoError(t, err)
		require.Equal(t, "build-7", one.Letter)
		none, err := box.Take("go", "two", time.Time{})
		require.NoError(t, err)
		require.Nil(t, none)
	}
}
