package windlass

import (
	"context"
	"iter"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/groups"
	"github.com/windlass-run/windlass/internal/inspect"
)

// Record is what is recorded of a session: its entries, and what they say of each model call.
type Record struct {
	record *inspect.Record
	app    *app.App
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
	if err := w.ready("read a session"); err != nil {
		return nil, err
	}
	id, entries, err := w.archive.Entries(ctx, id)
	if err != nil {
		return nil, explain(err)
	}
	r, err := inspect.New(id, entries)
	if err != nil {
		return nil, explain(err)
	}
	return &Record{r, w.app}, nil
}

// ID returns the id of the session.
func (r *Record) ID() string { return r.record.ID }

// Entries returns everything that is recorded, in its order. It must not be changed.
func (r *Record) Entries() []*echo.Entry { return r.record.Entries }

// Replay yields the entries as they came: with the pauses between them, at a speed that says how
// many times as fast as the run; 0 is at once. It ends early when ctx ends.
func (r *Record) Replay(ctx context.Context, speed float64) iter.Seq[*echo.Entry] {
	return inspect.PlayBack(ctx, r.record.Entries, speed)
}

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

// Handoff says where the run stands, without what people have taken out of its context by now, also where no run has taken that
// yet. The error is of [NoHandoff].
func (r *Record) Handoff() (*echo.Handoff, error) {
	taken, _, err := groups.Withdrawals(r.app.Home(), r.ID(), r.Entries())
	if err != nil {
		return nil, explain(err)
	}
	now := *r.record
	now.Taken = taken
	h, err := now.Handoff()
	return h, explain(err)
}

// Sounding is a phase, an element of a list or a whole cascade of which there were several tries: its
// Steps are the first choice and those of its refinement, each with its Candidates, the Pairs of ballots
// that judges held, what these come to by judge, and the Choice; Kept is the key of the candidate that is
// kept.
type Sounding = inspect.Sounding

// Soundings returns what was tried several times, in the order in which that began: of a phase, which is
// its name or the key of a visit or an element; all with "". None is no error then; for a phase without
// any the error is of [InvalidRequest].
func (r *Record) Soundings(phase string) ([]Sounding, error) {
	if phase == "" {
		return r.record.AllSoundings()
	}
	return r.record.Soundings(phase)
}

// Selection is a trial: which messages would be selected for a task.
type Selection struct {
	Task     string
	Strategy string // "heuristic", "semantic" or "prefilter"; "llm" and "hybrid" ask Model, and pay for it
	Budget   int64  // the most tokens
	Phase    string // what had finished when it began is selected from; "": everything
	Model    string // that chooses; only with "llm" and "hybrid"
}

// Select tries which messages of the session a phase would be given for a task, without a run. The
// error is of [InvalidRequest] when the trial makes no sense or there is nothing to select from.
func (r *Record) Select(ctx context.Context, s Selection) (*echo.InterSelection, error) {
	found, err := r.app.TrySelection(ctx, r.ID(), r.Entries(), cards.Trial{
		Task: s.Task, Strategy: cascade.SelectionStrategy(s.Strategy), Budget: s.Budget, Phase: s.Phase, Model: s.Model,
		Progress: func(fetch.Progress) {}, Instead: func(error) {}, // the selection itself says how it compared
	}, false)
	if err != nil {
		return nil, explain(err)
	}
	return &found.InterSelection, nil
}
