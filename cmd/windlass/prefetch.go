package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app/prefetch"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/fetching"
)

func newFetchCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fetch [engine] [vectors]",
		Short: "Fetch what a run would fetch on first use",
		Long: "Fetches what a run would otherwise fetch when it first needs it: the embedded ClickHouse and the word vectors, or\n" +
			"what is named. What is there already is not fetched again. Exit code 6 when something cannot be fetched.",
		Example:   "  windlass fetch\n  windlass fetch vectors",
		ValidArgs: []string{prefetch.Engine, prefetch.Vectors},
		Args: func(_ *cobra.Command, args []string) error {
			for _, arg := range args {
				if arg != prefetch.Engine && arg != prefetch.Vectors {
					return exit.UsageError(fmt.Errorf("%q cannot be fetched", arg), "windlass fetch engine, or windlass fetch vectors")
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return fetchThings(cmd.Context(), con, args) },
	}
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

// fetchThings fetches what is named, or all that is needed. One that fails does not stop the other.
func fetchThings(ctx context.Context, con *console, names []string) error {
	con.downloads = fetch.PolicyAnnounce
	ctx, stop := interruptible(ctx, func() {})
	defer stop()
	cfg, err := con.config()
	if err != nil {
		return err
	}
	o, err := con.app.Database()
	if err != nil {
		return err
	}
	progress := fetching.NewProgress(con.err)
	o.Progress = progress.Show
	things, failed := prefetch.All(ctx, names, o, cfg)
	progress.Mute()
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, exit.ErrInterrupted, "")
	}
	return errors.Join(con.print(things, func() error { return printFetched(con, things) }), failed)
}

func printFetched(con *console, things []prefetch.Thing) error {
	if len(things) == 0 {
		return nil
	}
	t := term.NewTable("what", "where")
	for _, f := range things {
		where := f.Path
		if f.NotNeeded != "" {
			where = "not needed: " + f.NotNeeded
		}
		t.Add(f.What, where)
	}
	return con.table(t.WrapLast())
}
