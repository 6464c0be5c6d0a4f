package archive

import (
	"context"
	"errors"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

// Bring returns the id of a session, whose journal it rebuilds from ClickHouse if it is not here:
// it was run on another machine, and must not be resumed in both places.
func (a *Archive) Bring(ctx context.Context, given string) (id string, rebuilt bool, err error) {
	id, err = a.Here(given)
	if err != nil || id != "" {
		return id, false, err
	}
	err = a.elsewhere(ctx, given, func(ctx context.Context, db *clickhouse.DB, found string) error {
		to, err := a.Address()
		if err != nil {
			return err
		}
		id = found
		return rebuildError(db.Rebuild(ctx, found, config.SessionDir(a.Home, found), to))
	})
	return id, err == nil, err
}

// rebuildError gives the error of a rebuild its kind; a [*clickhouse.IncompleteError] may be in it.
func rebuildError(err error) error {
	var incomplete *clickhouse.IncompleteError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &incomplete):
		return failure.New(failure.Damaged, err, "")
	case errors.Is(err, journal.ErrBusy), errors.Is(err, journal.ErrExists):
		return failure.New(failure.SessionBusy, err, "once more: another process has just made it")
	}
	return failure.New(failure.StorageFailed, err, "free space, or set WINDLASS_HOME to a folder on another disk")
}
