// Package prefetch fetches what a run would otherwise fetch when it first needs it.
package prefetch

import (
	"context"
	"errors"
	"slices"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/vectors"
)

// The names of what can be fetched.
const (
	Engine  = "engine"  // the embedded ClickHouse
	Vectors = "vectors" // the word vectors
)

// Thing is what came of one thing: where it is, or why it is not needed.
type Thing struct {
	What      string `json:"what"`
	Path      string `json:"path,omitempty"`
	NotNeeded string `json:"not_needed,omitempty"`
}

// All fetches what is named; without names all that the configuration needs. What is on this
// machine is not fetched again. The failure of one thing does not keep others from being fetched:
// the error is of all that failed.
func All(ctx context.Context, names []string, o clickhouse.Options, cfg *config.Config) ([]Thing, error) {
	things := []Thing{}
	var failures []error
	for _, name := range []string{Engine, Vectors} {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		thing, err := one(ctx, name, len(names) > 0, o, cfg)
		if err == nil {
			things = append(things, thing)
		} else {
			failures = append(failures, err)
		}
	}
	return things, failed(failures)
}

// failed makes one error of what could not be fetched.
func failed(failures []error) error {
	err := errors.Join(failures...)
	if err == nil {
		return nil
	}
	hint := ""
	var unavailable *vectors.UnavailableError
	if errors.As(err, &unavailable) {
		hint = unavailable.Hint()
	}
	return failure.New(failure.StorageFailed, err, hint)
}

// one fetches one thing. Unless it is named, it is fetched only if a run would use it.
func one(ctx context.Context, name string, named bool, o clickhouse.Options, cfg *config.Config) (Thing, error) {
	thing := Thing{What: name}
	if name == Engine {
		if o.DSN != "" && !named {
			thing.NotNeeded = "a ClickHouse server is used"
			return thing, nil
		}
		engine, _, err := embedded.Find(ctx, o.Engine, o.Progress)
		thing.Path = engine.Path
		return thing, err
	}
	if model := cards.EmbeddingModel(cfg); model != cards.EmbedderWords && !named {
		thing.NotNeeded = "the embedder is " + model
		return thing, nil
	}
	c := vectors.ConfigFromEnv(o.CacheDir)
	c.Gate = o.Engine.Gate
	thing.Path = c.File()
	_, err := vectors.Open(ctx, c, o.Progress)
	return thing, err
}
