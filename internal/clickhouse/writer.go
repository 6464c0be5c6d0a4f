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

// writing is the context of one write. It ends with the context that it was made of, but only until
// the write is over.
//
// A batch of the driver has a goroutine that closes the connection when its context ends. It is
// told when the batch has been sent, but not waited for: one that comes late on a busy machine
// finds the context ended, by a caller who is done, and closes a connection that serves another
// query by then.
type writing struct {
	context.Context                 //nolint:containedctx // it is one; this ends the write
	asked           context.Context //nolint:containedctx // what it was made of
}

// beginWriting returns the context for a write, and what must be called when the write is over.
func beginWriting(ctx context.Context) (w context.Context, over func()) {
	own, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	return &writing{Context: own, asked: ctx}, func() { stop() }
}

// Deadline implements [context.Context].
func (w *writing) Deadline() (time.Time, bool) { return w.asked.Deadline() }

// Err says why it has ended as the other context does.
func (w *writing) Err() error {
	if w.Context.Err() == nil {
		return nil
	}
	return w.asked.Err()
}
