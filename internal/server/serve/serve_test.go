package serve_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/runs"
	"github.com/windlass-run/windlass/internal/server/serve"
)

// options are those of a service on any port of loopback, without ClickHouse.
func options(t *testing.T) serve.Options {
	t.Helper()
	a, err := core.Open(core.Options{Home: t.TempDir(), Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return serve.Options{App: a, Listen: "127.0.0.1:0", Runs: runs.Options{Most: 1, NoClickHouse: true}}
}

// TestServe: a service answers whoever has its token until its context ends, and removes the token.
func TestServe(t *testing.T) {
	t.Parallel()
	s, err := serve.Open(t.Context(), options(t))
	require.NoError(t, err)
	require.True(t, s.Loopback())
	token, err := os.ReadFile(s.TokenFile())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	for header, status := range map[string]int{"": http.StatusUnauthorized, "Bearer " + strings.TrimSpace(string(token)): http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr().String()+"/api/sessions", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", header)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, status, resp.StatusCode)
	}
	require.Zero(t, s.Running())
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, s.Close())
	require.NoFileExists(t, s.TokenFile())
}

// TestOpenRefuses: what is wrong with the options has a type and a kind, and leaves nothing open.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Grants.Roots = []string{t.TempDir(), filepath.Join(t.TempDir(), "none")}
	_, err := serve.Open(t.Context(), o)
	var root *grants.RootError
	require.ErrorAs(t, err, &root)
	require.True(t, failure.Is(err, failure.InvalidRequest))
	require.ErrorContains(t, err, "open the folder "+o.Grants.Roots[1]+": ")

	o = options(t)
	o.Listen = "127.0.0.1:99999"
	_, err = serve.Open(t.Context(), o)
	var address *serve.ListenError
	require.ErrorAs(t, err, &address)
	require.True(t, failure.Is(err, failure.InvalidRequest))
	require.EqualError(t, err, "listen: listen tcp: address 99999: invalid port")

	o = options(t)
	require.NoError(t, os.WriteFile(filepath.Join(o.App.Home(), "serve"), nil, 0o600))
	_, err = serve.Open(t.Context(), o)
	var token *serve.TokenError
	require.ErrorAs(t, err, &token)
	require.True(t, failure.Is(err, failure.StorageFailed))
	require.ErrorContains(t, err, "is a link or something else that is no folder")

	require.EqualError(t, &serve.InterruptedError{Sessions: []string{"a", "b"}}, "interrupted 2 runs: a, b")
}
