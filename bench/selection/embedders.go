package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/windlass-run/windlass/bench/locomo"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vectors"
)

// The embedders that are no models.
const (
	words  = "words"
	hashed = "hashed"
)

// methods returns what is measured: each strategy, those that compare by similarity with each
// embedder.
func methods(ctx context.Context, o options, notes io.Writer) ([]locomo.Method, error) {
	var embedders []contextcards.Embedder
	if slices.ContainsFunc(o.strategies, needsEmbedder) {
		var err error
		if embedders, err = open(ctx, o, notes); err != nil {
			return nil, err
		}
	}
	var out []locomo.Method
	for _, s := range o.strategies {
		if !needsEmbedder(s) {
			out = append(out, locomo.Method{Strategy: echo.Strategy(s)})
			continue
		}
		for _, e := range embedders {
			out = append(out, locomo.Method{Strategy: echo.Strategy(s), Embedder: e})
		}
	}
	return out, nil
}

func needsEmbedder(strategy string) bool { return strategy != string(echo.StrategyHeuristic) }

// open opens the embedders that are named, without asking them anything yet. When none is named it
// is the one that runs would use.
func open(ctx context.Context, o options, notes io.Writer) ([]contextcards.Embedder, error) {
	opener, err := newOpener(notes)
	if err != nil {
		return nil, err
	}
	var out []contextcards.Embedder
	add := func(e contextcards.Embedder, err error) error {
		if err == nil && slices.ContainsFunc(out, func(f contextcards.Embedder) bool { return f.Name() == e.Name() }) {
			err = fmt.Errorf("there are two embedders of the name %q: measure one of them", e.Name())
		}
		out = append(out, e)
		return err
	}
	names := o.embedders
	if len(names) == 0 && o.url == "" {
		names = []string{cmp.Or(os.Getenv("WINDLASS_EMBEDDING_MODEL"), opener.cfg.EmbeddingModel, words)}
	}
	for _, name := range names {
		if err := add(opener.open(ctx, name, len(o.embedders) == 0)); err != nil {
			return nil, err
		}
	}
	if o.url != "" {
		opener.cfg = &config.Config{Models: map[string]config.Model{o.model: {Model: o.model, BaseURL: o.url}}}
		err = add(opener.open(ctx, o.model, false))
	}
	return out, err
}

// opener opens embedders by their names.
type opener struct {
	cfg   *config.Config
	cache string
	notes io.Writer
}

func newOpener(notes io.Writer) (*opener, error) {
	home, err := config.Home()
	if err != nil {
		return nil, err
	}
	cfg, err := config.Open(".", home)
	if err != nil {
		return nil, err
	}
	cache, err := config.CacheDir()
	if err != nil {
		return nil, err
	}
	return &opener{cfg: cfg, cache: cache, notes: notes}, nil
}

// open opens an embedder. The hashing one stands in for word vectors only when nobody named them.
func (o *opener) open(ctx context.Context, name string, orAnother bool) (contextcards.Embedder, error) {
	switch name {
	case hashed:
		return contextcards.NewHashed(0), nil
	case words:
	default:
		return llm.NewRouter(o.cfg, os.Getenv).Embedder(name)
	}
	w, err := vectors.Open(ctx, vectors.ConfigFromEnv(o.cache), func(fetch.Progress) {})
	var missing *vectors.UnavailableError
	switch {
	case err == nil:
		return w, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !orAnother && errors.As(err, &missing):
		return nil, fmt.Errorf("%w: %s; or measure -embedder hashed", err, missing.Hint())
	case !orAnother:
		return nil, err
	}
	e := contextcards.NewHashed(0)
	fmt.Fprintf(o.notes, "Note: %s stands in: %v\n", e.Name(), err)
	return e, nil
}
