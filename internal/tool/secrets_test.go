package tool_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/tool"
)

// No result of a tool holds a secret, in whatever encoding: of files, commands, answers, errors.
func TestResultsHoldNoSecret(t *testing.T) {
	t.Parallel()
	const granted, known = "gr@nted/s3cret+value=", "sk-known-0123456789"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("fail") != "" {
			w.WriteHeader(http.StatusBadGateway)
		}
		fmt.Fprintf(w, "%s %q", r.URL.RequestURI(), r.URL.Query().Get("q"))
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), []byte("A="+known+"\nB="+base64.StdEncoding.EncodeToString([]byte("u:"+granted))+"\n"), 0o600))
	b := setup(t, tool.Options{
		Roots: []string{dir}, AllowCommands: true, AllowEnv: []string{"TOKEN"}, Secrets: secret.New(secret.Value{Name: "KNOWN", Value: known}),
		Getenv: func(n string) (string, bool) { return granted, n == "TOKEN" },
		Declared: []cascade.Tool{
			declared(t, `{"tool_id":"get","type":"http","url":"`+srv.URL+`/{{ env.TOKEN }}?q={{ env.TOKEN }}&fail={{ fail }}"}`),
			declared(t, `{"tool_id":"gone","type":"http","url":"http://127.0.0.1:1/{{ env.TOKEN }}/{{ fail }}?t={{ env.TOKEN }}"}`),
			declared(t, `{"tool_id":"shell","type":"shell","command":"cat .env; printf %s {{ env.TOKEN }} | od -An -tx1 | tr -d ' \\n'; exit {{ fail | int }}"}`),
		},
	})
	all := secret.New(secret.Value{Name: "a", Value: granted}, secret.Value{Name: "b", Value: known})
	for _, text := range []string{
		b.ok(t, "get", `{"fail":""}`), b.fails(t, "http_status", "get", `{"fail":"1"}`), b.fails(t, "failed", "gone", `{"fail":"`+known+`"}`),
		b.ok(t, "shell", `{"fail":"0"}`), b.fails(t, "exit_status", "shell", `{"fail":"3"}`), b.ok(t, "read_file", `{"path":".env"}`),
		b.ok(t, "search_files", `{"path":".","pattern":"A="}`), b.fails(t, "not_found", "read_file", `{"path":"`+url.PathEscape(known)+`"}`),
	} {
		require.False(t, all.Has(text), text)
		require.Contains(t, text, "[value of ")
	}
}
