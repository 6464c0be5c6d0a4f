package effecttest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Silent is a question that nobody answers.
const Silent = "silent"

// Answer implements [effect.Mailbox]: it answers by what is asked.
func (w *World) Answer(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	asked := req.Wait.Form.Question
	w.note(asked, func() {})
	if asked == Silent {
		return nil, nil //nolint:nilnil // see the interface
	}
	a := leftFor(asked)
	return &a, nil
}

// leftFor is what somebody has left for a question.
func leftFor(asked string) echo.Answer {
	return echo.Answer{
		Value: "answer to " + asked, By: "ada", Via: echo.ViaCommand, At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), Shown: "0123456789abcdef",
	}
}

// Waiting returns a wait for the answer to a question, which is recorded.
func Waiting(key echo.Key, question string) *effect.WaitRequest {
	return &effect.WaitRequest{
		Key: key.Step(echo.StepWait), Site: site, Since: time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC),
		Wait: echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: question}},
	}
}

// await has a wait ended.
func (b *bench) await(t testing.TB, key echo.Key, question string) (*echo.Answer, error) {
	t.Helper()
	return b.effects.Await(t.Context(), Waiting(key, question))
}

func awaited(t testing.TB, b *bench) {
	a, err := b.await(t, waits, "which one?")
	require.NoError(t, err)
	require.Equal(t, leftFor("which one?"), *a)
	b.asked(t, "which one?")
	if e := b.outcome(t, echo.NodeAnswer, waits.Step(echo.StepWait)); e != nil {
		recorded, err := echo.Read[echo.Answer](e)
		require.NoError(t, err)
		require.Equal(t, leftFor("which one?"), recorded)
	}
}

func awaitedInSilence(t testing.TB, b *bench) {
	a, err := b.await(t, silence, Silent)
	require.Nil(t, a)
	var waiting *effect.WaitingError
	require.ErrorAs(t, err, &waiting)
	require.Equal(t, silence.Step(echo.StepWait), waiting.Request.Key)
	require.Equal(t, Silent, waiting.Request.Wait.Form.Question)
	require.Empty(t, b.disk.Entries(), "nothing came of it")
}

// awaitedSafely holds that what is awaited is durable when somebody can answer it.
func awaitedSafely(t testing.TB, b *bench) {
	_, err := b.value(t, readings.Step(echo.StepClock), clockNow)
	require.NoError(t, err)
	b.world.Leave = func() {
		assert.Zero(t, b.disk.Unsafe(), "a power failure would take a wait that somebody has answered")
	}
	_, err = b.await(t, waits, "which one?")
	require.NoError(t, err)
	require.Equal(t, 1, b.world.Done("which one?"))
}

// awaitedAgain holds that a process that dies before an answer is recorded loses none: the next one comes
// to the same.
func awaitedAgain(t testing.TB, b *bench) {
	dies := b.bench(t)
	dies.disk.Fail = func(*echo.Entry) error { return errFull }
	a, err := dies.await(t, waits, "which one?")
	require.Nil(t, a, "it is not recorded")
	var re *effect.RecordError
	require.ErrorAs(t, err, &re)
	require.Empty(t, dies.disk.Entries())
	a, err = b.await(t, waits, "which one?")
	require.NoError(t, err)
	require.Equal(t, leftFor("which one?"), *a)
	b.outcome(t, echo.NodeAnswer, waits.Step(echo.StepWait))
}

func awaitedSecret(t testing.TB, b *bench) {
	a, err := b.await(t, told, secret)
	require.NoError(t, err)
	require.Equal(t, "answer to "+masked, a.Value, "it is seen as it is recorded")
	b.asked(t, secret)
	b.outcome(t, echo.NodeAnswer, told.Step(echo.StepWait))
}

// awaitedAfterEnd holds that the end of the context ends no wait.
func awaitedAfterEnd(t testing.TB, b *bench) {
	_, err := b.effects.Await(cancelled(), Waiting(waits, "which one?"))
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, b.world.Done("which one?"))
	require.Empty(t, b.disk.Entries())
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
