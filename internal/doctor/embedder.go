package doctor

import (
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vectors"
)

// Embedder is what was found of the embedder.
type Embedder struct {
	Model string `json:"model"`           // words, hashed, or a model
	File  string `json:"file,omitempty"`  // of the word vectors
	Here  bool   `json:"here"`            // it could be used now
	Error string `json:"error,omitempty"` // why it could not be used even so
}

// examineEmbedder asks nobody and fetches nothing.
func examineEmbedder(cfg *config.Config, name, cacheDir string) Embedder {
	h := Embedder{Model: name, Here: true}
	var err error
	switch h.Model {
	case cards.EmbedderHashed:
	case cards.EmbedderWords:
		c := vectors.ConfigFromEnv(cacheDir)
		h.File, h.Here = c.File(), c.Here()
		if !h.Here {
			err = c.CanFetch()
		}
	default:
		r := llm.NewRouter(cfg, environment.Getenv)
		defer r.Close()
		err = r.Check(h.Model)
		h.Here = err == nil
	}
	if err != nil {
		h.Error = err.Error()
	}
	return h
}
