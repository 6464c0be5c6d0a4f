package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/term"
)

// withClickHouse opens the database that the environment and windlass.json name, for a command that cannot do without.
func withClickHouse(ctx context.Context, con *console, do func(context.Context, *clickhouse.DB) error) error {
	ctx, stop := interruptible(ctx, newNotices(io.Discard)) // what only asks has nothing to record, and ends at once
	defer stop()
	return askClickHouse(ctx, con, do)
}

// askClickHouse is withClickHouse for whoever hears of signals in another way.
func askClickHouse(ctx context.Context, con *console, do func(context.Context, *clickhouse.DB) error) error {
	o, err := databaseOptions(con)
	if err != nil {
		return err
	}
	return openClickHouse(ctx, con, o, do)
}

func openClickHouse(ctx context.Context, con *console, o clickhouse.Options, do func(context.Context, *clickhouse.DB) error) error {
	progress := newFetchProgress(con.err)
	o.Progress = progress.show
	db, err := clickhouse.Open(ctx, o)
	progress.mute()
	if err != nil {
		return clickHouseError(ctx, err)
	}
	if old, err := db.Old(ctx); err == nil && old != nil { // whether it can be known is not what was asked
		fmt.Fprintf(con.err, "Note: %s\n", old)
	}
	err = do(ctx, db)
	return clickHouseError(ctx, errors.Join(err, db.Close()))
}

// clickHouse says which database it is.
func databaseOptions(con *console) (clickhouse.Options, error) {
	home, cfg, err := settings()
	if err != nil {
		return clickhouse.Options{}, err
	}
	o, err := database.Options(home, "", cfg)
	if err != nil {
		return clickhouse.Options{}, withExit(exitStorage, err, "set WINDLASS_CACHE to a folder")
	}
	o.Warn = func(text string) { fmt.Fprintf(con.err, "Warning: %s\n", text) }
	return o, nil
}

// clickHouseError gives an error of a use of ClickHouse its kind, unless it has its exit code already.
func clickHouseError(ctx context.Context, err error) error {
	var ee *exitError
	if errors.As(err, &ee) {
		return err
	}
	return archive.DatabaseError(ctx, err)
}

// unknownNote says what the costs above leave out.
func unknownNote(con *console, unknown uint64) {
	if unknown > 0 {
		fmt.Fprintf(con.err, "The cost of %s is unknown and in no sum; windlass.json can set a model's price.\n",
			term.Plural(int(unknown), "model call"))
	}
}

// jsonFlag adds --json.
func jsonFlag(cmd *cobra.Command, v *bool) { cmd.Flags().BoolVar(v, "json", false, "print JSON") }
