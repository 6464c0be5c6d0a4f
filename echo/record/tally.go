package record

import (
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Tally sums up a session's entries, given in order, whether they count or not. Unlike a [Fold] it
// keeps none of them. The zero value is that of no entries. It belongs to one goroutine.
type Tally struct {
	sums   Sums
	visits map[echo.Key]*visited
	asked  map[echo.Key]Sizes // by the keys of model calls that are not answered
}

// Sums are what all entries of a session come to.
type Sums struct {
	Spent
	Background Totals // of it, what was done in the background
	Context    Sizes  // of what phases' calls that were answered were sent
	Phases     int    // visits that have begun
	StartedAt  time.Time
	Entries    uint64
}

// Sizes are tokens, estimated.
type Sizes struct {
	Full int64 // with full history
	Sent int64
}

// Plus returns the sum of both.
func (s Sizes) Plus(t Sizes) Sizes { return Sizes{Full: s.Full + t.Full, Sent: s.Sent + t.Sent} }

type visited struct {
	Spent
	begun bool
}

// Add takes the next entry.
func (t *Tally) Add(e *echo.Entry) {
	if t.sums.StartedAt.IsZero() {
		t.sums.StartedAt = e.At
	}
	t.sums.Entries = e.Seq
	t.sums.add(e)
	if e.Background() {
		t.sums.Background.Add(e)
		return
	}
	visit := e.Key.VisitKey()
	if e.NodeType == echo.NodeRoute || visit == echo.RunKey() { // a route is recorded under the visit that it follows
		return
	}
	t.visit(visit, e)
	t.size(e)
}

// size adds what a call was sent once it is answered.
func (t *Tally) size(e *echo.Entry) {
	switch {
	case e.NodeType == echo.NodeSelection && e.Selection != nil:
		if t.asked == nil {
			t.asked = map[echo.Key]Sizes{}
		}
		key := e.Key.ModelKey()
		t.asked[key] = t.asked[key].Plus(Sizes{Full: e.Selection.FullHistorySize, Sent: e.Selection.ContextSize})
	case e.NodeType == echo.NodeModelCall && e.Error == nil:
		t.sums.Context = t.sums.Context.Plus(t.asked[e.Key])
		delete(t.asked, e.Key)
	}
}

func (t *Tally) visit(key echo.Key, e *echo.Entry) {
	if t.visits == nil {
		t.visits = map[echo.Key]*visited{}
	}
	v := t.visits[key]
	if v == nil {
		v = &visited{}
		t.visits[key] = v
	}
	v.add(e)
	if e.NodeType == echo.NodePhaseStart && !v.begun && e.Key.Path().Scope == "" {
		v.begun = true
		t.sums.Phases++
	}
}

// Sums returns the sums of the session.
func (t *Tally) Sums() Sums { return t.sums }

// Visit returns the sums of a visit.
func (t *Tally) Visit(visit echo.Key) Spent {
	if v := t.visits[visit]; v != nil {
		return v.Spent
	}
	return Spent{}
}
