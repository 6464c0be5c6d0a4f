package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

// Bring returns the id of a session, whose journal it rebuilds from ClickHouse if it is not here:
// it was run on another machine, and must not be resumed in both places. With it come the sessions that it has
// begun, and that these have, as far as ClickHouse has them: it depends on what they were answered.
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
		b := bringing{ctx, db, a.Home, to, map[string]bool{found: true}}
		if err := b.childrenOf(found); err != nil {
			return rebuildError(err)
		}
		return rebuildError(db.Rebuild(ctx, found, config.SessionDir(a.Home, found), to))
	})
	return id, err == nil, err
}

// bringing rebuilds the children of a session before it: a session that is here has those that it has begun.
type bringing struct {
	ctx  context.Context //nolint:containedctx // of one call
	db   *clickhouse.DB
	home string
	to   string
	seen map[string]bool // a record may say anything
}

func (b *bringing) childrenOf(id string) error {
	children, err := clickhouse.ChildrenOf(b.ctx, b.db, id)
	if err != nil {
		return err
	}
	for _, child := range children {
		if b.seen[child] || !journal.IsSessionID(child) {
			continue
		}
		b.seen[child] = true
		if err := b.childrenOf(child); err != nil {
			return err
		}
		err := b.db.Rebuild(b.ctx, child, config.SessionDir(b.home, child), b.to)
		var none *clickhouse.SessionError
		if err != nil && !errors.As(err, &none) && !errors.Is(err, journal.ErrExists) { // it has not begun, or is here
			return fmt.Errorf("session %s was begun by session %s: %w", child, id, err)
		}
	}
	return nil
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
