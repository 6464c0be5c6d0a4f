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

func endedMeanwhile(t testing.TB, b *bench) {
	call := func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		b.world.Leave = cancel
		return ctx
	}
	_, err := b.effects.Model(call(), ended.Step(echo.StepModel), Ask("m", "a question"))
	require.ErrorIs(t, err, context.Canceled)
	var me *effect.ModelError
	require.NotErrorAs(t, err, &me)
	for n, name := range []string{"write", "read"} {
		_, err = b.effects.Tool(call(), ended.Numbered(echo.StepTool, n+1), spec(name), Use(name, name))
		require.ErrorIs(t, err, context.Canceled)
	}
	b.nothingCame(t)
}

func lateOutcome(t testing.TB, b *bench) {
	call := func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		b.world.Leave = cancel
		return ctx
	}
	resp, err := b.effects.Model(call(), ended.Step(echo.StepModel), Ask(Late, "late"))
	require.NoError(t, err)
	require.Equal(t, "answer to late", resp.Message.Text())
	b.outcome(t, echo.NodeModelCall, ended.Step(echo.StepModel))
	_, err = b.effects.Model(call(), ended.Try(echo.StepModel, 2), Ask(Failing, "too much"))
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	b.outcome(t, echo.NodeModelCall, ended.Try(echo.StepModel, 2))
	for n, name := range []string{Late, Broken} {
		key := ended.Numbered(echo.StepTool, n+1)
		_, err = b.effects.Tool(call(), key, spec(name), Use(name, name))
		require.NoError(t, err)
		b.outcome(t, echo.NodeToolCall, key)
	}
}

var errFull = errors.New("no space left")

// each performs every kind of effect, each by an implementation of its own on a disk that was prepared, and holds that the
// run ends because of the record.
func (b *bench) each(t testing.TB, prepare func(*Disk), calls map[string]func(*bench) error) {
	t.Helper()
	for what, call := range calls {
		b := b.bench(t)
		prepare(b.disk)
		err := call(b)
		var re *effect.RecordError
		require.ErrorAs(t, err, &re, what)
		require.ErrorIs(t, err, errFull, what)
		b.nothingCame(t)
	}
}

func recordFails(t testing.TB, b *bench) {
	b.each(t, func(d *Disk) { d.Fail = func(*echo.Entry) error { return errFull } }, map[string]func(*bench) error{
		"answer": func(b *bench) error {
			_, err := b.model(t, answers.Step(echo.StepModel), Ask("m", "a question"))
			return err
		},
		"failure": func(b *bench) error {
			_, err := b.model(t, failures.Step(echo.StepModel), Ask(Failing, "too much"))
			return err
		},
		"result": func(b *bench) error {
			_, err := b.tool(t, tools.Numbered(echo.StepTool, 2), "read")
			return err
		},
		"reading": func(b *bench) error {
			_, err := b.value(t, readings.Step(echo.StepClock), clockNow)
			return err
		},
	})
}

func startFails(t testing.TB, b *bench) {
	b.each(t, func(d *Disk) { d.Fail = func(*echo.Entry) error { return errFull } }, map[string]func(*bench) error{
		"start": func(b *bench) error {
			_, err := b.tool(t, tools.Numbered(echo.StepTool, 1), "write")
			require.Zero(t, b.world.Done(string(Use("write", "write").Arguments)))
			return err
		},
	})
}

func syncFails(t testing.TB, b *bench) {
	b.each(t, func(d *Disk) { d.FailSync = func() error { return errFull } }, map[string]func(*bench) error{
		"model": func(b *bench) error {
			_, err := b.model(t, answers.Step(echo.StepModel), Ask("m", "a question"))
			require.Zero(t, b.world.Done("a question"))
			return err
		},
		"tool": func(b *bench) error {
			_, err := b.tool(t, tools.Numbered(echo.StepTool, 1), "write")
			require.Zero(t, b.world.Done(string(Use("write", "write").Arguments)))
			return err
		},
	})
}

func safeFirst(t testing.TB, b *bench) {
	b.world.Leave = func() {
		assert.Zero(t, b.disk.Unsafe(), "a power failure would take entries that something outside depends on")
	}
	_, err := b.value(t, readings.Step(echo.StepClock), clockNow)
	require.NoError(t, err)
	_, err = b.model(t, ended.Step(echo.StepModel), Ask("m", "a question"))
	require.NoError(t, err)
	key := ended.Numbered(echo.StepTool, 1)
	b.world.Leave = func() {
		assert.Zero(t, b.disk.Unsafe(), "a power failure would take entries that something outside depends on")
		list := b.disk.Entries()
		newest := list[len(list)-1]
		assert.Equal(t, echo.NodeToolStart, newest.NodeType, "what may do harm when it is run twice is recorded as begun")
		assert.Equal(t, key, newest.Key)
	}
	_, err = b.tool(t, key, "write")
	require.NoError(t, err)
}
