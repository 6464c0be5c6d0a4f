package clickhouse

import (
	"context"
	"time"
)

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
