// Package record folds a session's entries into what they come to: its end, whether it can be
// resumed, visits with totals and histories, and what each call was sent.
//
// A run_resume entry sets others aside, such as the stop: they no longer count, and those of the
// background never do. What was paid stays paid, so sums are made of what counts, and of all.
//
// An entry that cannot be read changes nothing. Only [Requests] and [Selections] return errors.
package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Fold is what a session's entries, given in order, come to so far. It belongs to one goroutine and
// keeps what counts. Adding takes constant time, unless a run_resume sets entries aside.
type Fold struct {
	counted []*echo.Entry
	now     *state

	// What stays true whatever is set aside later.
	first, last *echo.Entry
	newest      *echo.Entry // of those that are not from the background
	cascade     string
	workspace   *echo.Workspace
	tally       Tally
}

// New returns the fold of no entries.
func New() *Fold {
	return &Fold{now: newState(), first: noEntry, last: noEntry, newest: noEntry}
}

// noEntry stands for entries that are not recorded yet.
var noEntry = &echo.Entry{}

// Of returns the fold of entries.
func Of(entries []*echo.Entry) *Fold {
	f := New()
	for _, e := range entries {
		f.Add(e)
	}
	return f
}

// Add takes the next entry. The entry must not be changed afterwards.
func (f *Fold) Add(e *echo.Entry) {
	if f.first == noEntry {
		f.first = e
	}
	f.last = e
	f.cascade = cmp.Or(f.cascade, e.CascadeID)
	f.keep(e)
	before := len(f.counted)
	counted, dropped := count(f.counted, e)
	f.counted = counted
	switch {
	case len(dropped) > 0:
		f.now = stateOf(counted)
	case len(counted) > before:
		f.now.add(e)
	}
}

// keep takes the part of an entry that stays true whatever is set aside later.
func (f *Fold) keep(e *echo.Entry) {
	f.tally.Add(e)
	if e.Background() {
		return
	}
	f.newest = e
	if e.NodeType == echo.NodeHandoff {
		d, _ := echo.Read[echo.Handoff](e)
		f.workspace = cmp.Or(d.Workspace, f.workspace)
	}
}

// SessionID returns the id of the session, "" before the first entry.
func (f *Fold) SessionID() string { return f.first.SessionID }

// CascadeID returns the id of the cascade, "" before the first entry that has it.
func (f *Fold) CascadeID() string { return f.cascade }

// Entries returns the number of the newest entry, 0 before the first.
func (f *Fold) Entries() uint64 { return f.last.Seq }

// StartedAt returns when the first entry was recorded, zero before it.
func (f *Fold) StartedAt() time.Time { return f.first.At }

// Counted returns the entries that count, in their order.
func (f *Fold) Counted() []*echo.Entry { return slices.Clip(f.counted) }

// End returns how the run ended.
func (f *Fold) End() End { return EndAt(f.newest) }

// Start returns the entry of the start of the run, nil when it is not recorded.
func (f *Fold) Start() *echo.Entry { return f.now.start }

// Workspace returns the newest reading of the files that the run works on, nil when there is none.
func (f *Fold) Workspace() *echo.Workspace { return f.workspace }

// Visits returns the visits to phases, in the order in which they began.
func (f *Fold) Visits() []Visit {
	out := make([]Visit, len(f.now.visits))
	for i, v := range f.now.visits {
		out[i] = f.visit(v)
	}
	return out
}

// visit returns a visit as it is now. That of a node which was stopped has no end of its own.
func (f *Fold) visit(v *Visit) Visit {
	out := *v
	out.Verdicts, out.State = slices.Clip(v.Verdicts), f.now.stateOf(v)
	out.Spent = f.tally.Visit(v.Key)
	if end := f.End(); end.Whole && v.Node > 0 {
		out.endWith(end.Status, end.Reason)
	}
	return out
}

// History returns the entries with the messages of a visit or branch, in sending order, those of
// earlier phases included, see [IsOwn]. It is valid until the next Add.
func (f *Fold) History(visit echo.Key) []*echo.Entry {
	if h := f.now.histories[visit]; h != nil {
		return h.entries
	}
	return nil
}

// Routes returns the routes of the run from phase to phase so far.
func (f *Fold) Routes() []echo.Route { return slices.Clip(f.now.routes) }

// Callouts returns the messages that were marked as important, in their order.
func (f *Fold) Callouts() []echo.Callout { return f.now.trunk.marks() }

// State returns what a name of the shared state was set to, nil when it was not set. Of open branches
// the last in order counts, as when they end.
func (f *Fold) State(name string) any {
	v, _ := f.now.trunk.value(name)
	return v
}

// Shared returns the shared state, by its names, see [Fold.State].
func (f *Fold) Shared() map[string]any { return f.now.trunk.all(map[string]any{}) }

// Output returns the output of the newest visit that completed, nil when none did. That of a graph is
// the output of the last phase in the file that completed, of those that no other comes after.
func (f *Fold) Output() any {
	if len(f.now.nodes) > 0 {
		return f.now.graphOutput()
	}
	return f.now.output
}

// Totals returns the sum of the model calls that count, without those of children.
func (f *Fold) Totals() Totals { return f.now.totals }

// Spent returns the sum of all that is recorded and not copied, whether it counts or not.
func (f *Fold) Spent() Spent { return f.tally.Sums().Spent }

// Sums returns the sums of all that is recorded, whether it counts or not; see [Tally].
func (f *Fold) Sums() Sums { return f.tally.Sums() }
