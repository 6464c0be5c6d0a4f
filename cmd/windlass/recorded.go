package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
)

// findSession completes the id of a session. The journal of one of another machine is rebuilt here.
func findSession(ctx context.Context, con *console, given string) (string, error) {
	arc, err := con.archive()
	if err != nil {
		return "", err
	}
	id, rebuilt, err := arc.Bring(ctx, given)
	if errors.As(err, new(*clickhouse.IncompleteError)) {
		err = exit.With(exit.Storage, err, "windlass ship "+id+" --again on the machine where it was run, and then once more here")
	}
	if err == nil && rebuilt {
		fmt.Fprintf(con.err, "Session %s was run on another machine: its journal is made again from ClickHouse. It must not go on in two places.\n", id)
	}
	return id, err
}

// readSession finds a session as findSession does, and reads its journal.
func readSession(ctx context.Context, con *console, given string) (*journal.Recording, error) {
	id, err := findSession(ctx, con, given)
	if err != nil {
		return nil, err
	}
	return con.app.ReadJournal(id)
}

// inspectSession gives do the record of a session: from its journal, else from ClickHouse.
func inspectSession(ctx context.Context, con *console, given string, do func(*inspect.Record) error) error {
	arc, err := con.archive()
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
	if errors.As(err, new(*exit.Error)) {
		return err
	}
	switch kind := failure.KindOf(err); {
	case kind == failure.UnknownCall && r.CallsIn() != "" && len(r.Calls) == 0:
		return exit.UsageError(err, "windlass context show "+r.CallsIn())
	case kind == failure.UnknownCall && len(r.Calls) == 0:
		return exit.UsageError(err, "windlass show "+r.ID)
	case kind == failure.UnknownCall:
		return exit.UsageError(err, "windlass context stats "+r.ID)
	case kind == failure.UnknownMessage:
		return exit.UsageError(err, "windlass context show "+r.ID)
	case kind == failure.NoHandoff:
		return exit.With(exit.Failed, err, "windlass sessions list")
	}
	return err
}
