package prefetch

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

func TestWhatIsNotNeededIsNotFetched(t *testing.T) {
	t.Setenv(cards.EnvEmbeddingModel, "")
	cfg := &config.Config{EmbeddingModel: "text-embedding-3-small"}
	things, err := All(t.Context(), nil, clickhouse.Options{DSN: "clickhouse://db:9000"}, cfg)
	require.NoError(t, err)
	require.Equal(t, []Thing{
		{What: Engine, NotNeeded: "a ClickHouse server is used"},
		{What: Vectors, NotNeeded: "the embedder is text-embedding-3-small"},
	}, things)
}

func TestFailuresAreOneError(t *testing.T) {
	t.Parallel()
	require.NoError(t, failed(nil))
	err := failed([]error{errors.New("no engine"), errors.New("no vectors")})
	require.EqualError(t, err, "no engine\nno vectors")
	require.True(t, failure.Is(err, failure.StorageFailed))
}
