package main

import (
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vault"
	"github.com/windlass-run/windlass/internal/vectors"
)

// embedderHealth is what "windlass doctor" finds out about the embedder.
type embedderHealth struct {
	Model string `json:"model"`           // words, hashed, or a model
	File  string `json:"file,omitempty"`  // of the word vectors
	Here  bool   `json:"here"`            // it could be used now
	Error string `json:"error,omitempty"` // why it could not be used even so
}

// examineEmbedder reaches for nothing.
func examineEmbedder(cfg *config.Config, cacheDir string) embedderHealth {
	h := embedderHealth{Model: cards.EmbeddingModel(cfg), Here: true}
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
	case h.Model == cards.EmbedderHashed:
		return "hashed runs of characters"
	case h.Model == cards.EmbedderWords && h.Here:
		return "word vectors: " + h.File
	case h.Model == cards.EmbedderWords && h.Error != "":
		return "hashed runs of characters, as there are " + h.Error
	case h.Model == cards.EmbedderWords:
		return "word vectors: not on this machine yet, windlass fetch or the first selection by meaning fetches them"
	case h.Error != "":
		return "cannot be asked: " + h.Error
	}
	return "model " + h.Model
}
