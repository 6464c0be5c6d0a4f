package llm

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/secret"
)

// FuzzProviderError reads what an endpoint answers with an error status: it is always an error with
// a kind and with words, in which the key does not stand, and what it asks to wait is a time or
// nothing.
func FuzzProviderError(f *testing.F) {
	const key = "sk-fuzz-8f2e61c0a9d47b35"
	f.Add(429, "3", `{"error": {"message": "Rate limit for `+key+`", "code": "rate_limit_exceeded"}}`)
	f.Add(400, "Wed, 21 Oct 2099 07:28:00 GMT", `[{"error": {"message": "x", "status": 3}}]`)
	f.Add(500, "1e308", `{"detail": "`+strings.Repeat("x", 5000)+`"}`)
	f.Add(502, "-1", "<html>"+key)
	f.Add(404, "NaN", `{"error": "no such model", "message": {}}`)
	f.Add(401, "Infinity", `{"error": null}`)
	f.Fuzz(func(t *testing.T, status int, wait, body string) {
		if status < http.StatusBadRequest || status > 599 {
			return
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		h := http.Header{"Retry-After": {wait}, "Retry-After-Ms": {wait}}
		known := cleaner{secret.New(secret.Value{Name: "KEY", Value: key})}
		got := statusFailure(status, h, known.body([]byte(body)), now)
		require.NotEmpty(t, got.kind)
		require.NotEmpty(t, got.message)
		require.NotContains(t, known.clean(got.message), key)
		require.GreaterOrEqual(t, got.after, time.Duration(-1))
		require.GreaterOrEqual(t, got.limit(4), 0)
	})
}

// FuzzVectors reads answers to a request for vectors: each text has one of unit length, or none, or
// there is an error.
func FuzzVectors(f *testing.F) {
	f.Add(2, `{"data": [{"index": 1, "embedding": [1, 2]}, {"index": 0, "embedding": [0, 0]}], "usage": {"prompt_tokens": 3}}`)
	f.Add(1, `{"data": [{"embedding": [1e38, 1e38]}]}`)
	f.Add(1, `{"data": [{"index": -1, "embedding": []}], "error": null}`)
	f.Add(1, `{"data": [{"index": 99999999999, "embedding": [1]}]}`)
	f.Add(1, `{"error": {"message": "no"}}`)
	f.Add(3, `[`)
	f.Fuzz(func(t *testing.T, texts int, body string) {
		if texts < 0 || texts > 100 {
			return
		}
		res := &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}
		res.Body = readCloser{strings.NewReader(body)}
		answer, err := readEmbeddings(res, cleaner{})
		if err != nil {
			return
		}
		vectors, err := answer.vectors(texts)
		if err != nil {
			return
		}
		require.Len(t, vectors, texts)
		for _, v := range vectors {
			var sum float64
			for _, x := range v {
				require.False(t, math.IsNaN(float64(x)) || math.IsInf(float64(x), 0), "%v", v)
				sum += float64(x) * float64(x)
			}
			require.True(t, v == nil || math.Abs(sum-1) < 1e-3, "%v", v)
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
