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
	w := &writer{db: db, logs: newEncoder(logTable()), selections: newEncoder(selectionTable())}
	w.selections.lists = &w.selections.current.lists
	w.selections.lists.hashes.usual, w.selections.lists.sent.usual = 17, 1 // with their length
	return w
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
	w.selections.lists.reset(selections)
	return writeRows(ctx, w.db, w.selections, selections, (*selectionRow).set)
}

// writing is the context of one write. It ends with the context that it was made of, but only until
// the write is over: a goroutine of the driver's batch, which nobody waits for, closes the
// connection when it finds its context ended, and by then the connection may serve another query.
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

func (w *writing) Deadline() (time.Time, bool) { return w.asked.Deadline() }

// Err says why it has ended as the other context does.
func (w *writing) Err() error {
	if w.Context.Err() == nil {
		return nil
	}
	return w.asked.Err()
}
