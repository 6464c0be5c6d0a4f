package llmtest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// The bill counts what a request shares with an earlier one as cached, says in the answer what it counts, and has nothing
// of what was refused.
func TestBill(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the fox and the crane ", 10)
	s := llmtest.Start(llmtest.Config{
		Models: []string{"m"}, Prices: &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000},
		Answer: func(r llmtest.Request) *llmtest.Answer {
			if r.Number == 3 {
				return &llmtest.Answer{Fault: llmtest.Fault{Status: http.StatusServiceUnavailable}}
			}
			return &llmtest.Answer{Text: "It is by the well."}
		},
	})
	t.Cleanup(s.Close)
	var said []string
	for _, end := range []string{"one", "two", "three", "four"} {
		res, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(
			`{"model":"m","messages":[{"role":"user","content":"`+long+end+`"}]}`))
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, errors.Join(err, res.Body.Close()))
		said = append(said, string(text))
	}
	bill := s.Bill()
	require.Len(t, bill, 3, "what is answered with an error costs nothing")
	first, second := bill[0], bill[1]
	require.Zero(t, first.Cached)
	require.Equal(t, first.In*2000+first.Out*8000, first.Nano)
	require.Equal(t, int64(32), second.Cached, "what both have: the words before the last, and the names before them")
	require.Equal(t, (second.In-second.Cached)*2000+second.Cached*200+second.Out*8000, second.Nano)
	require.InDelta(t, float64(second.Nano)/1e9, second.USD(), 1e-12)
	require.NotEqual(t, first.ID, second.ID)
	require.Contains(t, said[1], `"cached_tokens":32`)
	require.Contains(t, string(second.Request.Raw), "two")
	require.Equal(t, 4, bill[2].Number)
}
