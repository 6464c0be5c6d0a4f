package clickhouse

import (
	"context"
	"time"
)

const writeLimit = 30 * time.Second // for one write

// writer writes rows. It belongs to one goroutine.
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
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
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
