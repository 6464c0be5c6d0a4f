package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vectors"
)

func TestEmbeddingModel(t *testing.T) {
	t.Setenv(envEmbeddingModel, "")
	require.Equal(t, "words", embeddingModel(&config.Config{}))
	require.Equal(t, "from the file", embeddingModel(&config.Config{EmbeddingModel: "from the file"}))
	t.Setenv(envEmbeddingModel, "from the environment")
	require.Equal(t, "from the environment", embeddingModel(&config.Config{EmbeddingModel: "from the file"}))
}

func TestOpenEmbedder(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": testKey}
	router := llm.NewRouter(&config.Config{}, func(k string) string { return env[k] })
	t.Cleanup(router.Close)
	nowhere := vectors.Config{CacheDir: t.TempDir(), Path: t.TempDir()}

	e, err := openEmbedder(t.Context(), embedderHashed, nowhere, router, nil)
	require.NoError(t, err)
	require.NoError(t, e.instead)
	require.Equal(t, "hashed-ngrams@256", e.Name())

	e, err = openEmbedder(t.Context(), embedderWords, nowhere, router, func(fetch.Progress) { t.Error("nothing is fetched") })
	require.NoError(t, err)
	require.EqualError(t, e.instead, "no word vectors: no npm on PATH")
	require.Equal(t, "hashed-ngrams@256", e.Name())
	vector, err := e.Embed(t.Context(), []string{"a text"})
	require.NoError(t, err)
	require.Len(t, vector[0], 256)

	e, err = openEmbedder(t.Context(), "text-embedding-3-small", nowhere, router, nil)
	require.NoError(t, err)
	require.Equal(t, "text-embedding-3-small", e.Name())

	keyless := llm.NewRouter(&config.Config{}, func(string) string { return "" })
	t.Cleanup(keyless.Close)
	_, err = openEmbedder(t.Context(), "text-embedding-3-small", nowhere, keyless, nil)
	var failed *effect.ModelError
	require.ErrorAs(t, err, &failed)
	var exit *exitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitProvider, exit.code)
}

// An interruption is not a reason to go on with another embedder.
func TestOpenEmbedderIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := openEmbedder(ctx, embedderWords, vectors.Config{CacheDir: t.TempDir()}, nil, nil)
	require.True(t, errors.Is(err, context.Canceled))
}
