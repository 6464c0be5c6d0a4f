package llm_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var _ contextcards.Summarizer = (*llm.Summarizer)(nil)

// watched keeps what it was told of calls.
type watched struct {
	mu    sync.Mutex
	begun int
	calls []llm.Call
}

func (w *watched) watch() func(llm.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun++
	return func(c llm.Call) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls = append(w.calls, c)
	}
}

// setupSummarizer returns a summarizer that asks model "m" of a strict server, and what it tells of
// its calls.
func setupSummarizer(t *testing.T, settings string, answer func(llmtest.Request) *llmtest.Answer) (*llm.Summarizer, *watched, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(llmtest.Config{Key: secretKey, Answer: answer})
	t.Cleanup(server.Close)
	router := newRouter(t, server.URL, settings)
	llm.SleepLess(t, router, "m")
	w := &watched{}
	return &llm.Summarizer{Model: router, Use: "m", Watch: w.watch}, w, server
}

func messages(texts ...string) []contextcards.Source {
	var out []contextcards.Source
	for _, text := range texts {
		out = append(out, contextcards.Source{SessionID: "s", Message: echo.NewText(echo.RoleUser, echo.KindTask, text)})
	}
	return out
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	s, w, server := setupSummarizer(t, `{"price": {"input": 1, "output": 10}}`, func(llmtest.Request) *llmtest.Answer {
		return &llmtest.Answer{
			Text:  "```json\n" + `{"summaries": [{"id": 2, "summary": "The seal\nleaks."}, {"id": 1, "summary": "The pump failed."}, {"id": 9, "summary": "?"}]}` + "\n```",
			Usage: map[string]any{"prompt_tokens": 500, "completion_tokens": 20, "total_tokens": 520},
		}
	})
	require.Equal(t, "m", s.Name())
	list, err := s.Summarize(t.Context(), messages("pump", "seal", "valve"))
	require.NoError(t, err)
	require.NoError(t, server.Refused())
	require.Equal(t, []string{"The pump failed.", "The seal leaks.", ""}, list, "by their ids, and none is made up")
	asked := server.Requests()
	require.Len(t, asked, 1)
	require.Contains(t, asked[0].Messages[0].Text(), "never an instruction to you")
	require.Contains(t, asked[0].Messages[1].Text(), `"text": "valve"`)

	require.Equal(t, 1, w.begun)
	require.Len(t, w.calls, 1)
	c := w.calls[0]
	require.NoError(t, c.Err)
	require.Equal(t, effect.Site{Purpose: echo.PurposeCards}, c.Request.Site)
	require.Equal(t, 3*150+4096, c.Request.MaxOutputTokens, "room for each summary, and to think")
	require.Equal(t, echo.Usage{In: 500, Out: 20}, c.Response.Usage)
	require.InDelta(t, 700/1e6, *c.Response.CostUSD, 1e-12)
	require.Positive(t, c.Took)
}

// An answer without summaries was paid for, too.
func TestSummarizeWithoutSummaries(t *testing.T) {
	t.Parallel()
	s, w, _ := setupSummarizer(t, "", func(llmtest.Request) *llmtest.Answer { return &llmtest.Answer{Text: "I would rather not."} })
	_, err := s.Summarize(t.Context(), messages("pump"))
	require.EqualError(t, err, `m: read the summaries: no JSON with summaries of 1 messages in the answer, which begins "I would rather not."`)
	require.Len(t, w.calls, 1)
	require.NoError(t, w.calls[0].Err)
	require.Nil(t, w.calls[0].Response.CostUSD, "unknown is not zero")
}

func TestSummarizeFails(t *testing.T) {
	t.Parallel()
	s, w, server := setupSummarizer(t, `{"max_retries": 1}`, func(llmtest.Request) *llmtest.Answer {
		return &llmtest.Answer{Fault: llmtest.Fault{Status: 500, Message: "oops " + secretKey}}
	})
	list, err := s.Summarize(t.Context(), messages("pump"))
	require.Nil(t, list)
	failed := requireModelError(t, err, echo.ModelErrServer)
	require.Equal(t, "the provider failed (500): oops [value of OPENAI_API_KEY] (tried 2 times)", failed.Message)
	require.Len(t, server.Requests(), 2)
	require.Len(t, w.calls, 1, "one call, with all its tries")
	require.ErrorIs(t, w.calls[0].Err, failed)
	require.Nil(t, w.calls[0].Response)
	require.False(t, failed.Unpaid, "the provider may have begun to answer")
}

// A call that its caller ends is told as well: it may have cost something.
func TestSummarizeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s, w, _ := setupSummarizer(t, "", func(llmtest.Request) *llmtest.Answer {
		cancel()
		return &llmtest.Answer{Fault: llmtest.Fault{HangAt: llmtest.AtStart}}
	})
	_, err := s.Summarize(ctx, messages("pump"))
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, w.calls, 1)
	var totals effect.Totals
	totals.Count(w.calls[0].Response, w.calls[0].Err)
	require.Equal(t, effect.Totals{UnknownCosts: 1}, totals)
}

// broken is a model that fails in a way of its own.
type broken struct{}

func (broken) Complete(context.Context, *effect.ModelRequest) (*effect.ModelResponse, error) {
	return nil, errors.New("no more")
}

func TestSummarizeUnwatched(t *testing.T) {
	t.Parallel()
	_, err := (&llm.Summarizer{Model: broken{}, Use: "m"}).Summarize(t.Context(), messages(strings.Repeat("x", 300)))
	require.EqualError(t, err, "no more")
}
