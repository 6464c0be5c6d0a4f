package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
)

// readContextRecord finds a session by its id or the beginning of it and reads its record: the journal on this machine,
// which is there first and whole, or ClickHouse when there is none.
func (a *app) readContextRecord(ctx context.Context, session string) (*contextRecord, error) {
	return a.findContextRecord(ctx, session, a.withClickHouse)
}

// askingClickHouse opens ClickHouse for one use: withClickHouse or askClickHouse.
type askingClickHouse func(context.Context, func(context.Context, *clickhouse.DB) error) error

func (a *app) findContextRecord(ctx context.Context, session string, ask askingClickHouse) (*contextRecord, error) {
	home, err := config.Home()
	if err != nil {
		return nil, withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	local, err := localSessions(home)
	if err != nil {
		return nil, withExit(exitStorage, err, "windlass doctor")
	}
	id, err := matchSession(session, local)
	switch {
	case err != nil:
		return nil, usageError(err, "windlass sessions list")
	case id == "":
		return recordFromClickHouse(ctx, session, local, ask)
	}
	rec, err := journal.Read(filepath.Join(config.SessionDir(home, id), journal.File))
	if err != nil {
		return nil, withExit(exitStorage, err, "")
	}
	return newContextRecord(id, rec.Entries)
}

// localSessions lists the sessions that have a journal on this machine.
func localSessions(home string) ([]string, error) {
	dir := filepath.Dir(config.SessionDir(home, "x"))
	folders, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions on this machine: %w", err)
	}
	var ids []string
	for _, f := range folders {
		if _, err := os.Stat(filepath.Join(dir, f.Name(), journal.File)); err == nil {
			ids = append(ids, f.Name())
		}
	}
	return ids, nil
}

// matchSession returns the id that is given or, as the only one, begins so; "" when there is none.
func matchSession(given string, ids []string) (string, error) {
	var matches []string
	for _, id := range ids {
		if id == given {
			return id, nil
		}
		if strings.HasPrefix(id, given) {
			matches = append(matches, id)
		}
	}
	switch len(matches) {
	case 0:
		return "", nil
	case 1:
		return matches[0], nil
	}
	return "", &clickhouse.SessionError{ID: given, Matches: matches[:min(len(matches), clickhouse.MaxMatches)]}
}

func recordFromClickHouse(ctx context.Context, session string, local []string, ask askingClickHouse) (*contextRecord, error) {
	var r *contextRecord
	err := ask(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		s, err := db.Session(ctx, session)
		var unknown *clickhouse.SessionError
		if errors.As(err, &unknown) {
			return unknownSession(ctx, db, unknown, local)
		}
		if err != nil {
			return err
		}
		entries, err := db.Record(ctx, s.ID)
		if err != nil {
			return err
		}
		r, err = newContextRecord(s.ID, entries)
		return err
	})
	var ee *exitError
	if errors.As(err, &ee) && ee.code == exitStorage {
		return nil, withExit(exitStorage, fmt.Errorf("session %q has no journal on this machine, and ClickHouse could not be asked for it: %w", session, err), ee.hint)
	}
	return r, err
}

// unknownSession adds the sessions that an id is most like.
func unknownSession(ctx context.Context, db *clickhouse.DB, unknown *clickhouse.SessionError, local []string) error {
	if len(unknown.Matches) > 0 {
		return usageError(unknown, "windlass sessions list")
	}
	known, err := db.Sessions(ctx, 1000)
	if err != nil {
		return err
	}
	ids := append([]string(nil), local...)
	for _, s := range known {
		ids = append(ids, s.ID)
	}
	msg := fmt.Sprintf("no session %q on this machine or in ClickHouse", unknown.ID)
	if len(ids) > 0 {
		msg += "; the nearest are " + strings.Join(nearest(unknown.ID, dedupe(ids), 3), ", ")
	}
	return usageError(errors.New(msg), "windlass sessions list")
}

// dedupe keeps the first of equal strings.
func dedupe(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
