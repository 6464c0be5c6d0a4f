package effecttest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func endedBefore(t testing.TB, b *bench) {
	for want, ended := range map[error]func() (context.Context, context.CancelFunc){
		context.Canceled:         func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) },
		context.DeadlineExceeded: func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), 0) },
	} {
		ctx, cancel := ended()
		cancel()
		b.bench(t).callAfter(ctx, t, want)
	}
}

// callAfter makes calls whose context has ended, and holds that nothing comes of them.
func (b *bench) callAfter(ctx context.Context, t testing.TB, want error) {
	t.Helper()
	_, err := b.effects.Model(ctx, ended.Step(echo.StepModel), Ask("m", "a question"))
	_, toolErr := b.effects.Tool(ctx, ended.Numbered(echo.StepTool, 1), spec("write"), Use("write", "write"))
	if b.Records {
		for _, err := range []error{err, toolErr} {
			var re *effect.RecordError
			require.ErrorIs(t, err, want)
			require.NotErrorAs(t, err, &re)
		}
	}
	b.nothingCame(t)
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	require.Empty(t, b.world.done)
}

// leaving is a context that ends when a request leaves.
func (b *bench) leaving(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	b.world.Leave = cancel
	return ctx
}

func endedMeanwhile(t testing.TB, b *bench) {
	_, err := b.effects.Model(b.leaving(t), ended.Step(echo.StepModel), Ask("m", "a question"))
	require.ErrorIs(t, err, context.Canceled)
	var me *effect.ModelError
	require.NotErrorAs(t, err, &me)
	for n, name := range []string{"write", "read"} {
		_, err = b.effects.Tool(b.leaving(t), ended.Numbered(echo.StepTool, n+1), spec(name), Use(name, name))
		require.ErrorIs(t, err, context.Canceled)
	}
	b.nothingCame(t)
}

func lateOutcome(t testing.TB, b *bench) {
	resp, err := b.effects.Model(b.leaving(t), ended.Step(echo.StepModel), Ask(Late, "late"))
	require.NoError(t, err)
	require.Equal(t, "answer to late", resp.Message.Text())
	b.outcome(t, echo.NodeModelCall, ended.Step(echo.StepModel))
	_, err = b.effects.Model(b.leaving(t), ended.Try(echo.StepModel, 2), Ask(Failing, "too much"))
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	b.outcome(t, echo.NodeModelCall, ended.Try(echo.StepModel, 2))
	for n, name := range []string{Late, Broken} {
		key := ended.Numbered(echo.StepTool, n+1)
		_, err = b.effects.Tool(b.leaving(t), key, spec(name), Use(name, name))
		require.NoError(t, err)
		b.outcome(t, echo.NodeToolCall, key)
	}
}

var errFull = errors.New("no space left")

// recorded are effects of every kind that leave entries.
var recorded = map[string]func(testing.TB, *bench) error{
	"answer": func(t testing.TB, b *bench) error {
		_, err := b.model(t, answers.Step(echo.StepModel), Ask("m", "a question"))
		return err
	},
	"failure": func(t testing.TB, b *bench) error {
		_, err := b.model(t, failures.Step(echo.StepModel), Ask(Failing, "too much"))
		return err
	},
	"start": func(t testing.TB, b *bench) error {
		_, err := b.tool(t, tools.Numbered(echo.StepTool, 1), "write")
		return err
	},
	"result": func(t testing.TB, b *bench) error {
		_, err := b.tool(t, tools.Numbered(echo.StepTool, 2), "read")
		return err
	},
	"reading": func(t testing.TB, b *bench) error {
		_, err := b.value(t, readings.Step(echo.StepClock), clockNow)
		return err
	},
}

// each performs effects, each by an implementation of its own on a disk that fails, and holds that
// the run ends because of the record, before or after the world is asked.
func (b *bench) each(t testing.TB, disk *Disk, asks bool, effects ...string) {
	t.Helper()
	for _, what := range effects {
		b := b.bench(t)
		b.disk.Fail, b.disk.FailSync = disk.Fail, disk.FailSync
		err := recorded[what](t, b)
		var re *effect.RecordError
		require.ErrorAs(t, err, &re, what)
		require.ErrorIs(t, err, errFull, what)
		b.nothingCame(t)
		if !asks {
			require.Empty(t, b.world.done, what)
		}
	}
}

func recordFails(t testing.TB, b *bench) {
	b.each(t, &Disk{Fail: func(*echo.Entry) error { return errFull }}, true, "answer", "failure", "result", "reading")
}

func startFails(t testing.TB, b *bench) {
	b.each(t, &Disk{Fail: func(*echo.Entry) error { return errFull }}, false, "start")
}

func syncFails(t testing.TB, b *bench) {
	b.each(t, &Disk{FailSync: func() error { return errFull }}, false, "answer", "start")
}

func safeFirst(t testing.TB, b *bench) {
	safe := func() {
		assert.Zero(t, b.disk.Unsafe(), "a power failure would take entries that something outside depends on")
	}
	b.world.Leave = safe
	_, err := b.value(t, readings.Step(echo.StepClock), clockNow)
	require.NoError(t, err)
	_, err = b.model(t, ended.Step(echo.StepModel), Ask("m", "a question"))
	require.NoError(t, err)
	key := ended.Numbered(echo.StepTool, 1)
	b.world.Leave = func() {
		safe()
		list := b.disk.Entries()
		newest := list[len(list)-1]
		assert.Equal(t, echo.NodeToolStart, newest.NodeType, "what may do harm when it is run twice is recorded as begun")
		assert.Equal(t, key, newest.Key)
	}
	_, err = b.tool(t, key, "write")
	require.NoError(t, err)
}
