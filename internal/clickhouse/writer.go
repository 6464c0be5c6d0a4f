package clickhouse

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// Insert writes the entries of sessions, in their order: all of them or, of the last batch, perhaps only the rows of
// unified_logs. Entries that are there already are written again, which changes nothing. A selection can be written only
// with all entries of its visit before it, because it says what changed since; the error names the first that does not
// fit, and nothing is written then.
func (db *DB) Insert(ctx context.Context, entries []*echo.Entry) error {
	rec := newRecorder()
	rows := make([]*row, len(entries))
	for i, e := range entries {
		var err error
		if rows[i], err = rec.row(e); err != nil {
			return fmt.Errorf("read the selections of session %s: %w", e.SessionID, err)
		}
	}
	return newWriter(db).insert(ctx, rows)
}

// writer writes rows. It keeps what writing needs from one batch to the next and belongs to one goroutine.
type writer struct {
	db         *DB
	logs       *encoder[logRow]
	selections *encoder[selectionRow]
}

func newWriter(db *DB) *writer {
	return &writer{db: db, logs: newEncoder(logTable()), selections: newEncoder(selectionTable())}
}

// insert writes rows. When it fails between the two tables, writing them again completes them.
func (w *writer) insert(ctx context.Context, rows []*row) error {
	var selections []*row
	for _, r := range rows {
		if r.selected != nil {
			selections = append(selections, r)
		}
	}
	if err := writeRows(ctx, w.db, w.logs, rows, (*logRow).set); err != nil {
		return err
	}
	return writeRows(ctx, w.db, w.selections, selections, (*selectionRow).set)
}
