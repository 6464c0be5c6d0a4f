package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
)

// archive returns the sessions of this machine and of the ClickHouse that the environment and windlass.json name.
func openArchive(con *console) (*archive.Archive, error) {
	home, err := homeFolder()
	if err != nil {
		return nil, err
	}
	return &archive.Archive{Home: home, Database: func(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
		return withClickHouse(ctx, con, do)
	}, Address: func() (string, error) { return databaseAddress(con) }}, nil
}

func databaseAddress(con *console) (string, error) {
	o, err := databaseOptions(con)
	return o.Address(), err
}

// findSession returns the id of a session that is given by its id or the beginning of it. The journal of one that was run on
// another machine is rebuilt on this one.
func findSession(ctx context.Context, con *console, given string) (*archive.Archive, string, error) {
	arc, err := openArchive(con)
	if err != nil {
		return nil, "", err
	}
	id, rebuilt, err := arc.Bring(ctx, given)
	var incomplete *clickhouse.IncompleteError
	switch {
	case errors.As(err, &incomplete):
		return nil, "", withExit(exitStorage, err, "windlass ship "+id+" --again on the machine where it was run, and then once more here")
	case err != nil:
		return nil, "", err
	}
	if rebuilt {
		fmt.Fprintf(con.err, "Session %s was run on another machine: its journal is made again from ClickHouse. It must not go on in two places.\n", id)
	}
	return arc, id, nil
}

// readSession finds a session by its id or the beginning of it, and reads its journal.
func readSession(ctx context.Context, con *console, given string) (*journal.Recording, error) {
	arc, id, err := findSession(ctx, con, given)
	if err != nil {
		return nil, err
	}
	rec, err := journal.Read(archive.JournalPath(arc.Home, id))
	if err != nil {
		return nil, app.JournalError(id, err)
	}
	return rec, nil
}

// inspectSession gives do the record of a session: of the journal on this machine, or of ClickHouse when there is none.
func inspectSession(ctx context.Context, con *console, given string, do func(*inspect.Record) error) error {
	arc, err := openArchive(con)
	if err != nil {
		return err
	}
	id, entries, err := arc.Entries(ctx, given)
	if err != nil {
		return err
	}
	r, err := inspect.New(id, entries)
	if err != nil {
		return err
	}
	return inspectError(r, do(r))
}

// inspectError adds to an error what to ask next about the session.
func inspectError(r *inspect.Record, err error) error {
	var ee *exitError
	if errors.As(err, &ee) {
		return err
	}
	switch kind := failure.KindOf(err); {
	case kind == failure.UnknownCall && len(r.Calls) == 0:
		return usageError(err, "windlass sessions show "+r.ID)
	case kind == failure.UnknownCall:
		return usageError(err, "windlass context stats "+r.ID)
	case kind == failure.UnknownMessage:
		return usageError(err, "windlass context show "+r.ID)
	case kind == failure.NoHandoff:
		return withExit(exitFailed, err, "windlass sessions list")
	}
	return err
}
