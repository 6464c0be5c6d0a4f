package windlass

import (
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
)

// Record is what is recorded of a session: its entries, and what they say of each model call.
type Record struct {
	record *inspect.Record
}

// Call is one model call of a phase: its Number in the session, Key, Phase, Attempt, Turn and
// Model; what full history would have been and what it was sent, in tokens (FullHistorySize,
// ContextSize, TokensSaved) and in money (FullUSD, SentUSD); what a prefix cache could reuse
// (SharedSize); and what came of it (Answered, Error, TokensIn, TokensCached, CostUSD).
type Call = inspect.Call

// Stats sum up the calls of a session: Total has the tokens and the money of all of them beside
// full history, Calls each one.
type Stats = inspect.Stats

// Shown is what a call was sent: Messages as they were sent, and Forms with the form of each
// message of the history and the reason for it.
type Shown = inspect.Shown

// Explained says of one message in which calls it was sent, in which form and why (Uses), and what
// selections for later phases made of it (Selections).
type Explained = inspect.Explained

// Diff says how two calls differ: Prefix is the part that a prefix cache can reuse, Messages what
// changed behind it.
type Diff = inspect.Diff

// Record reads what is recorded of a session, also while it runs: from its journal, or from
// ClickHouse when that is not on this machine. The error is of [UnknownSession], [Damaged],
// [OtherVersion] or [StorageFailed].
func (w *Windlass) Record(ctx context.Context, id string) (*Record, error) {
	id, entries, err := w.archive.Entries(ctx, id)
	if err != nil {
		return nil, explain(err)
	}
	r, err := inspect.New(id, entries)
	if err != nil {
		return nil, explain(err)
	}
	return &Record{r}, nil
}

// ID returns the id of the session.
func (r *Record) ID() string { return r.record.ID }

// Entries returns everything that is recorded, in its order. It must not be changed.
func (r *Record) Entries() []*echo.Entry { return r.record.Entries }

// Calls returns the model calls of the phases. Those of validators, and for summaries and counts,
// are entries only.
func (r *Record) Calls() []Call { return r.record.Calls }

// Stats sums up what the calls were sent and what that cost beside full history.
func (r *Record) Stats() *Stats { return r.record.Stats() }

// Show returns what a call was sent. It is named by its number or its key. The error is of
// [UnknownCall].
func (r *Record) Show(call string) (*Shown, error) {
	c, err := r.record.Call(call)
	if err != nil {
		return nil, err
	}
	return r.record.Show(c)
}

// Diff compares what two calls were sent. They are named as those of [Record.Show].
func (r *Record) Diff(from, to string) (*Diff, error) {
	one, err := r.record.Call(from)
	if err != nil {
		return nil, err
	}
	other, err := r.record.Call(to)
	if err != nil {
		return nil, err
	}
	return r.record.Diff(one, other)
}

// Explain says what was sent of a message, which is named by the beginning of its hash. The error
// is of [UnknownMessage].
func (r *Record) Explain(hash string) (*Explained, error) { return r.record.Explain(hash) }

// Handoff says where the run stands. The error is of [NoHandoff].
func (r *Record) Handoff() (*echo.Handoff, error) { return r.record.Handoff() }
