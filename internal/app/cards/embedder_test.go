package cards

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vectors"
)

func TestEmbeddingModel(t *testing.T) {
	t.Setenv(EnvEmbeddingModel, "")
	require.Equal(t, "words", EmbeddingModel(&config.Config{}))
	require.Equal(t, "from the file", EmbeddingModel(&config.Config{EmbeddingModel: "from the file"}))
	t.Setenv(EnvEmbeddingModel, "from the environment")
	require.Equal(t, "from the environment", EmbeddingModel(&config.Config{EmbeddingModel: "from the file"}))
}

func TestOpenEmbedder(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": "sk-of-a-test"}
	router := llm.NewRouter(&config.Config{}, func(k string) string { return env[k] })
	t.Cleanup(router.Close)
	nowhere := vectors.Config{CacheDir: t.TempDir(), Path: t.TempDir()}

	e, err := OpenEmbedder(t.Context(), EmbedderHashed, nowhere, router, nil)
	require.NoError(t, err)
	require.NoError(t, e.Instead)
	require.Equal(t, "hashed-ngrams@256", e.Name())

	e, err = OpenEmbedder(t.Context(), EmbedderWords, nowhere, router, func(fetch.Progress) { t.Error("nothing is fetched") })
	require.NoError(t, err)
	require.EqualError(t, e.Instead, "no word vectors: no npm on PATH")
	require.Equal(t, "hashed-ngrams@256", e.Name())
	vector, err := e.Embed(t.Context(), []string{"a text"})
	require.NoError(t, err)
	require.Len(t, vector[0], 256)

	e, err = OpenEmbedder(t.Context(), "text-embedding-3-small", nowhere, router, nil)
	require.NoError(t, err)
	require.Equal(t, "text-embedding-3-small", e.Name())

	keyless := llm.NewRouter(&config.Config{}, func(string) string { return "" })
	t.Cleanup(keyless.Close)
	_, err = OpenEmbedder(t.Context(), "text-embedding-3-small", nowhere, keyless, nil)
	var failed *effect.ModelError
	require.ErrorAs(t, err, &failed)
	require.True(t, failure.Is(err, failure.ModelUnavailable))
}

// An interruption is not a reason to go on with another embedder.
func TestOpenEmbedderIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := OpenEmbedder(ctx, EmbedderWords, vectors.Config{CacheDir: t.TempDir()}, nil, nil)
	require.True(t, errors.Is(err, context.Canceled))
}
