package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
)

// findSession returns the id of a session that is given by its id or the beginning of it. One that was run on another
// machine is brought here: its journal is made again from ClickHouse.
func (a *app) findSession(ctx context.Context, home, given string) (string, error) {
	local, err := localSessions(home)
	if err != nil {
		return "", withExit(exitStorage, err, "windlass doctor")
	}
	id, err := matchSession(given, local)
	if err != nil {
		return "", usageError(err, "windlass sessions list")
	}
	if id != "" {
		return id, nil
	}
	return a.bringSession(ctx, home, given)
}

// bringSession makes the journal of a session of another machine from ClickHouse.
func (a *app) bringSession(ctx context.Context, home, given string) (id string, err error) {
	o, err := a.clickHouse()
	if err != nil {
		return "", err
	}
	err = a.withClickHouse(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		s, err := db.Session(ctx, given)
		var unknown *clickhouse.SessionError
		switch {
		case errors.As(err, &unknown) && len(unknown.Matches) == 0:
			return usageError(fmt.Errorf("no session %q on this machine or in ClickHouse", given), "windlass sessions list")
		case unknown != nil:
			return usageError(err, "windlass sessions list")
		}
		if err != nil {
			return err
		}
		id = s.ID
		return rebuildError(id, db.Rebuild(ctx, id, config.SessionDir(home, id), o.Address()))
	})
	var ee *exitError
	switch {
	case errors.As(err, &ee) && ee.code == exitStorage && id == "":
		return "", withExit(exitStorage, fmt.Errorf("session %q has no journal on this machine, and ClickHouse could not be asked for it: %w", given, err), ee.hint)
	case err != nil:
		return "", err
	}
	fmt.Fprintf(a.err, "Session %s was run on another machine: its journal is made again from ClickHouse. It must not go on in two places.\n", id)
	return id, nil
}

// rebuildError says what can be done when a session cannot be made again.
func rebuildError(id string, err error) error {
	var incomplete *clickhouse.IncompleteError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &incomplete):
		return withExit(exitStorage, err, "windlass ship "+id+" --again on the machine where it was run, and then once more here")
	case errors.Is(err, journal.ErrBusy), errors.Is(err, journal.ErrExists):
		return usageError(err, "once more: another process has just made it")
	}
	return withExit(exitStorage, err, "free space, or set WINDLASS_HOME to a folder on another disk")
}
