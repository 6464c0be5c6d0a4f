package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/vectors"
)

// What "windlass fetch" can fetch, by the names of its arguments.
const (
	fetchEngine  = "engine"
	fetchVectors = "vectors"
)

// fetchedThing is what came of one thing: where it is, or why it is not needed.
type fetchedThing struct {
	What      string `json:"what"`
	Path      string `json:"path,omitempty"`
	NotNeeded string `json:"not_needed,omitempty"`
}

func newFetchCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fetch [engine] [vectors]",
		Short: "Fetch what a run would fetch on first use",
		Long: "Fetches what a run would otherwise fetch when it first needs it: the embedded ClickHouse and the word vectors, or\n" +
			"what is named. What is there already is not fetched again. Exit code 6 when something cannot be fetched.",
		Example:   "  windlass fetch\n  windlass fetch vectors",
		ValidArgs: []string{fetchEngine, fetchVectors},
		Args: func(_ *cobra.Command, args []string) error {
			for _, arg := range args {
				if arg != fetchEngine && arg != fetchVectors {
					return usageError(fmt.Errorf("%q cannot be fetched", arg), "windlass fetch engine, or windlass fetch vectors")
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.fetch(cmd.Context(), args, asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// fetch fetches what is named, or all that the configuration needs. One that fails does not keep the other away.
func (a *app) fetch(ctx context.Context, names []string, asJSON bool) error {
	ctx, stop := interruptible(ctx, newNotices(io.Discard))
	defer stop()
	home, cfg, err := settings()
	if err != nil {
		return err
	}
	o, err := database.Options(home, "", cfg)
	if err != nil {
		return withExit(exitStorage, err, "set WINDLASS_CACHE to a folder")
	}
	progress := newFetchProgress(a.err)
	o.Progress = progress.show
	things := []fetchedThing{}
	var failures []error
	for _, name := range []string{fetchEngine, fetchVectors} {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		thing, err := fetchOne(ctx, name, len(names) > 0, o, cfg)
		if err == nil {
			things = append(things, thing)
		} else {
			failures = append(failures, err)
		}
	}
	progress.mute()
	if ctx.Err() != nil {
		return withExit(exitInterrupted, errInterrupted, "")
	}
	return errors.Join(a.printFetched(things, asJSON), fetchFailure(failures))
}

// fetchOne fetches one thing. Unless it is named, it is fetched only if a run would use it.
func fetchOne(ctx context.Context, name string, named bool, o clickhouse.Options, cfg *config.Config) (fetchedThing, error) {
	thing := fetchedThing{What: name}
	if name == fetchEngine {
		if o.DSN != "" && !named {
			thing.NotNeeded = "a ClickHouse server is used"
			return thing, nil
		}
		engine, _, err := embedded.Find(ctx, embedded.ConfigFromEnv(o.CacheDir), o.Progress)
		thing.Path = engine.Path
		return thing, err
	}
	if model := cards.EmbeddingModel(cfg); model != cards.EmbedderWords && !named {
		thing.NotNeeded = "the embedder is " + model
		return thing, nil
	}
	c := vectors.ConfigFromEnv(o.CacheDir)
	thing.Path = c.File()
	_, err := vectors.Open(ctx, c, o.Progress)
	return thing, err
}

// fetchFailure makes one error of what could not be fetched.
func fetchFailure(failures []error) error {
	if len(failures) == 0 {
		return nil
	}
	err := errors.Join(failures...)
	hint := "windlass doctor"
	var unavailable *vectors.UnavailableError
	if errors.As(err, &unavailable) {
		hint = unavailable.Hint()
	}
	return withExit(exitStorage, err, hint)
}

func (a *app) printFetched(things []fetchedThing, asJSON bool) error {
	if asJSON {
		return a.printJSON(things)
	}
	if len(things) == 0 {
		return nil
	}
	t := newTable("what", "where")
	for _, f := range things {
		where := f.Path
		if f.NotNeeded != "" {
			where = "not needed: " + f.NotNeeded
		}
		t.add(f.What, where)
	}
	return t.render(a.out, 0)
}
