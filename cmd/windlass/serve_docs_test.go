//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// withToken is what hands the token to curl without an argument that others could see.
const withToken = "windlass serve token --header | "

// curlCall is a request as docs/serve.md writes it for curl.
type curlCall struct {
	method, path, body string
	headers            []string
}

// curlOf reads a command line of curl with the flags that the page uses; another one is an error.
func curlOf(t *testing.T, line string) curlCall {
	t.Helper()
	words := word.FindAllString(line, -1)
	for i := range words {
		words[i] = strings.Trim(words[i], "'\"")
	}
	require.Equal(t, "curl", words[0])
	c := curlCall{method: http.MethodGet}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; w {
		case "-sS", "-sSN":
		case "-X":
			i++
			c.method = words[i]
		case "-H":
			i++
			if words[i] == "@-" { // what stands before the pipe
				continue
			}
			name, value, ok := strings.Cut(words[i], ": ")
			require.True(t, ok, line)
			c.headers = append(c.headers, name, value)
		case "-d":
			i++
			c.method, c.body = http.MethodPost, words[i]
		default:
			path, ok := strings.CutPrefix(w, "http://127.0.0.1:8765")
			require.True(t, ok, "what is %q in %s", w, line)
			require.Empty(t, c.path, line)
			c.path = path
		}
	}
	return c
}

// TestServePage sends every request that docs/serve.md shows, in its order, to the server that it
// shows.
func TestServePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/serve.md")
	require.NoError(t, err)
	first := commandsOf(string(page))[0]
	require.Equal(t, []string{"serve", "--root", "examples/cascades", "--offline"}, first)
	l := newLab(t, "")
	repo, err := filepath.Abs("../..")
	require.NoError(t, err)
	s := l.serve("--root", filepath.Join(repo, "examples/cascades"), "--offline", "--no-clickhouse")
	var calls []curlCall
	for _, b := range shell.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(b[1]) {
			if line, ok := strings.CutPrefix(line, withToken); ok {
				calls = append(calls, curlOf(t, strings.TrimSpace(line)))
			}
			require.False(t, strings.HasPrefix(line, "curl "), "without a token: %s", line)
		}
	}
	require.Len(t, calls, 12)
	s.Token = "" // it is shown as the page shows it
	for _, c := range calls {
		name, value, ok := strings.Cut(l.token("--header"), ": ")
		require.True(t, ok)
		c.headers = append(c.headers, name, value)
		want := http.StatusOK
		var body any
		if c.body != "" {
			want, body = http.StatusCreated, c.body
		}
		if strings.HasSuffix(c.path, "/cancel") || strings.HasSuffix(c.path, "/resume") {
			want = http.StatusConflict // it has completed meanwhile
		}
		switch {
		case strings.HasPrefix(c.path, "/api/waits/"):
			want = http.StatusNotFound // nobody waits
		case c.path == "/api/signals":
			want = http.StatusAccepted
		}
		a := s.Do(t, c.method, c.path, body, c.headers...)
		require.Equal(t, want, a.Status, "%s %s: %s", c.method, c.path, a.Body)
		if strings.HasSuffix(c.path, "/events") {
			require.Contains(t, string(a.Body), "\nevent: end\n")
		}
	}
	s.stop(exitOK)
}

// TestServePageIsComplete looks for every address and every flag of windlass serve in the page.
func TestServePageIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/serve.md")
	require.NoError(t, err)
	for _, name := range [][]string{{"serve"}, {"serve", "token"}} {
		cmd, _, err := newRootCommand(&console{}).Find(name)
		require.NoError(t, err)
		require.Contains(t, string(page), cmd.CommandPath())
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && f.Name != "no-clickhouse" {
				require.True(t, strings.Contains(string(page), "`--"+f.Name), "docs/serve.md does not have --%s", f.Name)
			}
		})
	}
}
