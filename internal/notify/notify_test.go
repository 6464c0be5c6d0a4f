package notify_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/notify"
)

var notice = notify.Notice{
	ID: "0123456789", Kind: "approval", Session: "s1", Root: "s0", Cascade: "c", Phase: "p", Question: "deploy?", Answer: "windlass answer 0123456789",
	Since: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC),
}

const body = `{"id":"0123456789","kind":"approval","session":"s1","root":"s0","cascade":"c","phase":"p","question":"deploy?",` +
	`"answer":"windlass answer 0123456789","since":"2026-11-24T12:00:00Z"}`

func sender(env map[string]string, allowed ...string) *notify.Sender {
	return &notify.Sender{
		AllowEnv: allowed, Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Trusts: func(string) bool { return true }, Env: []string{"PATH=" + os.Getenv("PATH")},
	}
}

// TestWebhook: an address gets what a person has to know, with headers from variables that are granted.
func TestWebhook(t *testing.T) {
	t.Parallel()
	var got, auth, kind string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, auth, kind = r.Method+" "+r.URL.Path+" "+string(b), r.Header.Get("Authorization"), r.Header.Get("Content-Type")
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	s := sender(map[string]string{"TOKEN": "Bearer t", "URL": srv.URL + "/secret"}, "TOKEN", "URL")
	require.NoError(t, s.Send(t.Context(), config.Notify{Webhook: srv.URL + "/hook", Headers: map[string]string{"Authorization": "${TOKEN}"}}, notice))
	require.Equal(t, "POST /hook "+body, got)
	require.Equal(t, "Bearer t", auth)
	require.Equal(t, "application/json", kind)
	require.NoError(t, s.Send(t.Context(), config.Notify{Webhook: "${URL}"}, notice))
	require.Equal(t, "POST /secret "+body, got)
}

// TestWebhookFails: what goes wrong is said without what the address holds, and nothing is sent to another host.
func TestWebhookFails(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was told") }))
	defer elsewhere.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusTemporaryRedirect)
		case "/hangs":
			<-release
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer srv.Close()
	defer close(release)
	host := strings.TrimPrefix(srv.URL, "http://")
	env := map[string]string{"FILE": "file:///etc/passwd", "EMPTY": ""}
	for _, c := range []struct {
		target config.Notify
		want   string
	}{
		{config.Notify{Webhook: srv.URL + "/topsecret"}, "notify " + host + ": it answered with 418"},
		{config.Notify{Webhook: srv.URL + "/away"}, "notify " + host + ": it redirects to another host, which is not followed"},
		{config.Notify{Webhook: srv.URL + "/circle"}, "notify " + host + ": it redirects to another host, which is not followed"},
		{config.Notify{Webhook: srv.URL + "/hangs"}, "notify " + host + ": it did not answer in time"},
		{config.Notify{Webhook: "${FILE}"}, "notify by webhook: the address is no http or https URL"},
		{config.Notify{Webhook: "${OTHER}"}, "notify by webhook: the variable OTHER is not granted: run with --allow-env OTHER"},
		{config.Notify{Webhook: "${EMPTY}"}, "notify by webhook: the variable EMPTY is not set"},
		{config.Notify{Webhook: srv.URL, Headers: map[string]string{"X-Key": "${HOME}"}}, "notify " + host + ": header X-Key: the variable HOME is not granted: run with --allow-env HOME"},
	} {
		s := sender(env, "FILE", "EMPTY")
		if strings.HasSuffix(c.target.Webhook, "/hangs") {
			s.Patience = 50 * time.Millisecond
		}
		err := s.Send(t.Context(), c.target, notice)
		require.EqualError(t, err, c.want)
	}
}

// TestCommand: a command that is trusted gets the same on standard input, its arguments as they are, and no other variables.
func TestCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := sender(map[string]string{"SECRET": "x"}, "SECRET")
	s.Dir = dir
	file := filepath.Join(dir, "it's told")
	require.NoError(t, s.Send(t.Context(), config.Notify{Command: []string{"sh", "-c", `cat > "$1"; env > env`, "sh", file}}, notice))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, body+"\n", string(text))
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	require.NoError(t, err)
	require.NotContains(t, string(env), "SECRET")

	err = s.Send(t.Context(), config.Notify{Command: []string{"sh", "-c", "echo no mail >&2; echo more >&2; exit 3"}}, notice)
	require.EqualError(t, err, "notify by the command sh: exit status 3: no mail")
	err = s.Send(t.Context(), config.Notify{Command: []string{"sh", "-c", "echo done; exit 1"}}, notice)
	require.EqualError(t, err, "notify by the command sh: exit status 1")
	s.Patience = 50 * time.Millisecond
	require.EqualError(t, s.Send(t.Context(), config.Notify{Command: []string{"sh", "-c", "read x; read y; sleep 60"}}, notice), "notify by the command sh: it was killed after 50ms")
	s.Trusts = func(line string) bool { return line == "notify-send waits" }
	err = s.Send(t.Context(), config.Notify{Command: []string{"touch", filepath.Join(dir, "pwned"), "a b"}}, notice)
	require.ErrorAs(t, err, new(*notify.UntrustedError))
	require.EqualError(t, err, "notify by the command touch "+filepath.Join(dir, "pwned")+" 'a b': it is not trusted: list it in trusted_commands of windlass.json, or run with --allow-commands")
	require.NoFileExists(t, filepath.Join(dir, "pwned"))
}

func TestLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, `mail -s 'it'\''s; rm -rf /' '' '$HOME' me@host`, notify.Line([]string{"mail", "-s", "it's; rm -rf /", "", "$HOME", "me@host"}))
}

// TestKey: a target that changes is told again.
func TestKey(t *testing.T) {
	t.Parallel()
	a, b := config.Notify{Webhook: "https://a"}, config.Notify{Webhook: "https://b"}
	require.Equal(t, notify.Key(a), notify.Key(a))
	require.NotEqual(t, notify.Key(a), notify.Key(b))
	require.Len(t, notify.Key(a), 16)
	text, err := json.Marshal(a)
	require.NoError(t, err)
	require.Equal(t, `{"webhook":"https://a"}`, string(text))
}
