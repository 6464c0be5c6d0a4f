package effecttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Subject is an implementation under test, with the log that it records in.
type Subject struct {
	// New returns effects that touch the world and record in the log. recorded are the outcomes of the contract's calls, as they
	// were recorded when the world was asked, for an implementation that answers from a recording.
	New func(t *testing.T, w *World, log *echo.Log, recorded []*echo.Entry) effect.Effects
	// Asks says that the world is asked, and not a recording.
	Asks bool
	// Records says that outcomes are recorded in the log. A replay finds them recorded.
	Records bool
}

// bench is one implementation at work.
type bench struct {
	Subject
	world   *World
	disk    *Disk
	effects effect.Effects
}

func (s Subject) bench(t *testing.T) *bench {
	t.Helper()
	b := &bench{Subject: s, world: &World{}, disk: &Disk{}}
	b.effects = s.New(t, b.world, echo.NewLog("s", nil, b.disk), recordings(t))
	return b
}

// Test runs the contract.
func Test(t *testing.T, s Subject) {
	t.Run("a model's answer is recorded before it is seen", s.answer)
	t.Run("a model's failure is an outcome", s.modelFailure)
	t.Run("a tool's result is recorded before it is seen", s.tool)
	t.Run("readings", s.readingsOf)
	t.Run("the end of the context is no outcome", s.endOfContext)
	t.Run("many at once", s.manyAtOnce)
	if s.Records {
		t.Run("what cannot be recorded ends the run", s.recordFails)
	}
	if s.Asks {
		t.Run("the record is safe before a request leaves", s.safeFirst)
	}
}

// outcome returns the only entry that the call of a key left in the record, nil when the subject does not record.
func (b *bench) outcome(t *testing.T, node echo.NodeType, key echo.Key) *echo.Entry {
	t.Helper()
	if !b.Records {
		require.Empty(t, b.disk.Entries(), "nothing is recorded again")
		return nil
	}
	var found []*echo.Entry
	for _, e := range b.disk.Entries() {
		if e.NodeType == node && e.Key == key {
			found = append(found, e)
		}
	}
	require.Len(t, found, 1, "entries of %s", key)
	return found[0]
}

// asked holds how often the world did something.
func (b *bench) asked(t *testing.T, what string) {
	t.Helper()
	want := 0
	if b.Asks {
		want = 1
	}
	require.Equal(t, want, b.world.Done(what))
}

func (s Subject) answer(t *testing.T) {
	b := s.bench(t)
	key := answers.Step(echo.StepModel)
	resp, err := b.effects.Model(t.Context(), key, Ask("m", "a question"))
	require.NoError(t, err)
	require.Equal(t, "answer to a question", resp.Message.Text())
	require.Equal(t, echo.Usage{In: 7, Cached: 3, Out: 2}, resp.Usage)
	require.Equal(t, 0.25, *resp.CostUSD)
	require.Equal(t, "world-1", resp.Model)
	require.Equal(t, "stop", resp.FinishReason)
	b.asked(t, "a question")
	if e := b.outcome(t, echo.NodeModelCall, key); e != nil {
		require.Equal(t, resp.Message.Hash(), e.ContentHash)
		require.Equal(t, Ask("m", "a question").Hash(), e.RequestHash)
		require.Equal(t, "c", e.CascadeID)
	}
}

func (s Subject) modelFailure(t *testing.T) {
	b := s.bench(t)
	_, err := b.effects.Model(t.Context(), failures.Try(echo.StepModel, 2), Ask(Failing, "too much"))
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	want := &effect.ModelError{
		Kind: echo.ModelErrServer, Provider: "world", Model: Failing, Status: 503, Message: "overloaded", Hint: "later",
		Retries: 2, RetryKinds: []echo.ModelErrorKind{echo.ModelErrServer, echo.ModelErrTimeout},
	}
	require.Equal(t, want, me)
	if e := b.outcome(t, echo.NodeModelCall, failures.Try(echo.StepModel, 2)); e != nil {
		require.Equal(t, "server", e.Error.Kind)
		require.Nil(t, e.CostUSD, "it may have cost something")
	}
	_, err = b.effects.Model(t.Context(), failures.Try(echo.StepModel, 3), Ask(Broken, "what is not there"))
	require.EqualError(t, err, "no such thing")
}

func (s Subject) tool(t *testing.T) {
	b := s.bench(t)
	for n, name := range []string{"write", Failing} {
		key := tools.Numbered(echo.StepTool, n+1)
		req := Use(name, name)
		m, err := b.effects.Tool(t.Context(), key, effect.ToolSpec{Name: name}, req)
		require.NoError(t, err)
		require.Equal(t, name == Failing, m.Failed())
		require.Equal(t, req.CallID, m.ToolCallID())
		b.asked(t, string(req.Arguments))
		if b.Asks {
			b.outcome(t, echo.NodeToolStart, key) // it may do harm when it is run twice
		}
		if e := b.outcome(t, echo.NodeToolCall, key); e != nil {
			require.Equal(t, m.Hash(), e.ContentHash)
			require.Equal(t, &echo.ToolUse{Name: name, CallID: req.CallID, Arguments: string(req.Arguments)}, e.Tool)
			if name == Failing {
				require.Equal(t, &echo.Failure{Kind: "exit_status", Message: "it failed"}, e.Error)
			}
		}
	}
}

func (s Subject) readingsOf(t *testing.T) {
	b := s.bench(t)
	read := func(step echo.StepKind, value echo.Payload) string {
		raw, err := b.effects.Value(t.Context(), readings.Step(step), effect.Site{Cascade: "c"}, func() echo.Payload { return value })
		require.NoError(t, err)
		return string(raw)
	}
	require.JSONEq(t, `1.5`, read(echo.StepClock, echo.Clock(1.5)))
	require.Empty(t, read(echo.StepIdle, nil))
	handoff, err := echo.Decode[echo.Handoff](json.RawMessage(read(echo.StepHandoff, echo.Handoff{Phase: "p"})))
	require.NoError(t, err)
	require.Equal(t, "p", handoff.Phase)
	b.outcome(t, echo.NodeValue, readings.Step(echo.StepClock))
	b.outcome(t, echo.NodeHandoff, readings.Step(echo.StepHandoff))
	for _, e := range b.disk.Entries() {
		require.NotEqual(t, readings.Step(echo.StepIdle), e.Key, "a reading of nothing is not recorded")
	}
}

func (s Subject) endOfContext(t *testing.T) {
	b := s.bench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := len(b.disk.Entries())
	_, err := b.effects.Model(ctx, ended.Step(echo.StepModel), Ask("m", "a question"))
	_, toolErr := b.effects.Tool(ctx, ended.Numbered(echo.StepTool, 1), effect.ToolSpec{Name: "write"}, Use("write", "write"))
	if s.Records {
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, toolErr, context.Canceled)
	}
	for _, e := range b.disk.Entries()[before:] {
		require.Equal(t, echo.NodeToolStart, e.NodeType, "nothing came of %s", e.Key)
	}
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	require.Empty(t, b.world.done)
}

// atOnce is how many effects are performed at the same time.
const atOnce = 40

func (s Subject) manyAtOnce(t *testing.T) {
	b := s.bench(t)
	var wg sync.WaitGroup
	errs := make([]error, atOnce)
	for i := range atOnce {
		wg.Go(func() {
			m, err := b.effects.Tool(t.Context(), manyKey(i), effect.ToolSpec{Name: "read", Idempotent: true}, manyRequest(i))
			if err == nil && m.Text() != fmt.Sprintf("read of %s", manyRequest(i).Arguments) {
				err = fmt.Errorf("call %d got %q", i, m.Text())
			}
			errs[i] = err
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	for i := range atOnce {
		b.outcome(t, echo.NodeToolCall, manyKey(i))
	}
}

func manyKey(i int) echo.Key { return parallel.Numbered(echo.StepTool, i+1) }

func manyRequest(i int) effect.ToolRequest { return Use("read", fmt.Sprint("many ", i)) }

func (s Subject) recordFails(t *testing.T) {
	b := s.bench(t)
	full := errors.New("no space left")
	b.disk.Fail = func(*echo.Entry) error { return full }
	var re *effect.RecordError
	_, err := b.effects.Model(t.Context(), ended.Step(echo.StepModel), Ask("m", "a question"))
	require.ErrorAs(t, err, &re)
	require.ErrorIs(t, err, full)
	_, err = b.effects.Tool(t.Context(), ended.Numbered(echo.StepTool, 1), effect.ToolSpec{Name: "write"}, Use("write", "write"))
	require.ErrorAs(t, err, &re)
	_, err = b.effects.Value(t.Context(), ended.Step(echo.StepClock), effect.Site{}, func() echo.Payload { return echo.Clock(1.5) })
	require.ErrorAs(t, err, &re)
}

func (s Subject) safeFirst(t *testing.T) {
	b := s.bench(t)
	b.world.Leave = func() {
		require.Zero(t, b.disk.Unsafe(), "a power failure would take entries that something outside depends on")
	}
	_, err := b.effects.Value(t.Context(), ended.Step(echo.StepClock), effect.Site{}, func() echo.Payload { return echo.Clock(1) })
	require.NoError(t, err)
	_, err = b.effects.Model(t.Context(), ended.Step(echo.StepModel), Ask("m", "a question"))
	require.NoError(t, err)
	_, err = b.effects.Tool(t.Context(), ended.Numbered(echo.StepTool, 1), effect.ToolSpec{Name: "write"}, Use("write", "write"))
	require.NoError(t, err)
}

// Each part of the contract has a branch of its own.
var (
	answers  = branch(1)
	failures = branch(2)
	tools    = branch(3)
	readings = branch(4)
	ended    = branch(5)
	parallel = branch(6)
)

func branch(n int) echo.Key {
	return echo.PhaseKey("p", 1).Numbered(echo.StepItem, n).Attempt(1).Turn(1)
}

// recordings are the outcomes of all calls of the contract, as the engine's own live effects record them.
func recordings(t *testing.T) []*echo.Entry {
	t.Helper()
	w, disk := &World{}, &Disk{}
	log := echo.NewLog("s", nil, disk)
	live := effect.NewLive(w, w, effect.Writer{Log: log}, nil)
	ctx := t.Context()
	_, _ = live.Model(ctx, answers.Step(echo.StepModel), Ask("m", "a question"))
	_, _ = live.Model(ctx, failures.Try(echo.StepModel, 2), Ask(Failing, "too much"))
	_, _ = live.Model(ctx, failures.Try(echo.StepModel, 3), Ask(Broken, "what is not there"))
	_, _ = live.Tool(ctx, tools.Numbered(echo.StepTool, 1), effect.ToolSpec{Name: "write"}, Use("write", "write"))
	_, _ = live.Tool(ctx, tools.Numbered(echo.StepTool, 2), effect.ToolSpec{Name: Failing}, Use(Failing, Failing))
	_, _ = live.Value(ctx, readings.Step(echo.StepClock), effect.Site{}, func() echo.Payload { return echo.Clock(1.5) })
	_, _ = live.Value(ctx, readings.Step(echo.StepHandoff), effect.Site{}, func() echo.Payload { return echo.Handoff{Phase: "p"} })
	_, _ = live.Model(ctx, ended.Step(echo.StepModel), Ask("m", "a question"))
	_, _ = live.Tool(ctx, ended.Numbered(echo.StepTool, 1), effect.ToolSpec{Name: "write"}, Use("write", "write"))
	for i := range atOnce {
		_, _ = live.Tool(ctx, manyKey(i), effect.ToolSpec{Name: "read", Idempotent: true}, manyRequest(i))
	}
	return disk.Entries()
}
