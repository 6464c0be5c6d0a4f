package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var _ contextcards.Embedder = (*llm.Embedder)(nil)

// embedding is a server and an embedder that asks it for vectors of model "m".
type embedding struct {
	server *llmtest.Server
	*llm.Embedder
	waits *[]time.Duration // between attempts; they are not waited
}

func setupEmbedder(t *testing.T, settings string, answer func(llmtest.EmbedRequest) *llmtest.Answer) embedding {
	t.Helper()
	server := llmtest.Start(llmtest.Config{Key: secretKey, Embed: answer})
	t.Cleanup(server.Close)
	router := newRouter(t, server.URL, settings)
	waits := llm.SleepLess(t, router, "m")
	e, err := router.Embedder("m")
	require.NoError(t, err)
	return embedding{server, e, waits}
}

func requireUnit(t *testing.T, v []float32, dims int) {
	t.Helper()
	require.Len(t, v, dims)
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	require.InDelta(t, 1, sum, 1e-5)
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	e := setupEmbedder(t, `{"model": "vendor/small", "dimensions": 12, "options": {"input_type": "passage"}}`, nil)
	require.Equal(t, "vendor/small@12", e.Name())
	texts := []string{"one", "", "two", " \n\t", "one", "with \"quotes\" and \xff"}
	v, err := e.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.NoError(t, e.server.Refused())
	require.Len(t, v, len(texts))
	for _, i := range []int{0, 2, 4, 5} {
		requireUnit(t, v[i], 12)
	}
	require.Nil(t, v[1])
	require.Nil(t, v[3])
	require.Equal(t, v[0], v[4])
	require.NotEqual(t, v[0], v[2])
	asked := e.server.Embeddings()
	require.Len(t, asked, 1)
	require.Equal(t, []string{"one", "two", "one", "with \"quotes\" and \uFFFD"}, asked[0].Input, "nothing is asked for nothing")
	require.Equal(t, "vendor/small", asked[0].Model)
	require.Equal(t, 12, asked[0].Dimensions)
	require.Equal(t, map[string]any{"input_type": "passage"}, asked[0].Options)

	v, err = e.Embed(t.Context(), []string{"", " "})
	require.NoError(t, err)
	require.Equal(t, [][]float32{nil, nil}, v)
	require.Len(t, e.server.Embeddings(), 1)
}

func TestEmbedWithoutDimensions(t *testing.T) {
	t.Parallel()
	e := setupEmbedder(t, "", nil)
	require.Equal(t, "m", e.Name())
	v, err := e.Embed(t.Context(), []string{"one"})
	require.NoError(t, err)
	requireUnit(t, v[0], 8)
	require.Zero(t, e.server.Embeddings()[0].Dimensions)
}

// A request holds so many texts, and so many bytes.
func TestEmbedBatches(t *testing.T) {
	t.Parallel()
	texts := make([]string, 150)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	sizes := func(e embedding) (out []int) {
		for _, r := range e.server.Embeddings() {
			out = append(out, len(r.Input))
		}
		return out
	}
	whole := setupEmbedder(t, "", nil)
	want, err := whole.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Equal(t, []int{64, 64, 22}, sizes(whole))

	small := setupEmbedder(t, `{"batch_size": 100}`, nil)
	got, err := small.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Equal(t, []int{100, 50}, sizes(small))
	require.Equal(t, want, got, "batches do not change what comes back")

	long := make([]string, 40)
	for i := range long {
		long[i] = strings.Repeat("x", 20_000)
	}
	large := setupEmbedder(t, "", nil)
	_, err = large.Embed(t.Context(), long)
	require.NoError(t, err)
	require.Equal(t, []int{13, 13, 13, 1}, sizes(large), "256 KiB")
}

// A text that is too long for the model is embedded by its beginning, and the next one is cut at
// once.
func TestEmbedCutsLongTexts(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]llmtest.Fault{
		"OpenAI":    {Status: 400, Code: "invalid_request_error", Message: "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"},
		"Ollama":    {Status: 400, Message: "the input length exceeds the context length"},
		"llama.cpp": {Status: 500, Code: "server_error", Message: "input (992 tokens) is too large to process. increase the physical batch size (current batch size: 512)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := setupEmbedder(t, "", func(r llmtest.EmbedRequest) *llmtest.Answer {
				for _, text := range r.Input {
					if len(text) > 2000 {
						return &llmtest.Answer{Fault: refusal}
					}
				}
				return nil
			})
			v, err := e.Embed(t.Context(), []string{"short", strings.Repeat("é", 5000)})
			require.NoError(t, err)
			requireUnit(t, v[1], 8)
			require.Empty(t, *e.waits, "there is nothing to wait for")
			asked := e.server.Embeddings()
			require.Len(t, asked, 4) // 10000, 5000, 2500, 1250 bytes
			require.Equal(t, []string{"short", strings.Repeat("é", 625)}, asked[3].Input)
			_, err = e.Embed(t.Context(), []string{strings.Repeat("y", 5000)})
			require.NoError(t, err)
			asked = e.server.Embeddings()
			require.Len(t, asked, 5)
			require.Equal(t, strings.Repeat("y", 1250), asked[4].Input[0])
		})
	}
	t.Run("as configured", func(t *testing.T) {
		t.Parallel()
		e := setupEmbedder(t, `{"context_window": 512}`, nil)
		_, err := e.Embed(t.Context(), []string{strings.Repeat("x", 5000)})
		require.NoError(t, err)
		require.Len(t, e.server.Embeddings()[0].Input[0], 512*3)
	})
	t.Run("never short enough", func(t *testing.T) {
		t.Parallel()
		e := setupEmbedder(t, "", func(llmtest.EmbedRequest) *llmtest.Answer {
			return &llmtest.Answer{Fault: llmtest.Fault{Status: 400, Code: "context_length_exceeded", Message: "too long"}}
		})
		_, err := e.Embed(t.Context(), []string{strings.Repeat("x", 5000)})
		failed := requireModelError(t, err, echo.ModelErrContextLength)
		require.Contains(t, failed.Hint, "context_window")
		asked := e.server.Embeddings()
		require.Len(t, asked[len(asked)-1].Input[0], 200)
	})
}

func requireModelError(t *testing.T, err error, kind echo.ModelErrorKind) *effect.ModelError {
	t.Helper()
	var failed *effect.ModelError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, kind, failed.Kind)
	require.NotContains(t, err.Error(), secretKey)
	return failed
}

func TestEmbedRetries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault llmtest.Fault
		raw   string
	}{
		"rate limited": {fault: llmtest.Fault{Status: 429, Code: "rate_limit_exceeded", Message: "slow down"}},
		"in trouble":   {fault: llmtest.Fault{Status: 503, Message: "overloaded"}},
		"reset":        {fault: llmtest.Fault{ResetAt: llmtest.AtStart}},
		"cut off":      {fault: llmtest.Fault{Truncate: true}},
		"a page":       {fault: llmtest.Fault{HTML: true}},
		"in disguise":  {raw: `{"error": {"message": "slow down", "code": 429}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := setupEmbedder(t, "", func(r llmtest.EmbedRequest) *llmtest.Answer {
				if r.Number > 1 {
					return nil
				}
				return &llmtest.Answer{Fault: tt.fault, Raw: tt.raw, Vectors: llmtest.Vectors(r.Input, 0), Header: http.Header{"Retry-After": {"3"}}}
			})
			v, err := e.Embed(t.Context(), []string{"one"})
			require.NoError(t, err)
			requireUnit(t, v[0], 8)
			require.Len(t, *e.waits, 1)
			if tt.fault.Status == 429 {
				require.Equal(t, 3*time.Second, (*e.waits)[0])
			}
		})
	}
}

// What an endpoint may answer instead of vectors, and what is said of it.
func TestEmbedFails(t *testing.T) {
	t.Parallel()
	fault := func(status int, message string) *llmtest.Answer {
		return &llmtest.Answer{Fault: llmtest.Fault{Status: status, Message: message}}
	}
	raw := func(s string) *llmtest.Answer { return &llmtest.Answer{Raw: s} }
	tests := map[string]struct {
		answer *llmtest.Answer
		kind   echo.ModelErrorKind
		want   string
		hint   string
	}{
		"key":          {fault(401, "wrong key "+secretKey), echo.ModelErrAuth, "the key was refused (401): wrong key [value of OPENAI_API_KEY]", "check the key"},
		"model":        {fault(404, "no such model"), echo.ModelErrUnknownModel, "the model is not known there (404): no such model", "check the model's name"},
		"refused":      {fault(400, "batch size is invalid, it should not be larger than 10"), echo.ModelErrBadRequest, "the request was refused (400): batch size is invalid, it should not be larger than 10", "check dimensions and batch_size"},
		"quota":        {fault(402, "pay first"), echo.ModelErrQuota, "no quota left (402): pay first", "billing"},
		"trouble":      {fault(500, "oops"), echo.ModelErrServer, "the provider failed (500): oops (tried 5 times)", "wait a while"},
		"no JSON":      {raw(`hello`), echo.ModelErrBadResponse, "an answer that is not JSON: hello (tried 3 times)", "wait a while"},
		"no data":      {raw(`{}`), echo.ModelErrBadResponse, "the answer has 0 vectors for 2 texts (tried 3 times)", ""},
		"too few":      {raw(`{"data":[{"embedding":[1]}]}`), echo.ModelErrBadResponse, "the answer has 1 vectors for 2 texts (tried 3 times)", ""},
		"twice":        {raw(`{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`), echo.ModelErrBadResponse, "the answer has no vector for each text: one is for text 2 of 2 (tried 3 times)", ""},
		"beyond":       {raw(`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`), echo.ModelErrBadResponse, "the answer has no vector for each text: one is for text 3 of 2 (tried 3 times)", ""},
		"empty":        {raw(`{"data":[{"embedding":[1]},{"embedding":null}]}`), echo.ModelErrBadResponse, "the vector of text 2 is empty (tried 3 times)", ""},
		"other length": {raw(`{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`), echo.ModelErrBadResponse, "the vectors have 2 dimensions, expected 1", "the endpoint does not shorten vectors"},
		"no numbers":   {raw(`{"data":[{"embedding":"AAAA"},{"embedding":"AAAA"}]}`), echo.ModelErrBadResponse, "the answer holds no vectors of numbers (tried 3 times)", ""},
		"too large":    {raw(`{"data":[{"embedding":[1e99]},{"embedding":[1]}]}`), echo.ModelErrBadResponse, "the answer holds no vectors of numbers (tried 3 times)", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := setupEmbedder(t, "", func(llmtest.EmbedRequest) *llmtest.Answer { return tt.answer })
			v, err := e.Embed(t.Context(), []string{"one", "two"})
			require.Nil(t, v)
			failed := requireModelError(t, err, tt.kind)
			require.Equal(t, tt.want, failed.Message)
			require.Contains(t, failed.Hint, tt.hint)
			require.Contains(t, err.Error(), "model m at 127.0.0.1:")
		})
	}
}

// An endpoint that gives other dimensions than were asked for is told from one that does.
func TestEmbedDimensionsThatAreNotGiven(t *testing.T) {
	t.Parallel()
	e := setupEmbedder(t, `{"dimensions": 4}`, func(r llmtest.EmbedRequest) *llmtest.Answer {
		return &llmtest.Answer{Vectors: llmtest.Vectors(r.Input, 8)}
	})
	_, err := e.Embed(t.Context(), []string{"one"})
	failed := requireModelError(t, err, echo.ModelErrBadResponse)
	require.Equal(t, "the vectors have 8 dimensions, expected 4", failed.Message)
	require.Len(t, e.server.Embeddings(), 1, "asking again would not help")
}

func TestEmbedShapes(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"out of order":  `{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,0]}]}`,
		"without index": `{"data":[{"embedding":[3,0]},{"embedding":[0,2]}]}`,
	} {
		e := setupEmbedder(t, "", func(llmtest.EmbedRequest) *llmtest.Answer { return &llmtest.Answer{Raw: raw} })
		v, err := e.Embed(t.Context(), []string{"one", "two"})
		require.NoError(t, err, name)
		require.Equal(t, [][]float32{{1, 0}, {0, 1}}, v, name)
	}
	e := setupEmbedder(t, "", func(llmtest.EmbedRequest) *llmtest.Answer {
		return &llmtest.Answer{Vectors: [][]float64{{0, 0}, {0, 2}}}
	})
	v, err := e.Embed(t.Context(), []string{"nothing to the model", "two"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{nil, {0, 1}}, v)
}

// Every request is told with what it cost: by what the provider charged, else by its usage, else by
// a count of its own.
func TestEmbedIsWatched(t *testing.T) {
	t.Parallel()
	answer := func(r llmtest.EmbedRequest) *llmtest.Answer {
		a := &llmtest.Answer{Vectors: llmtest.Vectors(r.Input, 0)}
		n := 1000 * len(r.Input)
		switch r.Input[0] {
		case "not counted":
		case "charged":
			a.Usage = map[string]any{"prompt_tokens": n, "total_tokens": n, "cost": 0.5}
		default:
			a.Usage = map[string]any{"prompt_tokens": n, "total_tokens": n}
		}
		return a
	}
	e := setupEmbedder(t, `{"model": "vendor/small", "price": {"input": 0.02, "output": 9}, "batch_size": 2}`, answer)
	w := &watched{}
	e.Watch(w.watch)
	for _, texts := range [][]string{{"a", "", "b", "c"}, {"not counted"}, {"charged"}} {
		_, err := e.Embed(t.Context(), texts)
		require.NoError(t, err)
	}
	require.Equal(t, 4, w.begun)
	require.Len(t, w.calls, 4)
	for i, want := range []struct {
		usage echo.Usage
		cost  float64
	}{
		{echo.Usage{In: 2000}, 2000 * 0.02 / 1e6},
		{echo.Usage{In: 1000}, 1000 * 0.02 / 1e6},
		{echo.Usage{In: 3, Estimated: true}, 3 * 0.02 / 1e6},
		{echo.Usage{In: 1000}, 0.5},
	} {
		c := w.calls[i]
		require.NoError(t, c.Err)
		require.Equal(t, effect.Site{Purpose: echo.PurposeEmbed}, c.Request.Site)
		require.Equal(t, "m", c.Request.Model)
		require.Equal(t, want.usage, c.Response.Usage)
		require.InDelta(t, want.cost, *c.Response.CostUSD, 1e-12)
		require.Equal(t, "vendor/small", c.Response.Model)
		require.Contains(t, c.Response.Provider, "127.0.0.1:")
		require.Nil(t, c.Response.Message)
	}
}

// Without a price the cost is unknown, which is not zero.
func TestEmbedCostIsUnknown(t *testing.T) {
	t.Parallel()
	e := setupEmbedder(t, "", nil)
	w := &watched{}
	e.Watch(w.watch)
	_, err := e.Embed(t.Context(), []string{"one"})
	require.NoError(t, err)
	require.Nil(t, w.calls[0].Response.CostUSD)
}

// A request that failed is told once, with all its tries, and without secrets.
func TestEmbedFailureIsWatched(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault   llmtest.Fault
		kind    echo.ModelErrorKind
		unpaid  bool
		retries int
	}{
		"refused": {llmtest.Fault{Status: 401, Message: "wrong key " + secretKey}, echo.ModelErrAuth, true, 0},
		"trouble": {llmtest.Fault{Status: 500, Message: "oops " + secretKey}, echo.ModelErrServer, false, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := setupEmbedder(t, "", func(llmtest.EmbedRequest) *llmtest.Answer { return &llmtest.Answer{Fault: tt.fault} })
			w := &watched{}
			e.Watch(w.watch)
			_, err := e.Embed(t.Context(), []string{"one"})
			require.Error(t, err)
			require.Equal(t, 1, w.begun)
			require.Len(t, w.calls, 1)
			require.Nil(t, w.calls[0].Response)
			failed := requireModelError(t, w.calls[0].Err, tt.kind)
			require.Equal(t, tt.unpaid, failed.Unpaid)
			require.Equal(t, tt.retries, failed.Retries)
			require.NotContains(t, w.calls[0].Err.Error(), secretKey)
		})
	}
}

func TestEmbedEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	e := setupEmbedder(t, "", func(llmtest.EmbedRequest) *llmtest.Answer {
		cancel()
		return &llmtest.Answer{Fault: llmtest.Fault{HangAt: llmtest.AtStart}}
	})
	_, err := e.Embed(ctx, []string{"one"})
	require.ErrorIs(t, err, context.Canceled)
	failed := requireModelError(t, err, echo.ModelErrTimeout)
	require.Equal(t, "the call was ended: context canceled", failed.Message)
}

func TestEmbedTimesOut(t *testing.T) {
	t.Parallel()
	e := setupEmbedder(t, `{"idle_timeout_seconds": 0.02, "max_retries": 1}`, func(llmtest.EmbedRequest) *llmtest.Answer {
		return &llmtest.Answer{Fault: llmtest.Fault{HangAt: llmtest.AtStart}}
	})
	_, err := e.Embed(t.Context(), []string{"one"})
	failed := requireModelError(t, err, echo.ModelErrTimeout)
	require.Equal(t, "the endpoint fell silent (tried 2 times)", failed.Message)
}

func TestEmbedderNeedsAKey(t *testing.T) {
	t.Parallel()
	r := newRouter(t, "https://elsewhere.example", `{"base_url": "https://third.example/v1"}`)
	_, err := r.Embedder("m")
	requireConfigError(t, err, "model m at third.example: no key for this endpoint", "api_key_env")
}

// One embedder is asked from many goroutines.
func TestEmbedAtTheSameTime(t *testing.T) {
	t.Parallel()
	e := setupEmbedder(t, "", nil)
	want, err := e.Embed(t.Context(), []string{"one", "two"})
	require.NoError(t, err)
	w := &watched{}
	e.Watch(w.watch)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			got, err := e.Embed(t.Context(), []string{"one", "two"})
			for k := range got {
				for d := range got[k] {
					if math.Abs(float64(got[k][d]-want[k][d])) > 1e-6 {
						err = errors.New("another vector")
					}
				}
			}
			errs[i] = err
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Len(t, w.calls, 8)
}
