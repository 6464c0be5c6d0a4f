package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/delivery"
)

// IncompleteError says what ClickHouse lacks of a session to make its journal again.
type IncompleteError struct {
	SessionID string
	Entries   []uint64 // numbers of entries that are missing before others that are there
	Header    bool     // what the session was begun with is missing
}

func (e *IncompleteError) Error() string {
	var parts []string
	if len(e.Entries) > 0 {
		noun := "entries "
		if len(e.Entries) == 1 {
			noun = "entry "
		}
		parts = append(parts, noun+ranges(e.Entries))
	}
	if e.Header {
		parts = append(parts, "what the run was begun with (its cascade, input and options)")
	}
	return fmt.Sprintf("ClickHouse does not have all of session %s: missing is %s", e.SessionID, strings.Join(parts, "; "))
}

func ranges(numbers []uint64) string {
	var parts []string
	for i := 0; i < len(numbers); {
		from := i
		for i++; i < len(numbers) && numbers[i] == numbers[i-1]+1; {
			i++
		}
		part := fmt.Sprint(numbers[from])
		if i-from > 1 {
			part += fmt.Sprintf(" to %d", numbers[i-1])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// Record returns the entries of a session as its journal has them.
func (db *DB) Record(ctx context.Context, sessionID string) (entries []*echo.Entry, err error) {
	t := logTable()
	sql := "SELECT " + t.selected() + " FROM " + db.layout.table(t.name) + " FINAL WHERE session_id = ? ORDER BY seq"
	err = eachRow(ctx, db, sql, func(rows rowSource) error {
		r := new(logRow)
		if err := rows.Scan(t.destinations(r)...); err != nil {
			return err
		}
		e, err := r.restore()
		if err != nil {
			return fmt.Errorf("entry %d (%s): %w", r.entry.Seq, r.place.key, err)
		}
		entries = append(entries, e)
		return nil
	}, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read the record of session %s: %w", sessionID, err)
	}
	return entries, nil
}

// Rebuild makes the journal of a session again in the folder dir, as far as the database has it,
// and notes that as delivered to the address to. When rows are missing before others it makes
// nothing, and the error is an [*IncompleteError]; it is [journal.ErrExists] when dir has a
// journal.
func (db *DB) Rebuild(ctx context.Context, sessionID, dir, to string) error {
	entries, err := db.Record(ctx, sessionID)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return &SessionError{ID: sessionID}
	}
	header, err := headerOf(sessionID, entries)
	if err != nil {
		return err
	}
	j, err := journal.Create(dir, header)
	if err != nil {
		return fmt.Errorf("make the journal of session %s again: %w", sessionID, err)
	}
	for _, e := range entries {
		if err = j.Write(e); err != nil {
			break
		}
	}
	// Closing writes it out, whatever becomes of the caller meanwhile.
	if err = errors.Join(err, j.Close(context.WithoutCancel(ctx))); err != nil {
		_ = journal.Remove(dir) // half of it is worse than nothing
		return fmt.Errorf("make the journal of session %s again: %w", sessionID, err)
	}
	// If this fails, what is there is delivered once more, which changes nothing.
	if mark, err := markOf(ctx, db, dir, to); err == nil {
		last := entries[len(entries)-1]
		mark.Seq, mark.EntryAt = last.Seq, last.At
		_ = delivery.SetMark(dir, mark)
	}
	return nil
}

func headerOf(sessionID string, entries []*echo.Entry) (journal.Header, error) {
	lost := &IncompleteError{SessionID: sessionID}
	next := uint64(1)
	for _, e := range entries {
		for ; next < e.Seq; next++ {
			lost.Entries = append(lost.Entries, next)
		}
		next = e.Seq + 1
	}
	first := entries[0]
	header, err := journal.HeaderOf(first)
	if first.Seq == 1 && (err != nil || header.SessionID != sessionID) {
		lost.Header = true
	}
	if len(lost.Entries) > 0 || lost.Header {
		return journal.Header{}, lost
	}
	return header, nil
}
