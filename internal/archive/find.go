package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// Match returns the id that is given or, as the only one, begins so; "" when there is none.
func Match(given string, ids []string) (string, error) {
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
	several := &clickhouse.SessionError{ID: given, Matches: matches[:min(len(matches), clickhouse.MaxMatches)]}
	return "", failure.New(failure.UnknownSession, several, "")
}

// Here returns the whole id of a session on this machine, given by its beginning; "" for none.
func (a *Archive) Here(given string) (string, error) {
	ids, err := localWith(a.Home, given)
	if err != nil {
		return "", err
	}
	return Match(given, ids)
}

// LocalJournal is [Archive.Here] with the path of the session's journal.
func (a *Archive) LocalJournal(given string) (id, path string, err error) {
	id, err = a.Here(given)
	return id, JournalPath(a.Home, id), err
}

// Find returns the whole id of a session, on this machine or elsewhere.
func (a *Archive) Find(ctx context.Context, given string) (string, error) {
	id, err := a.Here(given)
	if err != nil || id != "" {
		return id, err
	}
	err = a.elsewhere(ctx, given, func(_ context.Context, _ *clickhouse.DB, found string) error {
		id = found
		return nil
	})
	return id, err
}

// Entries returns the whole id of a session and its entries, of the journal or else ClickHouse.
func (a *Archive) Entries(ctx context.Context, given string) (id string, entries []*echo.Entry, err error) {
	if id, err = a.Here(given); err != nil {
		return "", nil, err
	}
	if id == "" {
		return a.stored(ctx, given)
	}
	rec, err := journal.Read(JournalPath(a.Home, id))
	if err != nil {
		return "", nil, ReadError(err)
	}
	return id, rec.Entries, nil
}

// stored returns a session without a journal here.
func (a *Archive) stored(ctx context.Context, given string) (id string, entries []*echo.Entry, err error) {
	err = a.elsewhere(ctx, given, func(ctx context.Context, db *clickhouse.DB, found string) (err error) {
		id = found
		entries, err = db.Record(ctx, found)
		return err
	})
	return id, entries, err
}

// elsewhere gives do the whole id of a session without a journal here.
func (a *Archive) elsewhere(ctx context.Context, given string, do func(ctx context.Context, db *clickhouse.DB, id string) error) error {
	if a.Database == nil {
		return failure.Newf(failure.UnknownSession, "no session %q on this machine", given)
	}
	found := false
	err := a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		s, err := db.Session(ctx, given)
		var unknown *clickhouse.SessionError
		if errors.As(err, &unknown) {
			return a.unknown(ctx, db, unknown)
		}
		if err != nil {
			return err
		}
		found = true
		return do(ctx, db, s.ID)
	})
	if found || !isAway(err) {
		return err
	}
	var f *failure.Error
	errors.As(err, &f)
	return failure.New(f.Kind, fmt.Errorf("session %q has no journal on this machine, and ClickHouse could not be asked for it: %w", given, err), f.Try)
}

// unknown says which sessions there are with ids like one that is not there.
func (a *Archive) unknown(ctx context.Context, db *clickhouse.DB, unknown *clickhouse.SessionError) error {
	if len(unknown.Matches) > 0 {
		return failure.New(failure.UnknownSession, unknown, "")
	}
	msg := fmt.Sprintf("no session %q on this machine or in ClickHouse", unknown.ID)
	ids, err := Local(a.Home)
	if err != nil {
		return err
	}
	known, err := db.Sessions(ctx, 1000)
	if err != nil {
		return err
	}
	for _, s := range known {
		if !slices.Contains(ids, s.ID) {
			ids = append(ids, s.ID)
		}
	}
	if len(ids) > 0 {
		msg += "; the nearest are " + strings.Join(suggestion.Nearest(unknown.ID, ids, 3), ", ")
	}
	return failure.New(failure.UnknownSession, errors.New(msg), "")
}
