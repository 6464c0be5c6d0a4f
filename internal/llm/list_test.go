package llm_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// The models of an endpoint, by the name of a model that it has or by its URL.
func TestListOfModels(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(llmtest.Config{Key: secretKey, Models: []string{"zeta", "alpha", "zeta"}})
	t.Cleanup(server.Close)
	r := newRouter(t, server.URL, "")
	for _, of := range []string{"m", "anything", server.URL, server.URL + "/"} {
		names, err := r.List(t.Context(), of)
		require.NoError(t, err, of)
		require.Equal(t, []string{"alpha", "zeta"}, names)
	}
}

func TestFormsOfLists(t *testing.T) {
	t.Parallel()
	for listed, want := range map[string][]string{
		`{"data":[{"id":"b"},{"id":"a","name":"A"}]}`:                         {"a", "b"},
		`{"models":[{"name":"models/gemini"},{"name":"llama3.1:8b"}]}`:        {"gemini", "llama3.1:8b"},
		`[{"id":"a"},{"id":""},{}]`:                                           {"a"},
		`{"data":[]}`:                                                         nil,
		`{"data":[{"id":"` + strings.Repeat("x", 300) + `"},{"id":"short"}]}`: {"short"},
	} {
		server := llmtest.Start(llmtest.Config{Listed: listed})
		t.Cleanup(server.Close)
		names, err := newRouter(t, server.URL, "").List(t.Context(), "m")
		require.NoError(t, err)
		require.Equal(t, want, names)
	}
}

// What goes wrong is told without the key, and no key goes to a host that it is not for.
func TestListsThatFail(t *testing.T) {
	t.Parallel()
	fails := func(r *llm.Router, of string, kind echo.ModelErrorKind, text string) {
		t.Helper()
		_, err := r.List(t.Context(), of)
		var le *llm.ListError
		require.ErrorAs(t, err, &le)
		require.Equal(t, kind, le.Err.Kind)
		require.Contains(t, err.Error(), text)
		require.NotContains(t, err.Error(), secretKey)
		require.NotEmpty(t, le.Err.Hint)
	}
	wrong := llmtest.Start(llmtest.Config{Key: "sk-another-0123456789"})
	t.Cleanup(wrong.Close)
	fails(newRouter(t, wrong.URL, ""), "m", echo.ModelErrAuth, "the key was refused (401): incorrect API key provided: Bearer [value of OPENAI_API_KEY]")
	for listed, text := range map[string]string{
		"<html>": "the answer is no list of models: an answer that is not JSON: <html>", `{"object":"list"}`: "the answer is no list of models",
		`{"data":"x"}`: "the answer is no list of models", strings.Repeat(" ", 17<<20): "the answer is longer than windlass reads",
	} {
		odd := llmtest.Start(llmtest.Config{Listed: listed})
		t.Cleanup(odd.Close)
		fails(newRouter(t, odd.URL, ""), "m", echo.ModelErrBadResponse, text)
	}
	ok := llmtest.Start(llmtest.Config{})
	t.Cleanup(ok.Close)
	fails(newRouter(t, ok.URL+"/elsewhere", ""), "m", echo.ModelErrUnknownEndpoint, "/v1/elsewhere/models is not there (404)")
	fails(newRouter(t, "http://127.0.0.1:1/v1", ""), "m", echo.ModelErrNetwork, "list the models of 127.0.0.1:1: connection refused")
	fails(newRouter(t, ok.URL, ""), "ftp://host", echo.ModelErrConfig, "the URL must be an http or https URL with a host")
	redirects := httptest.NewServer(http.RedirectHandler("http://127.0.0.2:1/v1/models", http.StatusFound))
	t.Cleanup(redirects.Close)
	_, err := newRouter(t, redirects.URL, "").List(t.Context(), "m")
	require.ErrorContains(t, err, "the endpoint redirects elsewhere")
}

// A URL is asked with the key that windlass.json has for its host, and a host that it does not know
// without any.
func TestKeysOfLists(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("windlass.json", []byte(`{"models": {
		"theirs": {"base_url": "https://theirs.example/v1", "api_key_env": "THEIR_KEY"}, "keyless": {"base_url": "https://keyless.example/v1"}}}`))
	require.NoError(t, err)
	env := map[string]string{"OPENAI_API_KEY": secretKey, "THEIR_KEY": "their-key"}
	r := llm.NewRouter(cfg, func(k string) string { return env[k] })
	t.Cleanup(r.Close)
	for of, want := range map[string]string{
		"https://theirs.example/other": "Bearer their-key", "theirs": "Bearer their-key", "https://api.openai.com/v1": "Bearer " + secretKey,
		"https://stranger.example/v1": "", "http://theirs.example/v1": "", "http://localhost:1/v1": "Bearer " + secretKey,
	} {
		got, err := llm.ListHeader(r, of)
		require.NoError(t, err, of)
		require.Equal(t, want, got.Get("Authorization"), of)
	}
	_, err = llm.ListHeader(r, "https://keyless.example/v1")
	require.ErrorContains(t, err, "no key for this endpoint")
	require.False(t, errors.As(err, new(*llm.ListError)))
}
