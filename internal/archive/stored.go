package archive

import (
	"context"
	"errors"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Stored is what ClickHouse says of one run, with each of its calls.
type Stored struct {
	clickhouse.Session
	PhaseReports []clickhouse.PhaseReport `json:"phase_reports"`
	CallList     []clickhouse.Call        `json:"call_list"`
}

// UndeliveredError is a session that ClickHouse does not have and this machine has a journal of.
type UndeliveredError struct {
	error
	ID string
}

// Unwrap returns the cause.
func (e *UndeliveredError) Unwrap() error { return e.error }

// Stored returns what ClickHouse says of a run. For one that only this machine has, the error is an
// [*UndeliveredError], or says why the journal cannot be read.
func (a *Archive) Stored(ctx context.Context, given string) (d *Stored, err error) {
	err = a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
		d, err = load(ctx, db, given)
		var unknown *clickhouse.SessionError
		if errors.As(err, &unknown) {
			return a.undelivered(given, err)
		}
		return err
	})
	return d, err
}

func load(ctx context.Context, db *clickhouse.DB, given string) (d *Stored, err error) {
	d = &Stored{}
	if d.Session, err = db.Session(ctx, given); err != nil {
		return nil, err
	}
	if d.PhaseReports, err = db.Phases(ctx, d.ID); err != nil {
		return nil, err
	}
	d.CallList, err = db.Calls(ctx, d.ID)
	return d, err
}

// undelivered looks on this machine for a session that ClickHouse does not have.
func (a *Archive) undelivered(given string, unknown error) error {
	id, err := a.Here(given)
	if err != nil || id == "" {
		return failure.New(failure.UnknownSession, unknown, "")
	}
	if _, err := sessions.Look(config.SessionDir(a.Home, id)); journal.IsUnreadable(err) {
		return ReadError(err)
	}
	return failure.New(failure.UnknownSession, &UndeliveredError{unknown, id}, "")
}

// Costs returns what runs have cost, summed up.
func (a *Archive) Costs(ctx context.Context, by clickhouse.CostBy) (rows []clickhouse.CostRow, err error) {
	err = a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
		rows, err = db.Costs(ctx, by)
		return err
	})
	return rows, err
}
