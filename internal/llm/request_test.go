package llm_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// Where a request goes, for what base_url may be, and what it says of itself.
func TestRequestsOfAnEndpoint(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"": "/chat/completions", "/": "/chat/completions", "/v1": "/v1/chat/completions", "/v1/": "/v1/chat/completions",
		"/v1?api-version=3&x=a%2Fb": "/v1/chat/completions?api-version=3&x=a%2Fb", "/a%2Fb/v1": "/a%2Fb/v1/chat/completions",
	} {
		asked := make(chan *http.Request, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- r
			w.WriteHeader(http.StatusBadRequest)
		}))
		t.Cleanup(server.Close)
		r := newRouter(t, server.URL+base, `{"max_retries": 0, "headers": {"X-Title": "a title", "authorization": "${EXTRA_SECRET}"}}`)
		_, err := r.Complete(t.Context(), request())
		require.ErrorContains(t, err, "the request was refused (400): an empty answer")
		got := <-asked
		require.Equal(t, want, got.RequestURI)
		require.Equal(t, http.MethodPost, got.Method)
		require.Positive(t, got.ContentLength)
		got.Header.Del("Content-Length")
		require.Equal(t, http.Header{
			"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Authorization": {"header-secret-value"},
			"Content-Type": {"application/json"}, "User-Agent": {"windlass"}, "X-Title": {"a title"},
		}, got.Header, "a configured header wins over the key")
	}
}

// A conversation keeps its connection from call to call.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t, "", always(&llmtest.Answer{Text: "hello"}))
	for i := range 5 {
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(info httptrace.GotConnInfo) { require.Equal(t, i > 0, info.Reused) },
		})
		_, err := b.router.Complete(ctx, request())
		require.NoError(t, err)
	}
}

// A server may end its answer after the event that says so. The answer is not held up by that, and
// the connection is kept all the same.
func TestConnectionsAreKeptWhenTheEndComesLater(t *testing.T) {
	t.Parallel()
	end, kept := make(chan struct{}), make(chan error, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		_ = http.NewResponseController(w).Flush()
		<-end
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			kept <- errors.New("the connection was closed")
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	r := newRouter(t, server.URL, "")
	for i := range 3 {
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn:     func(info httptrace.GotConnInfo) { require.Equal(t, i > 0, info.Reused) },
			PutIdleConn: func(err error) { kept <- err },
		})
		_, err := r.Complete(ctx, request())
		require.NoError(t, err)
		end <- struct{}{}
		require.NoError(t, <-kept)
	}
}
