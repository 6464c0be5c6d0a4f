package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/locomo"
	"github.com/windlass-run/windlass/internal/vault"
	"github.com/windlass-run/windlass/internal/vectors"
)

// locomoSettings returns the defaults of a selection, but for the number of messages.
func locomoSettings(maxMessages int) autocontext.SelectSettings {
	s := autocontext.SelectSettingsOf(cascade.DefaultInter().Selection)
	s.MaxMessages = maxMessages
	return s
}

// locomoMethods returns what is measured: each strategy, those that compare meanings with each embedder.
func (a *app) locomoMethods(ctx context.Context, o locomoOptions) ([]locomo.Method, error) {
	var embedders []contextcards.Embedder
	if slices.ContainsFunc(o.strategies, needsEmbedder) {
		var err error
		if embedders, err = a.benchEmbedders(ctx, o); err != nil {
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

// benchEmbedders opens the embedders that are asked for, without asking them anything yet. Without a choice it is the one
// that runs would use.
func (a *app) benchEmbedders(ctx context.Context, o locomoOptions) ([]contextcards.Embedder, error) {
	opener, err := a.newEmbedderOpener()
	if err != nil {
		return nil, err
	}
	var out []contextcards.Embedder
	add := func(e contextcards.Embedder, err error) error {
		if err == nil && slices.ContainsFunc(out, func(f contextcards.Embedder) bool { return f.Name() == e.Name() }) {
			err = usageError(fmt.Errorf("there are two embedders of the name %q", e.Name()), "one of them")
		}
		out = append(out, e)
		return err
	}
	names := o.embedders
	if len(names) == 0 && o.url == "" {
		names = []string{embeddingModel(opener.cfg)}
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

// embedderOpener opens embedders by their names.
type embedderOpener struct {
	app   *app
	cfg   *config.Config
	cache string
}

func (a *app) newEmbedderOpener() (*embedderOpener, error) {
	home, err := config.Home()
	if err != nil {
		return nil, withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	cfg, err := config.Open(".", home)
	if err != nil {
		return nil, usageError(err, "correct the file; docs/models.md describes it")
	}
	cache, err := config.CacheDir()
	if err != nil {
		return nil, withExit(exitStorage, err, "set WINDLASS_CACHE to a folder")
	}
	return &embedderOpener{app: a, cfg: cfg, cache: cache}, nil
}

// open opens an embedder. Another one may stand in for it only when a person did not name it.
func (o *embedderOpener) open(ctx context.Context, name string, orAnother bool) (contextcards.Embedder, error) {
	progress := newFetchProgress(o.app.err)
	defer progress.mute()
	e, err := openEmbedder(ctx, name, vectors.ConfigFromEnv(o.cache), llm.NewRouter(o.cfg, vault.Getenv), progress.show)
	switch {
	case err != nil:
		return nil, err
	case e.instead != nil && !orAnother:
		hint := "--embedder " + embedderHashed
		var missing *vectors.UnavailableError
		if errors.As(e.instead, &missing) {
			hint = missing.Hint() + "; or " + hint
		}
		return nil, withExit(exitStorage, e.instead, hint)
	case e.instead != nil:
		fmt.Fprintf(o.app.err, "Note: %s stands in: %v\n", e.Name(), e.instead)
	}
	return e.Embedder, nil
}
