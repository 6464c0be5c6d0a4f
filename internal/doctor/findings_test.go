package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/term"
)

func TestFindings(t *testing.T) {
	t.Parallel()
	r := Report{
		Home: "/home", Cache: "/cache", Keys: []Key{{Name: "A", Set: true}, {Name: "B"}}, Embedder: Embedder{Model: cards.EmbedderHashed},
		ClickHouse: ClickHouse{Kind: "server", DSN: "clickhouse://db", Answers: true, Versions: Versions{Version: "25.1"}, Database: "windlass", Size: Size{Rows: 12345, Bytes: 9}},
		Secrets:    Secrets{Closed: true},
	}
	found := term.NewTable("what", "finding")
	r.Findings(found, "nothing")
	var out strings.Builder
	require.NoError(t, found.Render(&out, term.Room{}))
	require.Equal(t, `what                finding
------------------  -----------------------------------------------------------------------
home                /home
cache               /cache
windlass.json       none
ClickHouse          server, version 25.1: answers
  server            clickhouse://db
  database          windlass: 12,345 rows, 9 bytes
  waiting           nothing
secrets             not in the environment of the process; memory closed to other processes
npm                 not found
model               none set (WINDLASS_MODEL, --model, or in the cascade)
endpoint of models  the provider's own
embedder            hashed runs of characters
A                   set
B                   not set
`, out.String())
}

func TestFindingsOfWhatDoesNotWork(t *testing.T) {
	t.Parallel()
	require.Equal(t, "server: does not answer", databaseFinding(ClickHouse{Kind: "server", Error: "refused"}))
	require.Equal(t, "embedded: not on this machine yet, the first run fetches it", databaseFinding(ClickHouse{Kind: "embedded"}))
	require.Equal(t, "embedded, version 26.7.3-stable.1, which says 26.7.2 itself: answers",
		databaseFinding(ClickHouse{Kind: "embedded", Answers: true, Versions: Versions{Version: "26.7.2", Release: "26.7.3-stable.1"}}))
	require.Equal(t, "model mine", embedderFinding(Embedder{Model: "mine"}))
	require.Equal(t, "cannot be asked: no key", embedderFinding(Embedder{Model: "mine", Error: "no key"}))
	require.Equal(t, "word vectors: /v", embedderFinding(Embedder{Model: cards.EmbedderWords, Here: true, File: "/v"}))
	require.Equal(t, "incomplete: the system cannot confine its files; nor its port", sandboxFinding(&Sandbox{Missing: []string{"its files", "its port"}}))
	require.Equal(t, "windlass cannot execute itself again; this system does not close the memory of a process to others of the same user", secretsFinding(Secrets{Problem: "windlass cannot execute itself again"}))
}

// TestEndpointsOfModels: an endpoint of windlass.json is named with its model, without a key in it.
func TestEndpointsOfModels(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Models: map[string]config.Model{"tiny*": {BaseURL: "http://user:hunter2@127.0.0.1:18473/v1"}, "plain": {}}}
	r := Report{Endpoints: endpoints(cfg)}
	found := term.NewTable("what", "finding")
	r.Findings(found, "nothing")
	var out strings.Builder
	require.NoError(t, found.Render(&out, term.Room{}))
	require.Contains(t, out.String(), "endpoint of models  the provider's own, but for those below\n  of tiny*          http://")
	require.Contains(t, out.String(), "@127.0.0.1:18473/v1\n")
	require.NotContains(t, out.String(), "hunter2")
	require.NotContains(t, out.String(), "plain")
}
