package main

import (
	"cmp"
	"context"
	"os"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vault"
	"github.com/windlass-run/windlass/internal/vectors"
)

// envEmbeddingModel names the variable with the embedder.
const envEmbeddingModel = "WINDLASS_EMBEDDING_MODEL"

// The embedders that are no models of an endpoint, by the names they are asked for with.
const (
	embedderWords  = "words"  // word vectors on this machine: the default
	embedderHashed = "hashed" // hashed runs of characters: it needs nothing and knows nothing of meaning
)

// embeddingModel returns what embeds texts: that of the environment, else that of windlass.json, else the word vectors.
func embeddingModel(cfg *config.Config) string {
	return cmp.Or(os.Getenv(envEmbeddingModel), cfg.EmbeddingModel, embedderWords)
}

// embedderInUse is an embedder, and why it is another one than was asked for.
type embedderInUse struct {
	contextcards.Embedder
	instead error // nil: it is the one that was asked for
}

// openEmbedder returns the embedder with this name. Word vectors that are not here are fetched, which is told to progress;
// without them the hashing embedder stands in. A model whose endpoint cannot be asked is an error.
func openEmbedder(ctx context.Context, name string, c vectors.Config, r *llm.Router, progress func(fetch.Progress)) (embedderInUse, error) {
	switch name {
	case embedderHashed:
		return embedderInUse{Embedder: contextcards.NewHashed(0)}, nil
	case embedderWords:
		w, err := vectors.Open(ctx, c, progress)
		switch {
		case err == nil:
			return embedderInUse{Embedder: w}, nil
		case ctx.Err() != nil:
			return embedderInUse{}, ctx.Err()
		}
		return embedderInUse{Embedder: contextcards.NewHashed(0), instead: err}, nil
	}
	e, err := r.Embedder(name)
	if err != nil {
		return embedderInUse{}, providerError(err)
	}
	return embedderInUse{Embedder: e}, nil
}

// embedderHealth is what "windlass doctor" finds out about the embedder.
type embedderHealth struct {
	Model string `json:"model"`           // words, hashed, or a model
	File  string `json:"file,omitempty"`  // of the word vectors
	Here  bool   `json:"here"`            // it could be used now
	Error string `json:"error,omitempty"` // why it could not be used even so
}

// examineEmbedder reaches for nothing.
func examineEmbedder(cfg *config.Config, cacheDir string) embedderHealth {
	h := embedderHealth{Model: embeddingModel(cfg), Here: true}
	var err error
	switch h.Model {
	case embedderHashed:
	case embedderWords:
		c := vectors.ConfigFromEnv(cacheDir)
		h.File, h.Here = c.File(), c.Here()
		if !h.Here {
			err = c.CanFetch()
		}
	default:
		r := llm.NewRouter(cfg, vault.Getenv)
		defer r.Close()
		err = r.Check(h.Model)
		h.Here = err == nil
	}
	if err != nil {
		h.Error = err.Error()
	}
	return h
}

func (h embedderHealth) summary() string {
	switch {
	case h.Model == embedderHashed:
		return "hashed runs of characters"
	case h.Model == embedderWords && h.Here:
		return "word vectors: " + h.File
	case h.Model == embedderWords && h.Error != "":
		return "hashed runs of characters, as there are " + h.Error
	case h.Model == embedderWords:
		return "word vectors: not on this machine yet, windlass fetch or the first selection by meaning fetches them"
	case h.Error != "":
		return "cannot be asked: " + h.Error
	}
	return "model " + h.Model
}
