package prefetch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
)

func TestWhatIsNotNeededIsNotFetched(t *testing.T) {
	t.Setenv(cards.EnvEmbeddingModel, "")
	cfg := &config.Config{EmbeddingModel: "text-embedding-3-small"}
	things, failures := All(t.Context(), nil, clickhouse.Options{DSN: "clickhouse://db:9000"}, cfg)
	require.Empty(t, failures)
	require.Equal(t, []Thing{
		{What: Engine, NotNeeded: "a ClickHouse server is used"},
		{What: Vectors, NotNeeded: "the embedder is text-embedding-3-small"},
	}, things)
}
