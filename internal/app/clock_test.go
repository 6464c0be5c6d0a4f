package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/waits"
)

// timed is a home with a clock of its own. Each run and each resumption is a process of its own: nothing but the home is
// common to them.
type timed struct {
	t    *testing.T
	home string
	dir  string
	now  time.Time
}

var timedFrom = time.Date(2026, 11, 23, 12, 0, 0, 123456000, time.UTC)

func newTimed(t *testing.T) *timed {
	t.Helper()
	return &timed{t: t, home: t.TempDir(), dir: t.TempDir(), now: timedFrom}
}

func (x *timed) desk() waits.Desk {
	return waits.Desk{Home: x.home, Now: func() time.Time { return x.now }}
}

// process does something with a run in an app that is opened and closed again.
func (x *timed) process(open func(ctx context.Context, a *App) (*Run, error)) (*engine.Result, error) {
	x.t.Helper()
	a, err := Open(Options{Home: x.home, Dir: x.dir, Version: "test", Now: func() time.Time { return x.now }})
	require.NoError(x.t, err)
	defer func() { require.NoError(x.t, a.Close()) }()
	r, err := open(x.t.Context(), a)
	if err != nil {
		return nil, err
	}
	res, err := r.Do(x.t.Context())
	require.Equal(x.t, Closing{}, r.Close())
	return res, err
}

func (x *timed) run(phases string) (*engine.Result, error) {
	x.t.Helper()
	return x.process(func(ctx context.Context, a *App) (*Run, error) {
		return a.Start(ctx, job(x.t, `{"cascade_id": "it", "inputs_schema": {"service": "which one"}, "phases": [`+phases+`]}`), options("s1"), Watch{})
	})
}

func (x *timed) resume() (*engine.Result, error) {
	x.t.Helper()
	return x.process(func(ctx context.Context, a *App) (*Run, error) {
		return a.Resume(ctx, "s1", ResumeOptions{Extensions: extensions()}, Watch{})
	})
}

// verifies demands that the record holds, also when its deadlines are long over.
func (x *timed) verifies() {
	x.t.Helper()
	a, err := Open(Options{Home: x.home, Dir: x.dir, Version: "test"})
	require.NoError(x.t, err)
	_, err = a.Verify(x.t.Context(), a.recording(x.t, "s1"), extensions())
	require.NoError(x.t, err)
	require.NoError(x.t, a.Close())
}

// answers returns the answers that are recorded.
func (x *timed) answers() (list []echo.Answer) {
	x.t.Helper()
	rec, err := journal.Read(filepath.Join(x.home, "sessions", "s1", journal.File))
	require.NoError(x.t, err)
	for _, e := range rec.Entries {
		if e.NodeType == echo.NodeAnswer {
			a, err := echo.Read[echo.Answer](e)
			require.NoError(x.t, err)
			list = append(list, a)
		}
	}
	return list
}

// timedWaits are the kinds of waits that have a deadline, a minute after they begin.
var timedWaits = map[string]struct {
	phases string
	signal string // which ends it; "": an answer
	value  any    // the answer, as it is given
	late   string // the error of a run that nobody has answered; "": it continues
}{
	"a question":    {phases: `{"name": "a", "tool": "request_decision", "inputs": {"question": "Q?", "options": ["yes", "no"], "timeout_seconds": 60}}`, value: "yes", late: "request_decision"},
	"input":         {phases: inputPhase(`"on_timeout": "continue"`), value: "yes"},
	"input, fail":   {phases: inputPhase(`"on_timeout": "fail"`), value: "yes", late: `nobody has answered "Q?" within 60 seconds, and on_timeout is fail`},
	"input, chosen": {phases: inputPhase(`"on_timeout": "default", "default_value": "no"`), value: "yes"},
	"a signal":      {phases: `{"name": "a", "tool": "await_signal", "inputs": {"signal_name": "go", "timeout": 60}}`, signal: "go"},
	"any, answered": {phases: anyOf, value: "yes"},
	"any, signal":   {phases: anyOf, signal: "go"},
}

const anyOf = `{"name": "a", "wait": {"any": [{"signal": "go"}, {"signal": "stop"}, {"ask": {"prompt": "Q?"}}], "timeout_seconds": 60}}`

func inputPhase(more string) string {
	return `{"name": "a", "tool": "set_state", "inputs": {"key": "x", "value": "y"}, "human_input": {"prompt": "Q?", "type": "text", "timeout_seconds": 60, ` + more + `}}`
}

// A wait ends at its deadline, to the nanosecond: what was said a second before counts, whenever the run is resumed, and what is said
// at the deadline or after it does not. The deadline is what is recorded.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	deadline := timedFrom.Add(time.Minute)
	for name, c := range timedWaits {
		say := func(x *timed) error {
			d := x.desk()
			if c.signal != "" {
				return d.Signal("s1", c.signal, echo.Answer{Letter: "letter", Value: "data", By: "ada", Via: echo.ViaCommand, At: x.now})
			}
			list, err := d.List(t.Context(), "")
			require.NoError(t, err)
			require.Len(t, list, 1)
			return d.Answer(list[0], waits.Given{Value: c.value, By: "ada", Via: echo.ViaCommand})
		}
		begin := func(t *testing.T) *timed {
			t.Helper()
			x := newTimed(t)
			res, err := x.run(c.phases)
			require.Error(t, err)
			require.Equal(t, echo.StatusWaiting, res.Status, err)
			return x
		}
		times := map[string]time.Time{"a second before": deadline.Add(-time.Second), "a moment before": deadline.Add(-1), "at it": deadline, "a second after": deadline.Add(time.Second)}
		for when, at := range times {
			t.Run(name+", said "+when, func(t *testing.T) {
				t.Parallel()
				x := begin(t)
				x.now = at
				err := say(x)
				if inTime := at.Before(deadline); inTime {
					require.NoError(t, err)
					id := waitOf(t, x)
					x.now = at.AddDate(0, 0, 7) // no process lives for a week
					res, err := x.resume()
					require.NoError(t, err)
					require.Equal(t, echo.StatusCompleted, res.Status)
					require.Len(t, x.answers(), 1)
					require.False(t, x.answers()[0].TimedOut)
					require.True(t, at.Equal(x.answers()[0].At))
					x.verifies()
					x.saysHowItEnded(id, c.signal)
					return
				}
				if c.signal == "" {
					require.EqualError(t, err, "the wait "+waitOf(t, x)+" ended without an answer at "+deadline.Local().Format("2006-01-02 15:04:05"))
					require.True(t, failure.Is(err, failure.AlreadyAnswered))
				} else {
					require.NoError(t, err, "it is kept for whoever waits next")
				}
				x.ends(c.late, deadline)
			})
		}
		t.Run(name+", nobody says anything", func(t *testing.T) {
			t.Parallel()
			x := begin(t)
			path := filepath.Join(x.home, "sessions", "s1", journal.File)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			x.now = deadline.Add(-1)
			_, err = x.resume()
			require.True(t, failure.Is(err, failure.Waiting), "%v", err)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), "nothing is written")
			x.now = deadline
			x.ends(c.late, deadline)
		})
		t.Run(name+", a week passes", func(t *testing.T) {
			t.Parallel()
			x := begin(t)
			x.now = deadline.AddDate(0, 0, 7)
			x.ends(c.late, deadline)
		})
	}
}

// saysHowItEnded: who comes later is told of no deadline where a signal or an answer was in time.
func (x *timed) saysHowItEnded(id, signal string) {
	x.t.Helper()
	_, err := x.desk().Find(x.t.Context(), id)
	if signal != "" {
		require.EqualError(x.t, err, fmt.Sprintf("there is no open wait %q", id))
	} else {
		require.ErrorContains(x.t, err, "the wait "+id+" was answered by ada (command) at ")
	}
}

// ends resumes a run whose wait ends without an answer.
func (x *timed) ends(late string, deadline time.Time) {
	x.t.Helper()
	res, err := x.resume()
	if late == "" {
		require.NoError(x.t, err)
		require.Equal(x.t, echo.StatusCompleted, res.Status)
	} else {
		require.ErrorContains(x.t, err, late)
	}
	require.Equal(x.t, []echo.Answer{{TimedOut: true, Via: echo.ViaClock, At: deadline}}, x.answers())
	x.verifies()
}

func waitOf(t *testing.T, x *timed) string {
	t.Helper()
	list, err := x.desk().List(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0].ID
}

// Somebody who began to answer before the deadline, and whose letter comes after the run has seen that it passed, is told: there is
// no letter that the run would never take.
func TestALetterAfterTheDeadlineIsRefused(t *testing.T) {
	t.Parallel()
	x := newTimed(t)
	_, err := x.run(inputPhase(`"on_timeout": "continue"`))
	require.Error(t, err)
	list, err := x.desk().List(t.Context(), "")
	require.NoError(t, err)
	x.now = timedFrom.Add(time.Minute)
	_, err = x.resume()
	require.NoError(t, err)
	x.now = timedFrom.Add(time.Minute - 1) // when it began
	err = x.desk().Answer(list[0], waits.Given{Value: "late", By: "ada", Via: echo.ViaCommand})
	require.EqualError(t, err, "the wait "+list[0].ID+" ended without an answer at "+timedFrom.Add(time.Minute).Local().Format("2006-01-02 15:04:05"))
	require.True(t, failure.Is(err, failure.AlreadyAnswered))
}

// An approval, and a question without a deadline, wait as long as it takes.
func TestWaitsWithoutADeadline(t *testing.T) {
	t.Parallel()
	for name, phase := range map[string]string{
		"an approval": `{"name": "a", "tool": "restart", "inputs": {"service": "x"}, "rules": {"approve": ["restart"]}}`,
		"a question":  `{"name": "a", "tool": "ask_human", "inputs": {"question": "Q?"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTimed(t)
			_, err := x.run(phase)
			require.Error(t, err)
			x.now = x.now.AddDate(10, 0, 0)
			_, err = x.resume()
			require.True(t, failure.Is(err, failure.Waiting), "%v", err)
			list, err := x.desk().List(t.Context(), "")
			require.NoError(t, err)
			require.Nil(t, list[0].Deadline)
			require.NoError(t, x.desk().Answer(list[0], waits.Given{Value: "allow", By: "ada", Via: echo.ViaCommand}))
			x.now = x.now.AddDate(0, 0, 7)
			res, err := x.resume()
			require.NoError(t, err)
			require.Equal(t, echo.StatusCompleted, res.Status)
			require.True(t, timedFrom.AddDate(10, 0, 0).Equal(x.answers()[0].At))
			x.verifies()
		})
	}
}
