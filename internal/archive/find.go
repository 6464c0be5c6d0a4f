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
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// Here returns the whole id of a session on this machine that a name means; "" for none.
func (a *Archive) Here(name string) (string, error) { return here(a.Home, name, a.Scope) }

func here(home, name string, scope names.Scope) (string, error) {
	found, err := names.Find(name, scope, local{home})
	switch {
	case err != nil:
		return "", err
	case len(found.IDs) == 1:
		return found.IDs[0], nil
	case found.Way == names.Last:
		return "", tooFew(home, name)
	case len(found.IDs) > 1:
		return "", ambiguous(name, found, func(id string) Candidate { return candidateHere(home, id) })
	}
	return "", nil
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
		id, err := idStored(ctx, a, db, given)
		if err != nil {
			return err
		}
		found = true
		return do(ctx, db, id)
	})
	if found || !isAway(err) {
		return err
	}
	var f *failure.Error
	errors.As(err, &f)
	return failure.New(f.Kind, fmt.Errorf("session %q has no journal on this machine, and ClickHouse could not be asked for it: %w", given, err), f.Try)
}

// idStored returns the id of the session in ClickHouse that a name means.
func idStored(ctx context.Context, a *Archive, db *clickhouse.DB, name string) (string, error) {
	found, err := names.Find(name, a.Scope, stored{ctx, db, name})
	switch {
	case err != nil:
		return "", err
	case len(found.IDs) == 1:
		return found.IDs[0], nil
	case len(found.IDs) > 1:
		return "", ambiguous(name, found, func(id string) Candidate {
			s, err := db.Session(ctx, id)
			if err != nil { // the id is known
				return Candidate{ID: id}
			}
			return candidateOf(&s)
		})
	}
	return "", a.unknown(ctx, db, name)
}

// tooFew says that there is no session so far back.
func tooFew(home, name string) error {
	runs, err := local{home}.runs()
	if err != nil {
		return err
	}
	have := "are only " + quantity.Of(len(runs), "session")
	switch len(runs) {
	case 0:
		have = "is none"
	case 1:
		have = "is only one session"
	}
	return failure.Newf(failure.UnknownSession, "no session %q: there %s on this machine", name, have)
}

// unknown says which names of sessions are like one that is not there.
func (a *Archive) unknown(ctx context.Context, db *clickhouse.DB, name string) error {
	msg := fmt.Sprintf("no session %q on this machine or in ClickHouse", name)
	ids, err := Local(a.Home)
	if err != nil {
		return err
	}
	known, err := db.Sessions(ctx, 1000, clickhouse.Filter{})
	if err != nil {
		return err
	}
	var cascades []string
	for _, s := range known {
		ids, cascades = append(ids, s.ID), append(cascades, s.CascadeID)
	}
	if a.Scope == names.Everything {
		if len(ids) > 0 {
			cascades = slices.Insert(cascades, 0, "last")
		}
		for _, s := range Recent(a.Home, ids, cascadesAtOnce) { // those that ClickHouse does not have yet
			cascades = append(cascades, s.CascadeID)
		}
		ids = slices.Concat(cascades, ids)
	}
	switch near := suggestion.Near(name, ids, 3); len(near) {
	case 0:
	case 1:
		msg += "; the nearest is " + near[0]
	default:
		msg += "; the nearest are " + strings.Join(near, ", ")
	}
	return failure.New(failure.UnknownSession, errors.New(msg), "")
}
