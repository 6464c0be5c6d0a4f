package record

import (
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Tally sums up a session's entries, given in order, whether they count or not. Unlike a [Fold] it
// keeps none of them. The zero value is that of no entries. It belongs to one goroutine.
//
// What a fork has copied was done and paid for in the session that it comes from: it is in the
// sums of that one, so that sums over sessions have it once, and here in Copied alone.
type Tally struct {
	sums     Sums
	visits   map[echo.Key]*visited
	branches map[echo.Key]*Spent // below visits
	children childSums
	own      bool    // the newest entry is the session's own
	asked    []asked // what model calls are sent that are not answered: few
}

// Sums are what all entries of a session come to that are its own.
type Sums struct {
	Spent
	Background Totals        // of it, what was done in the background
	Context    Sizes         // of what phases' calls that were answered were sent
	Copied     Copied        // in no sum above
	Children   Below         // in no sum above
	Phases     int           // visits that have begun, those that were copied among them
	StartedAt  time.Time     // of its first own entry: a fork begins after what it has copied
	Ran        time.Duration // in which it ran: without the time from a stop to the next resume
	Entries    uint64
}

// Copied is what a fork has of the session that it comes from.
type Copied struct {
	echo.Origin
	Totals    Totals
	ToolCalls int
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

// asked is what a selection says of a call that is to come.
type asked struct {
	selection echo.Key
	Sizes
}

// Add takes the next entry.
func (t *Tally) Add(e *echo.Entry) {
	if e.NodeType == echo.NodeRunStart {
		t.sums.Copied.Origin = echo.OriginOf(e)
	}
	own := !t.sums.Copied.Has(e)
	t.time(e, own)
	t.sums.Entries = e.Seq
	t.sums.take(e, own)
	if own {
		t.children.add(e)
		t.sums.Children = t.children.Below
	} else {
		t.sums.Copied.add(e)
	}
	switch visit := e.Key.VisitKey(); {
	case visit == echo.CardsKey():
		if own {
			t.sums.Background.Add(e)
		}
	case e.NodeType == echo.NodeRoute || visit == echo.RunKey(): // a route is recorded under the visit that it follows
	default:
		t.visit(visit, e, own)
		t.size(e, own)
	}
}

// time takes when an entry was recorded.
func (t *Tally) time(e *echo.Entry, own bool) {
	s := &t.sums
	switch {
	case s.Entries == 0, own && !t.own:
		s.StartedAt = e.At
	case own && e.NodeType != echo.NodeResume: // before which nobody ran it
		s.Ran += max(e.At.Sub(s.LastAt), 0)
	}
	t.own = own
}

func (c *Copied) add(e *echo.Entry) {
	c.Totals.Add(e)
	if e.NodeType == echo.NodeToolCall {
		c.ToolCalls++
	}
}

// size adds what a call was sent once it is answered.
func (t *Tally) size(e *echo.Entry, own bool) {
	switch {
	case e.NodeType == echo.NodeSelection && e.Selection != nil:
		t.asked = append(t.asked, asked{e.Key, Sizes{Full: e.Selection.FullHistorySize, Sent: e.Selection.ContextSize}})
	case e.NodeType == echo.NodeModelCall && e.Error == nil:
		t.asked = slices.DeleteFunc(t.asked, func(a asked) bool {
			sent := echo.Selects(a.selection, e.Key)
			if sent && own {
				t.sums.Context = t.sums.Context.Plus(a.Sizes)
			}
			return sent
		})
	}
}

func (t *Tally) visit(key echo.Key, e *echo.Entry, own bool) {
	if t.visits == nil {
		t.visits = map[echo.Key]*visited{}
	}
	v := t.visits[key]
	if v == nil {
		v = &visited{}
		t.visits[key] = v
	}
	v.take(e, own)
	if e.NodeType == echo.NodePhaseStart && !v.begun && e.Key.Path().Scope == "" {
		v.begun = true
		t.sums.Phases++
	}
	if e.Key.HasBranches() {
		t.parts(e, own)
	}
}

// parts adds an entry to the branch that it is in and to those that this one grows from.
func (t *Tally) parts(e *echo.Entry, own bool) {
	if t.branches == nil {
		t.branches = map[echo.Key]*Spent{}
	}
	p := e.Key.Path()
	for range p.Parts() {
		key := conversation(e.Key, &p)
		if t.branches[key] == nil {
			t.branches[key] = &Spent{}
		}
		t.branches[key].take(e, own)
		p.Branches = p.Branches[:len(p.Branches)-1]
	}
}

// Sums returns the sums of the session.
func (t *Tally) Sums() Sums { return t.sums }

// Branch returns the sums of a branch below a visit.
func (t *Tally) Branch(branch echo.Key) Spent {
	if s := t.branches[branch]; s != nil {
		return *s
	}
	return Spent{}
}

// Visit returns the sums of a visit.
func (t *Tally) Visit(visit echo.Key) Spent {
	if v := t.visits[visit]; v != nil {
		return v.Spent
	}
	return Spent{}
}
