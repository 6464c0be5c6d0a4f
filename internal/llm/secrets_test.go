package llm_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
	"github.com/windlass-run/windlass/internal/secret"
)

// What an endpoint echoes of its key, or of anything else that is secret, is in no answer and in
// nothing that is told of one.
func TestAnswersHoldNoSecret(t *testing.T) {
	t.Parallel()
	const known = "p@ss/word+42"
	for _, plain := range []bool{false, true} {
		echoed := strings.Join([]string{
			secretKey, url.QueryEscape(known), base64.StdEncoding.EncodeToString([]byte("user:" + known)), known, "header-secret-value",
		}, " and ")
		b := setup(t, `{"headers": {"X-Api-Key": "${EXTRA_SECRET}"}}`, always(&llmtest.Answer{
			Text: "The key is " + echoed, Model: secretKey, Plain: plain,
			Calls: []llmtest.Call{{ID: "c-" + secretKey, Name: "read_file", Arguments: fmt.Sprintf(`{"path": %q}`, echoed)}},
		}))
		b.router.Know(secret.New(secret.Value{Name: "KNOWN", Value: known}))
		req := request()
		req.Tools = []effect.ToolSpec{{Name: "read_file", Parameters: []byte(`{"type":"object"}`)}}
		var told strings.Builder
		req.OnDelta = func(d effect.Delta) { told.WriteString(d.Text + d.ToolCall) }
		resp, err := b.router.Complete(t.Context(), req)
		require.NoError(t, err)
		call := resp.Message.ToolCalls()[0]
		all := secret.New(secret.Value{Name: "a", Value: secretKey}, secret.Value{Name: "b", Value: known}, secret.Value{Name: "c", Value: "header-secret-value"})
		for _, text := range []string{resp.Message.Text(), call.Arguments, call.ID, resp.Model, told.String(), string(resp.Message.JSON())} {
			require.False(t, all.Has(text), text)
		}
		require.Contains(t, resp.Message.Text(), "The key is [value of OPENAI_API_KEY] and [value of KNOWN] and ")
		require.Contains(t, resp.Message.Text(), "[value of KNOWN] and [value of EXTRA_SECRET]")
		require.Equal(t, resp.Message.Text(), strings.TrimSuffix(told.String(), "read_file"), "what streamed is what is kept")
	}
}

// An error that is cut is not cut in the middle of a secret, and one that is encoded is found.
func TestErrorsHoldNoPartOfASecret(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"cut":     strings.Repeat("x", 190) + secretKey,
		"encoded": "see https://host/?k=" + url.QueryEscape("p@ss/word+42") + " or " + base64.RawURLEncoding.EncodeToString([]byte(secretKey)),
		"escaped": `{"error": {"message": "bad key \u0073k-test-0123456789abcdef"}}`,
		"stream":  "data: " + strings.Repeat("y", 185) + secretKey + "\n\n",
	} {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				fmt.Fprint(w, body)
			}))
			t.Cleanup(server.Close)
			r := newRouter(t, server.URL+"/v1", `{"max_retries": 0}`)
			r.Know(secret.New(secret.Value{Name: "KNOWN", Value: "p@ss/word+42"}))
			_, err := r.Complete(t.Context(), request())
			require.Error(t, err)
			require.Contains(t, err.Error(), "[value", name)
			for _, part := range []string{secretKey[:12], "p%40ss", base64.RawURLEncoding.EncodeToString([]byte(secretKey))[:12]} {
				require.NotContains(t, err.Error(), part, name)
			}
		}
	}
}

func TestSecretsOfAModel(t *testing.T) {
	t.Parallel()
	env := map[string]string{"KEY": " key-value\n", "EXTRA": "extra-value", "OPENAI_API_KEY": "openai-value"}
	getenv := func(name string) string { return env[name] }
	require.Equal(t, []secret.Value{{Name: "OPENAI_API_KEY", Value: "openai-value"}}, llm.Secrets(config.Model{}, getenv))
	require.Equal(t, []secret.Value{
		{Name: "KEY", Value: "key-value"}, {Name: "header Authorization", Value: "Bearer abc"}, {Name: "header Authorization", Value: "abc"}, {Name: "EXTRA", Value: "extra-value"},
	}, llm.Secrets(config.Model{APIKeyEnv: "KEY", Headers: map[string]string{"Authorization": "Bearer abc", "X": "${EXTRA}", "Y": "plain"}}, getenv))
}
