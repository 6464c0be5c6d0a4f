package cards

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vectors"
)

// EnvEmbeddingModel names the variable with the embedder.
const EnvEmbeddingModel = "WINDLASS_EMBEDDING_MODEL"

// The embedders that are no models of an endpoint, by the names they are asked for with.
const (
	EmbedderWords  = "words"  // word vectors on this machine: the default
	EmbedderHashed = "hashed" // hashed runs of characters: it needs nothing and knows nothing of meaning
)

// EmbeddingModel returns what embeds texts: that of the environment, else that of windlass.json,
// else the word vectors.
func EmbeddingModel(cfg *config.Config) string {
	return cmp.Or(os.Getenv(EnvEmbeddingModel), cfg.EmbeddingModel, EmbedderWords)
}

// Embedder is an embedder, and why it is another one than was asked for.
type Embedder struct {
	contextcards.Embedder
	Instead error // nil: it is the one that was asked for
}

// OpenEmbedder returns the embedder with this name. Word vectors that are not here are fetched,
// which is told to progress; without them the hashing embedder is used instead. A model whose
// endpoint cannot be asked is a [*failure.Error].
func OpenEmbedder(ctx context.Context, name string, c vectors.Config, r *llm.Router, progress func(fetch.Progress)) (Embedder, error) {
	switch name {
	case EmbedderHashed:
		return Embedder{Embedder: contextcards.NewHashed(0)}, nil
	case EmbedderWords:
		w, err := vectors.Open(ctx, c, progress)
		switch {
		case err == nil:
			return Embedder{Embedder: w}, nil
		case ctx.Err() != nil:
			return Embedder{}, ctx.Err()
		}
		return Embedder{Embedder: contextcards.NewHashed(0), Instead: err}, nil
	}
	e, err := r.Embedder(name)
	if err != nil {
		return Embedder{}, ModelError(err)
	}
	return Embedder{Embedder: e}, nil
}

// ModelError gives the error of a model its kind. A script that has no answer is the caller's own
// file: the run failed.
func ModelError(err error) error {
	var model *effect.ModelError
	switch {
	case !errors.As(err, &model):
		return failure.New(failure.ModelUnavailable, err, "")
	case model.Kind == echo.ModelErrScript:
		return failure.New(failure.Failed, err, model.Hint)
	}
	return failure.New(failure.ModelUnavailable, err, model.Hint)
}
