package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestModel(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(&model{seen: map[string]int{}})
	defer s.Close()
	for _, tc := range []struct{ path, body, contentType, want string }{
		{"/a/2/chat/completions", `{}`, "application/json", `"arguments":"{\"n\":1}"`},
		{"/a/2/chat/completions", `{}`, "application/json", `"content":"done"`},
		{"/a/2/chat/completions", `{"stream":true}`, "text/event-stream", `"index":0,"id":"call_1"`},
		{"/a/2/chat/completions", `{"stream":true}`, "text/event-stream", `"finish_reason":"stop"`},
		{"/a/many/chat/completions", `{}`, "text/plain; charset=utf-8", `read the number of turns of /a/many/chat/completions`},
		{"/a/2", `{}`, "text/plain; charset=utf-8", `no such path: /a/2`},
	} {
		resp, err := http.Post(s.URL+tc.path, "application/json", strings.NewReader(tc.body))
		require.NoError(t, err)
		out, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, tc.contentType, resp.Header.Get("Content-Type"))
		assert.Contains(t, string(out), tc.want)
	}
}

func TestAsksForStream(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	for body, want := range map[string]bool{
		`{}`:                                     false,
		`{"stream":true}`:                        true,
		`{"stream":true,"m":"` + long:            true,
		`{"m":"` + long + `","stream":true}`:     true,
		`{"m":"` + long + `"stream":true` + long: false,
		`{"stream":false,"m":"` + long + `"}`:    false,
	} {
		assert.Equal(t, want, asksForStream([]byte(body)))
	}
}
