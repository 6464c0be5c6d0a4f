package llm_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
)

// askedServer answers requests by "METHOD path?query body" and keeps what it was asked.
func askedServer(t *testing.T, answers map[string]string) (base string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var list []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		line := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		mu.Lock()
		defer mu.Unlock()
		list = append(list, line)
		answer, ok := answers[line]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string{}, list...) }
}

func routerAt(t *testing.T, base, settings string) *llm.Router {
	t.Helper()
	cfg, err := config.Parse("w.json", []byte(`{"models": {"m": {"model": "org/m:8b", "base_url": "`+base+`"`+settings+`}}}`))
	require.NoError(t, err)
	r := llm.NewRouter(cfg, func(k string) string {
		if k == "K" {
			return "a-key-of-tests"
		}
		return ""
	})
	t.Cleanup(r.Close)
	return r
}

// A server on this machine is asked for the window that it gives a model, in the way of each kind.
func TestWindowOfLocalServers(t *testing.T) {
	t.Parallel()
	const (
		show = `POST /api/show {"model":"org/m:8b"}`
		ps   = "GET /api/ps"
	)
	tests := map[string]struct {
		answers map[string]string
		want    int64
	}{
		"vLLM": {map[string]string{
			"GET /v1/models": `{"object":"list","data":[{"id":"other","max_model_len":1},{"id":"org/m:8b","object":"model","owned_by":"vllm","max_model_len":32768}]}`,
		}, 32768},
		"a page of the model": {map[string]string{"GET /v1/models/org/m:8b": `{"id":"org/m:8b","max_model_len":4096}`}, 4096},
		"llama.cpp": {map[string]string{
			"GET /v1/models": `{"data":[{"id":"org/m:8b","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
			"GET /props?autoload=false&model=org%2Fm%3A8b": `{"default_generation_settings":{"n_ctx":8192},"total_slots":4}`,
		}, 8192},
		"LM Studio": {map[string]string{
			"GET /api/v0/models/org/m:8b": `{"id":"org/m:8b","state":"loaded","max_context_length":131072,"loaded_context_length":4096}`,
		}, 4096},
		"LM Studio, not loaded": {map[string]string{
			"GET /api/v0/models/org/m:8b": `{"id":"org/m:8b","state":"not-loaded","max_context_length":131072}`,
		}, 0},
		"Ollama, loaded": {map[string]string{
			ps: `{"models":[{"name":"x","context_length":1},{"name":"org/m:8b","model":"org/m:8b","context_length":16384}]}`, show: `{"parameters":"num_ctx 2"}`,
		}, 16384},
		"Ollama, with num_ctx": {map[string]string{
			ps: `{"models":[]}`, show: `{"parameters":"stop \"<x>\"\nnum_ctx                        65536\n","model_info":{"llama.context_length":131072}}`,
		}, 65536},
		"Ollama, by its own default": {map[string]string{ps: `{"models":[]}`, show: `{"parameters":"","model_info":{"llama.context_length":131072}}`}, 0},
		"nothing it says":            {nil, 0},
		"nonsense":                   {map[string]string{"GET /v1/models/org/m:8b": `<html>`, "GET /v1/models": `[]`, ps: `{"models":"x"}`, show: `{"parameters":"num_ctx x"}`}, 0},
		"figures that cannot be":     {map[string]string{"GET /v1/models/org/m:8b": `{"max_model_len":-5}`, "GET /v1/models": `{"data":[{"id":"org/m:8b","max_model_len":99999999999}]}`}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, asked := askedServer(t, tt.answers)
			f := routerAt(t, base+"/v1", "").Facts("m")
			require.Empty(t, asked(), "facts alone send nothing")
			require.Equal(t, tt.want, f.AskWindow(t.Context()))
			require.NotEmpty(t, asked())
			require.LessOrEqual(t, len(asked()), 6)
		})
	}
}

func TestWindowIsAskedOfLocalServersOnly(t *testing.T) {
	t.Parallel()
	for base, asks := range map[string]bool{
		"http://localhost:1/v1": true, "http://127.0.0.1:1/v1": true, "http://[::1]:1/v1": true,
		"https://api.openai.com/v1": false, "http://192.168.0.2:11434/v1": false, "http://localhost.example.com/v1": false,
	} {
		f := routerAt(t, base, `, "api_key_env": "K"`).Facts("m")
		require.Equal(t, asks, f.AskWindow != nil, base)
		require.Equal(t, int64(llm.DefaultWindow), f.DefaultWindow)
	}
	f := routerAt(t, "http://localhost:1/v1", `, "context_window": 1000`).Facts("m")
	require.Nil(t, f.AskWindow, "a person who says it is not contradicted")
	require.Equal(t, int64(1000), f.Window)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Zero(t, routerAt(t, "http://localhost:1/v1", "").Facts("m").AskWindow(ctx))
}
