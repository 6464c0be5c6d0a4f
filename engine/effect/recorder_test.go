package effect

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// sink keeps entries, and counts how often it was to make them durable.
type sink struct {
	entries []*echo.Entry
	commits int
	fail    error
}

func (s *sink) Write(e *echo.Entry) error {
	if s.fail != nil {
		return s.fail
	}
	s.entries = append(s.entries, e)
	return nil
}

func (*sink) Flush()    {}
func (s *sink) Commit() { s.commits++ }

// Wait ends as that of a journal does: with the cause of the end of ctx.
func (*sink) Wait(ctx context.Context) error { return context.Cause(ctx) }
func (*sink) Close(context.Context) error    { return nil }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// minutely makes entries of keys, each recorded a minute after the one before it.
func minutely(keys ...string) []*echo.Entry {
	list := recorded(keys...)
	for i, e := range list {
		e.At = start.Add(time.Duration(i) * time.Minute)
	}
	return list
}

func resumption(seq uint64, at time.Time) *echo.Entry {
	return &echo.Entry{Seq: seq, NodeType: echo.NodeResume, Key: echo.RunKey().Step(echo.StepResume), At: at}
}

func state(key string) *echo.Entry {
	return &echo.Entry{NodeType: echo.NodeState, Key: echo.MustKey(key), Data: json.RawMessage(`1`)}
}

// Time in a branch is when the entry that it used last was recorded; as long as it used none, it is
// that of the branch that it grows from.
func TestTimeOfARecording(t *testing.T) {
	t.Parallel()
	r := NewRecorder(Options{Recording: minutely(one, "p/item1/start", "p/item2/start", itemOne, itemTwo, "p/item1/end", "p/item2/end")})
	holds := func(branch string, minutes int) {
		t.Helper()
		key := echo.Key{}
		if branch != "" {
			key = echo.MustKey(branch)
		}
		at, away := r.Time(key)
		require.Equal(t, start.Add(time.Duration(minutes)*time.Minute), at)
		require.Zero(t, away)
	}
	holds("", 0)
	holds("p/item2", 0)
	require.NoError(t, r.Append(state(one)))
	require.NotNil(t, r.Next(echo.NodeBranchStart, echo.MustKey("p/item1/start")))
	holds("p/item1", 1)
	require.NotNil(t, r.Next(echo.NodeBranchStart, echo.MustKey("p/item2/start")))
	require.NoError(t, r.Append(state(itemTwo)))
	holds("p/item1", 2)
	holds("p/item1/attempt1/turn1/tool1", 2)
	holds("p/item2", 4)
	holds("p/item2/sounding1", 4)
	holds("", 2)

	at, away := NewRecorder(Options{}).Time(echo.Key{})
	require.Zero(t, at)
	require.Zero(t, away)
}

// How long nobody had run a session is no time of its run.
func TestTimeOfAResumedRun(t *testing.T) {
	t.Parallel()
	recording := minutely(one, two)
	recording[1].At = start.Add(time.Hour)
	recording = []*echo.Entry{resumption(1, start), recording[0], resumption(3, start.Add(40*time.Minute)), recording[1]}
	now := start.Add(2 * time.Hour)
	log := echo.ContinueLog("s", 4, nil, nil)
	again := 0
	r := NewRecorder(Options{Log: log, Recording: recording, Seams: Seams{Now: func() time.Time { return now }}, Resumed: func() *echo.Entry {
		again++
		return resumption(0, time.Time{})
	}})
	holds := func(want time.Time, wantAway time.Duration) {
		t.Helper()
		at, away := r.Time(echo.Key{})
		require.Equal(t, want, at)
		require.Equal(t, wantAway, away)
	}
	require.NoError(t, r.Append(state(one)))
	holds(start, 0)
	require.NoError(t, r.Append(state(two)))
	holds(start.Add(time.Hour), 40*time.Minute)
	require.NoError(t, r.Append(state("p/attempt1/turn2/state/a")))
	holds(now, 40*time.Minute+time.Hour)
	now = now.Add(time.Hour)
	holds(now, 40*time.Minute+time.Hour)
	require.NoError(t, r.Resume())
	require.Equal(t, 1, again)

	r = NewRecorder(Options{Log: log, Seams: Seams{Now: func() time.Time { return now }}})
	holds(now, 0)
}

// A branch that is still in its recording has the time of its recording, also when another one has
// gone on.
func TestTimeWhileOthersAreNew(t *testing.T) {
	t.Parallel()
	now := start.Add(-time.Hour) // the clock was set back
	r := NewRecorder(Options{
		Log: echo.ContinueLog("s", 4, nil, nil), Recording: minutely("p/item1/start", "p/item2/start", itemOne, itemTwo),
		Seams: Seams{Now: func() time.Time { return now }}, Resumed: func() *echo.Entry { return resumption(0, time.Time{}) },
	})
	for _, k := range []string{"p/item1/start", "p/item2/start"} {
		require.NotNil(t, r.Next(echo.NodeBranchStart, echo.MustKey(k)))
	}
	require.NoError(t, r.Append(state(itemOne)))
	require.NoError(t, r.Append(state("p/item1/attempt1/turn2/state/x")))
	at, away := r.Time(echo.MustKey("p/item1"))
	require.Equal(t, now, at)
	require.Zero(t, away)
	at, _ = r.Time(echo.MustKey("p/item2"))
	require.Equal(t, start.Add(time.Minute), at)
}

func TestSleepIsNotRepeated(t *testing.T) {
	t.Parallel()
	slept := errors.New("slept")
	r := NewRecorder(Options{
		Recording: recorded(itemOne, itemTwo), Seams: Seams{Sleep: func(context.Context, time.Duration) error { return slept }},
	})
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, r.Sleep(ctx, echo.MustKey("p/item1"), time.Hour))
	require.NoError(t, r.Append(state(itemOne)))
	require.ErrorIs(t, r.Sleep(ctx, echo.MustKey("p/item1"), time.Hour), slept)
	cancel()
	require.ErrorIs(t, r.Sleep(ctx, echo.MustKey("p/item2"), time.Hour), context.Canceled)
}

// What does not count of a recording is passed over: what was set aside, and what was done in the
// background.
func TestWhatDoesNotCount(t *testing.T) {
	t.Parallel()
	recording := recorded(one, "cards/call1", two, itemOne)
	r := NewRecorder(Options{Recording: recording, SetAside: map[uint64]bool{3: true}})
	require.NoError(t, r.Append(state(one)))
	require.Equal(t, uint64(4), r.Pending(echo.Key{}).Seq)
	require.NoError(t, r.Append(state(itemOne)))
	require.Nil(t, r.Pending(echo.Key{}))
}

// Only a reading for the limits of a budget is skipped, and only when what the run comes to
// follows.
func TestReadingsThatAreNotSkipped(t *testing.T) {
	t.Parallel()
	const clock, idle = "p/attempt1/turn1/model/clock", "p/attempt1/turn1/idle"
	reading := recorded(idle, one)
	reading[0].NodeType = echo.NodeValue
	warning := recorded(clock, one)
	warning[0].NodeType = echo.NodeWarning
	for name, tt := range map[string]struct {
		recording []*echo.Entry
		comes     string
	}{
		"another reading":     {reading, one},
		"not a reading":       {warning, one},
		"another way":         {recorded(clock, one), two},
		"what is used before": {recorded(one, clock), one},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewRecorder(Options{Recording: tt.recording})
			if tt.recording[0].Key == echo.MustKey(one) {
				require.NoError(t, r.Append(state(one)))
			}
			var de *DivergenceError
			require.ErrorAs(t, r.Append(state(tt.comes)), &de)
			require.Empty(t, de.Field)
		})
	}
}

func TestPeek(t *testing.T) {
	t.Parallel()
	r := NewRecorder(Options{Recording: recorded(one, two)})
	require.True(t, r.IsReplay())
	r.Commit()
	require.Equal(t, uint64(2), r.Peek(echo.NodeState, echo.MustKey(two)).Seq, "wherever it is")
	require.Equal(t, uint64(1), r.Peek(echo.NodeState, echo.MustKey(one)).Seq)
	require.Nil(t, r.Peek(echo.NodeState, echo.MustKey(itemOne)))
	require.Nil(t, r.Next(echo.NodeState, echo.MustKey(two)), "it is not the next")
	require.Equal(t, uint64(1), r.Next(echo.NodeState, echo.MustKey(one)).Seq)
	require.Nil(t, r.Peek(echo.NodeState, echo.MustKey(one)), "it was used")

	disk := &sink{}
	r = NewRecorder(Options{Log: echo.NewLog("s", nil, disk)})
	require.False(t, r.IsReplay())
	require.Nil(t, r.Peek(echo.NodeState, echo.MustKey(one)))
	require.Nil(t, r.Pending(echo.Key{}))
	r.Commit()
	require.Equal(t, 1, disk.commits)
}

// What a replay comes to that is not recorded ends it, whatever it is.
func TestReplayEndsWithItsRecording(t *testing.T) {
	t.Parallel()
	r := NewRecorder(Options{})
	var end *EndError
	_, err := r.Model(t.Context(), echo.MustKey("p/attempt1/turn1/model"), &ModelRequest{})
	require.ErrorAs(t, err, &end)
	_, err = r.Value(t.Context(), echo.MustKey("p/attempt1/turn1/clock"), Site{}, func() echo.Payload { return echo.Clock(1) })
	require.EqualError(t, err, "the record ends here, before value at p/attempt1/turn1/clock")
	require.ErrorIs(t, err, ErrEndOfRecord)
	require.True(t, IsRecordError(err))
}

// A run that does not go the way of its recording: nothing was asked of the world.
func TestCallsThatDiverge(t *testing.T) {
	t.Parallel()
	ask := &ModelRequest{Model: "m", Messages: []*echo.Message{echo.NewText(echo.RoleUser, echo.KindTask, "now")}}
	model := recorded("p/attempt1/turn1/model")
	model[0].NodeType, model[0].RequestHash = echo.NodeModelCall, strings.Repeat("a", 64)
	r := NewRecorder(Options{Recording: model})
	_, err := r.Model(t.Context(), model[0].Key, ask)
	require.EqualError(t, err, "the run does not follow its record: entry 1 (model_call at p/attempt1/turn1/model) has another request: recorded "+
		strings.Repeat("a", 64)+", now "+ask.Hash())
	require.True(t, IsRecordError(err))

	key := echo.MustKey(tool1)
	_, err = NewRecorder(Options{Recording: recorded(tool1)}).Tool(t.Context(), key, ToolSpec{}, ToolRequest{Name: "other", Arguments: json.RawMessage("{}")})
	require.EqualError(t, err, "the run does not follow its record: entry 1 (tool_call at p/attempt1/turn1/tool1) has another tool: "+
		`recorded "{\"name\":\"t\",\"call_id\":\"\",\"arguments\":\"{}\"}", now "{\"name\":\"other\",\"call_id\":\"\",\"arguments\":\"{}\"}"`)

	empty := recorded(tool1)
	empty[0].Message = nil
	_, err = NewRecorder(Options{Recording: empty}).Tool(t.Context(), key, ToolSpec{}, ToolRequest{Name: "t", Arguments: json.RawMessage("{}")})
	var de *DivergenceError
	require.ErrorAs(t, err, &de, "a result without a message")
	require.Equal(t, "tool", de.Field)

	changed := recorded(one)[0]
	changed.Data = json.RawMessage(`2`)
	err = NewRecorder(Options{Recording: recorded(one)}).Append(changed)
	require.EqualError(t, err, `the run does not follow its record: entry 1 (state at p/attempt1/turn1/state/a) has another data: recorded "1", now "2"`)
}

// toolWorld counts what it was asked to run.
type toolWorld struct {
	Effects
	ran int
}

func (w *toolWorld) Tool(_ context.Context, _ echo.Key, _ ToolSpec, req ToolRequest) (*echo.Message, error) {
	w.ran++
	return echo.NewToolResult(echo.ToolCall{Name: req.Name, Arguments: "{}"}, echo.Text("ran"), false), nil
}

// A tool that had begun when the process died is not run again when that may do harm; the model is
// told.
func TestToolThatHadBegun(t *testing.T) {
	t.Parallel()
	begun := recorded(tool1)
	begun[0].NodeType, begun[0].Message = echo.NodeToolStart, nil
	use := func(spec ToolSpec, site Site) (*echo.Message, *sink, int) {
		world, disk := &toolWorld{}, &sink{}
		r := NewRecorder(Options{Log: echo.ContinueLog("s", 1, nil, disk), Effects: world, Recording: begun})
		m, err := r.Tool(t.Context(), echo.MustKey(tool1), spec, ToolRequest{Site: site, Name: "t", Arguments: json.RawMessage("{}")})
		require.NoError(t, err)
		return m, disk, world.ran
	}
	m, disk, ran := use(ToolSpec{}, Site{})
	require.Zero(t, ran)
	require.True(t, m.Failed())
	require.Equal(t, "The run was stopped while t ran. Whether it did what it should is not known, and it was not run again, "+
		"as that may do harm. Find out what it did before calling it again.", m.Text())
	require.Equal(t, KindUnfinished, disk.entries[0].Error.Kind)
	_, _, ran = use(ToolSpec{Idempotent: true}, Site{})
	require.Equal(t, 1, ran)
	_, _, ran = use(ToolSpec{}, Site{Validator: "fair"})
	require.Equal(t, 1, ran, "a validator is asked what holds now")
}

// When it cannot be recorded that a run goes on, nothing is new in any branch.
func TestResumptionThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	world := &toolWorld{}
	r := NewRecorder(Options{
		Log: echo.ContinueLog("s", 1, nil, &sink{fail: full}), Recording: recorded(one), Effects: world,
		Resumed: func() *echo.Entry { return resumption(0, time.Time{}) },
	})
	require.NoError(t, r.Append(state(one)))
	for range 2 {
		_, err := r.Tool(t.Context(), echo.MustKey(tool1), ToolSpec{}, ToolRequest{Name: "t", Arguments: json.RawMessage("{}")})
		require.EqualError(t, err, "the run's record cannot be written: no space left")
		require.ErrorIs(t, err, full)
	}
	require.Zero(t, world.ran)

	var re *RecordError
	r = NewRecorder(Options{Log: echo.NewLog("s", nil, &sink{fail: full})})
	require.ErrorAs(t, r.Append(state(one)), &re)
}

// The end of a run while it waits for its record is no failure of the record.
func TestSettle(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := Writer{Log: echo.NewLog("s", nil, &sink{})}
	require.NoError(t, w.Settle(ctx))
	cancel()
	require.Equal(t, context.Canceled, w.Settle(ctx))
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("a signal"))
	require.Equal(t, context.Canceled, w.Settle(ctx), "whatever ended it")
}

// Missing tells the end of a recording from another way.
func TestMissing(t *testing.T) {
	t.Parallel()
	end := &EndError{Node: echo.NodeState, Key: echo.MustKey(two)}
	other := errors.New("another error")
	r := NewRecorder(Options{Recording: recorded(one)})
	require.Equal(t, other, r.Missing(other))
	require.EqualError(t, r.Missing(end), "the run does not follow its record: entry 1 is state at "+one+", but now the run comes to state at "+two)
	require.NoError(t, r.Append(state(one)))
	require.Equal(t, end, r.Missing(end))
}
