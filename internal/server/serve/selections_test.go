package serve

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/journal"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server/inspector"
)

const review = "../../../cmd/windlass/testdata/frozen/rules4/incident_review.jsonl"

// trialApp is an app without files of its own, with a way to select and a recorded session.
func trialApp(t *testing.T, embedder string) (*core.App, *selections, *journal.Recording) {
	t.Helper()
	t.Setenv(cards.EnvEmbeddingModel, embedder)
	a, err := core.Open(core.Options{Home: t.TempDir(), Dir: t.TempDir(), Cache: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	rec, err := journal.Read(review)
	require.NoError(t, err)
	return a, &selections{app: a}, rec
}

// files are the names of all files below folders.
func files(t *testing.T, folders ...string) (names []string) {
	t.Helper()
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			names = append(names, path)
			return err
		}))
	}
	return names
}

// TestTrials: a trial of the page is that of windlass context select, and leaves no file.
func TestTrials(t *testing.T) {
	a, s, rec := trialApp(t, cards.EmbedderHashed)
	before := files(t, a.Home())
	for _, strategy := range []cascade.SelectionStrategy{cascade.StrategyHeuristic, cascade.StrategySemantic, cards.StrategyPrefilter} {
		got, err := s.Try(t.Context(), "incident_review", rec.Entries, inspector.Trial{Task: "Why did orders fail?", Strategy: strategy, Budget: 300})
		require.NoError(t, err)
		want, err := a.TrySelection(t.Context(), "incident_review", rec.Entries, cards.Trial{Task: "Why did orders fail?", Strategy: strategy, Budget: 300, Instead: func(error) {}}, false)
		require.NoError(t, err)
		got.Millis, want.Millis = 0, 0
		require.Equal(t, want, got)
		require.NotEmpty(t, got.Chosen)
	}
	require.Equal(t, before, files(t, a.Home()))
	require.Equal(t, cards.Strategies(), s.Strategies())
}

// TestTrialsAreFree: what would be paid for or fetched is refused in words.
func TestTrialsAreFree(t *testing.T) {
	refused := func(s *selections, rec *journal.Recording, strategy cascade.SelectionStrategy) *failure.Error {
		_, err := s.Try(t.Context(), "incident_review", rec.Entries, inspector.Trial{Task: "Why did orders fail?", Strategy: strategy, Budget: 300})
		var refused *cards.NotFreeError
		require.ErrorAs(t, err, &refused)
		var known *failure.Error
		require.ErrorAs(t, err, &known)
		require.Equal(t, failure.InvalidRequest, known.Kind)
		return known
	}
	a, s, rec := trialApp(t, "text-embedding-3-small")
	require.EqualError(t, refused(s, rec, cascade.StrategyLLM), "the strategy llm asks a model, which is paid for")
	require.EqualError(t, refused(s, rec, cascade.StrategySemantic), "the strategy semantic compares by meaning with text-embedding-3-small, which is asked over the network and paid for")
	t.Setenv(cards.EnvEmbeddingModel, cards.EmbedderWords)
	found := refused(s, rec, cards.StrategyPrefilter)
	require.EqualError(t, found, "the strategy prefilter compares by meaning, and the word vectors for that are not on this machine")
	require.Equal(t, "windlass fetch vectors", found.Try)
	o, err := a.Database()
	require.NoError(t, err)
	require.Empty(t, files(t, o.CacheDir)[1:], "nothing was fetched")
}
