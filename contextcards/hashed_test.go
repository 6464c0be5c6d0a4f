package contextcards_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
)

func embed(t *testing.T, texts ...string) [][]float32 {
	t.Helper()
	v, err := contextcards.NewHashed(0).Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, v, len(texts))
	return v
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestHashedIsAboutSpelling(t *testing.T) {
	t.Parallel()
	v := embed(t, "database migration", "migrating the databases", "databsae migraton", "a cat sleeps on a sofa", "Database MIGRATION!")
	require.Greater(t, cosine(v[0], v[1]), 0.5, "other forms of the words")
	require.Greater(t, cosine(v[0], v[2]), 0.4, "typing errors")
	require.Less(t, math.Abs(cosine(v[0], v[3])), 0.25, "other words")
	require.InDelta(t, 1, cosine(v[0], v[4]), 1e-6, "case and marks")
}

func TestHashedHasUnitLengthAndIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	texts := []string{"x", "Größe", "東京タワー", strings.Repeat("abcdefghij", 1000), strings.Repeat("word ", 10_000), "\xff ok"}
	a, b := embed(t, texts...), embed(t, texts...)
	require.Equal(t, a, b)
	for i, v := range a {
		require.Len(t, v, 256, texts[i])
		require.InDelta(t, 1, cosine(v, v), 1e-6)
	}
}

func TestHashedHasNothingForTextsWithoutWords(t *testing.T) {
	t.Parallel()
	for _, v := range embed(t, "", " \n", "!?", "the of and") {
		require.Nil(t, v)
	}
}

func TestHashedIsNamedByItsDimensions(t *testing.T) {
	t.Parallel()
	require.Equal(t, "hashed-ngrams@256", contextcards.NewHashed(0).Name())
	require.Equal(t, "hashed-ngrams@64", contextcards.NewHashed(64).Name())
	v, err := contextcards.NewHashed(64).Embed(t.Context(), []string{"word"})
	require.NoError(t, err)
	require.Len(t, v[0], 64)
}

func TestHashedEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := contextcards.NewHashed(0).Embed(ctx, []string{"word"})
	require.ErrorIs(t, err, context.Canceled)
}

func TestBySpelling(t *testing.T) {
	t.Parallel()
	require.True(t, contextcards.BySpelling(contextcards.NewHashed(0).Name()))
	require.True(t, contextcards.BySpelling(contextcards.NewHashed(64).Name()))
	for _, name := range []string{"", "words-100d-1", "text-embedding-3-small@512", "vendor/hashed-ngrams@256"} {
		require.False(t, contextcards.BySpelling(name), name)
	}
}
