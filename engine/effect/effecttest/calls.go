package effecttest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func answer(t testing.TB, b *bench) {
	key := answers.Step(echo.StepModel)
	resp, err := b.model(t, key, Ask("m", "a question"))
	require.NoError(t, err)
	require.Equal(t, "answer to a question", resp.Message.Text())
	require.Equal(t, answered("").Usage, resp.Usage)
	require.Equal(t, 0.25, *resp.CostUSD)
	require.Equal(t, "world", resp.Provider)
	require.Equal(t, "world-1", resp.Model)
	require.Equal(t, "stop", resp.FinishReason)
	b.asked(t, "a question")
	if e := b.outcome(t, echo.NodeModelCall, key); e != nil {
		require.Equal(t, resp.Message.Hash(), e.ContentHash)
		require.Equal(t, Ask("m", "a question").Hash(), e.RequestHash)
	}
}

// parsing is a request whose answer is parsed, once: a recorded one is parsed already.
func parsing() *effect.ModelRequest {
	req := Ask("m", "in your words")
	req.Parse = func(m *echo.Message) *echo.Message {
		return echo.NewText(echo.RoleAssistant, echo.KindAnswer, "parsed "+m.Text())
	}
	return req
}

func parsedAnswer(t testing.TB, b *bench) {
	key := parsed.Step(echo.StepModel)
	resp, err := b.model(t, key, parsing())
	require.NoError(t, err)
	require.Equal(t, "parsed answer to in your words", resp.Message.Text())
	if e := b.outcome(t, echo.NodeModelCall, key); e != nil {
		require.Equal(t, resp.Message.Hash(), e.ContentHash)
	}
}

func unchangedRequest(t testing.TB, b *bench) {
	req := Ask("m", "a question")
	was := *req
	was.Messages = slices.Clone(req.Messages)
	_, err := b.model(t, answers.Step(echo.StepModel), req)
	require.NoError(t, err)
	require.Equal(t, was, *req)
}

func modelFailure(t testing.TB, b *bench) {
	key := failures.Step(echo.StepModel)
	_, err := b.model(t, key, Ask(Failing, "too much"))
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	require.Equal(t, failing(), me)
	b.asked(t, "too much")
	if e := b.outcome(t, echo.NodeModelCall, key); e != nil {
		require.Equal(t, &echo.Failure{Kind: "server", Message: "overloaded"}, e.Error)
		require.Nil(t, e.CostUSD, "it may have cost something")
	}
}

func brokenModel(t testing.TB, b *bench) {
	key := broken.Step(echo.StepModel)
	_, err := b.model(t, key, Ask(Broken, "what is not there"))
	require.EqualError(t, err, "no such thing")
	b.asked(t, "what is not there")
	if e := b.outcome(t, echo.NodeModelCall, key); e != nil {
		require.Equal(t, &echo.Failure{Kind: "failed", Message: "no such thing"}, e.Error)
	}
}

func slowModel(t testing.TB, b *bench) {
	key := slow.Step(echo.StepModel)
	_, err := b.model(t, key, Ask(Slow, "much"))
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	require.Equal(t, echo.ModelErrTimeout, me.Kind)
	b.asked(t, "much")
	b.outcome(t, echo.NodeModelCall, key)
}

func toolResult(t testing.TB, b *bench) {
	for n, name := range []string{"write", "read", Failing} {
		key := tools.Numbered(echo.StepTool, n+1)
		req := Use(name, name)
		m, err := b.tool(t, key, name)
		require.NoError(t, err)
		require.Equal(t, name == Failing, m.Failed())
		require.Equal(t, req.CallID, m.ToolCallID())
		b.asked(t, string(req.Arguments))
		e := b.outcome(t, echo.NodeToolCall, key)
		if e == nil {
			continue
		}
		require.Equal(t, m.Hash(), e.ContentHash)
		require.Equal(t, &echo.ToolUse{Name: name, CallID: req.CallID, Arguments: string(req.Arguments)}, e.Tool)
		if name == Failing {
			require.Equal(t, &echo.Failure{Kind: "exit_status", Message: "it failed"}, e.Error)
		} else {
			require.Nil(t, e.Error)
		}
	}
}

func brokenTool(t testing.TB, b *bench) {
	for n, name := range []string{Broken, Slow} {
		key := faults.Numbered(echo.StepTool, n+1)
		m, err := b.tool(t, key, name)
		require.NoError(t, err)
		want := map[string]string{Broken: "no such thing", Slow: "context deadline exceeded"}[name]
		require.True(t, m.Failed())
		require.Equal(t, want, m.Text())
		b.asked(t, string(Use(name, name).Arguments))
		if e := b.outcome(t, echo.NodeToolCall, key); e != nil {
			require.Equal(t, m.Hash(), e.ContentHash)
			require.Equal(t, &echo.Failure{Kind: "failed", Message: want}, e.Error)
		}
	}
}

// atOnce is how many branches are at work at the same time.
const atOnce = 40

func manyAtOnce(t testing.TB, b *bench) {
	var wg sync.WaitGroup
	errs := make([]error, atOnce)
	for i := range atOnce {
		wg.Go(func() { errs[i] = oneOfMany(t, b, i) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	for i := range atOnce {
		b.outcome(t, echo.NodeToolCall, many(i).Numbered(echo.StepTool, 1))
		b.outcome(t, echo.NodeModelCall, many(i).Step(echo.StepModel))
		b.outcome(t, echo.NodeValue, many(i).Step(echo.StepClock))
	}
}

// oneOfMany makes a call of each kind in one branch, and errs when what comes is not its own.
func oneOfMany(t testing.TB, b *bench, i int) error {
	m, err := b.effects.Tool(t.Context(), many(i).Numbered(echo.StepTool, 1), spec("read"), Use("read", ofMany(i)))
	if err != nil {
		return err
	}
	resp, err := b.effects.Model(t.Context(), many(i).Step(echo.StepModel), Ask("m", ofMany(i)))
	if err != nil {
		return err
	}
	reading, err := b.value(t, many(i).Step(echo.StepClock), echo.Clock(i))
	if err != nil {
		return err
	}
	got := []string{m.Text(), resp.Message.Text(), reading}
	want := []string{fmt.Sprintf("read of %s", Use("read", ofMany(i)).Arguments), "answer to " + ofMany(i), fmt.Sprint(i)}
	if !slices.Equal(got, want) {
		return fmt.Errorf("branch %d got %q, not %q", i, got, want)
	}
	return nil
}
