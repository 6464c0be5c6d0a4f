package doctor

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
)

// TestExamine: what is wrong is in the report, in the order in which it is to be mended.
func TestExamine(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "https://user:pass@models.example/v1")
	t.Setenv("WINDLASS_MODEL", "")
	home := t.TempDir()
	session := config.SessionDir(home, "one")
	require.NoError(t, os.MkdirAll(session, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(session, journal.File), []byte("no journal\n"), 0o600))
	r := Examine(t.Context(), Options{
		Config: &config.Config{DefaultModel: "small"}, ConfigError: errors.New("windlass.json is wrong"),
		Database: clickhouse.Options{DSN: "ftp://user:secret@h:1/db", Home: home, CacheDir: t.TempDir()},
		Embedder: cards.EmbedderHashed,
	})
	require.NotEmpty(t, r.ClickHouse.Error)
	require.Equal(t, []string{"windlass.json is wrong", r.ClickHouse.Error}, r.Problems)
	require.Len(t, r.Warnings, 1)
	require.Contains(t, r.Warnings[0], session)
	require.Zero(t, r.ClickHouse.Waiting)
	require.Equal(t, "small", r.Model)
	require.Equal(t, Embedder{Model: cards.EmbedderHashed, Here: true}, r.Embedder)
	require.Equal(t, "server", r.ClickHouse.Kind)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NotContains(t, string(text), "pass")
	require.NotContains(t, string(text), "secret@")
}

func TestExamineKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OWN", "value")
	keys := examineKeys(&config.Config{Models: map[string]config.Model{
		"a": {APIKeyEnv: "OWN"}, "b": {APIKeyEnv: "OWN"}, "c": {}, "d": {APIKeyEnv: "OTHER_OF_TEST"},
	}})
	require.Equal(t, []Key{{Name: "OPENAI_API_KEY"}, {Name: "OWN", Set: true}, {Name: "OTHER_OF_TEST"}}, keys)
}

func TestExamineEmbedder(t *testing.T) {
	t.Parallel()
	words := examineEmbedder(&config.Config{}, cards.EmbedderWords, t.TempDir())
	require.False(t, words.Here)
	require.NotEmpty(t, words.File)
	unknown := examineEmbedder(&config.Config{Models: map[string]config.Model{"mine": {APIKeyEnv: "UNSET_OF_TEST"}}}, "mine", "")
	require.False(t, unknown.Here)
	require.Contains(t, unknown.Error, "UNSET_OF_TEST")
}
