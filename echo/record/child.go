package record

import (
	"cmp"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Child is another cascade that a run has begun, a session of its own. Of the entries that count.
type Child struct {
	echo.ChildStart
	Key       echo.Key // where it was begun
	StartedAt time.Time

	End     *echo.ChildEnd // nil: no end is recorded
	EndedAt time.Time
	Error   string // of one that did not complete
	Totals  Totals // of it and of its own children, as its end says
}

// Below sums up the children of a session. What they took is in no sum of the session itself.
type Below struct {
	Begun  int // those that have ended among them, also where the start is one that a fork has copied
	Ended  int
	Totals Totals // of those that have ended and of their own children, as their ends say
}

// ChildTotals returns the totals that the end of a child has.
func ChildTotals(e *echo.Entry) Totals {
	d, err := echo.Read[echo.ChildEnd](e)
	if err != nil {
		return Totals{}
	}
	return childTotals(e, &d)
}

func childTotals(e *echo.Entry, d *echo.ChildEnd) Totals {
	t := Totals{Calls: d.Calls, UnknownCosts: d.Unknown, CostUSD: d.Known}
	if e.Usage != nil {
		t.Usage = *e.Usage
	}
	if e.CostUSD != nil {
		t.CostUSD = *e.CostUSD
	}
	if p := e.Pretend; p != nil {
		t.PretendUSD, t.PriceAs = p.USD, p.Model
	}
	if e.Scripted {
		t.Scripted = d.Calls
	}
	return t
}

// children are those of a session, in the order in which they began.
type children struct {
	all []*Child
	at  map[echo.Key]*Child // by the keys of their ends
}

func (c *children) add(e *echo.Entry) {
	switch e.NodeType { //nolint:exhaustive // the others are of no child
	case echo.NodeChildStart:
		if d, err := echo.Read[echo.ChildStart](e); err == nil {
			c.begin(&Child{ChildStart: d, Key: e.Key, StartedAt: e.At})
		}
	case echo.NodeChildEnd:
		d, err := echo.Read[echo.ChildEnd](e)
		child := c.at[e.Key]
		if err != nil || child == nil {
			return
		}
		child.Session = cmp.Or(d.Session, child.Session) // a fork goes on with a copy of what the original had begun
		child.End, child.EndedAt, child.Totals, child.Error = &d, e.At, childTotals(e, &d), ""
		if e.Error != nil {
			child.Error = e.Error.Message
		}
	}
}

// begin adds a child. One that begins again takes the place of the one before.
func (c *children) begin(child *Child) {
	if c.at == nil {
		c.at = map[echo.Key]*Child{}
	}
	if old := c.at[child.Key]; old != nil {
		*old = *child
		return
	}
	c.at[child.Key] = child
	c.at[echo.RunKey().Named(echo.StepAsync, child.Session)] = child // of one that runs beside the run
	c.all = append(c.all, child)
}

// Children returns the children of the run, in the order in which they began.
func (f *Fold) Children() []Child {
	out := make([]Child, len(f.now.children.all))
	for i, c := range f.now.children.all {
		out[i] = *c
	}
	return out
}

// childSums adds up the children of a session.
type childSums struct {
	Below
	ended map[string]Totals // by their sessions
	order []string
	begun map[string]bool
}

// add takes an entry. A child that ends again, as it was resumed, counts as it ended last.
func (c *childSums) add(e *echo.Entry) {
	switch e.NodeType { //nolint:exhaustive // the others are of no child
	case echo.NodeChildStart:
		if d, err := echo.Read[echo.ChildStart](e); err == nil {
			c.begin(d.Session)
		}
	case echo.NodeChildEnd:
		if d, err := echo.Read[echo.ChildEnd](e); err == nil {
			c.begin(d.Session)
			c.end(d.Session, childTotals(e, &d))
		}
	}
}

func (c *childSums) begin(session string) {
	if c.begun[session] {
		return
	}
	if c.begun == nil {
		c.begun = map[string]bool{}
	}
	c.begun[session] = true
	c.Begun++
}

func (c *childSums) end(session string, t Totals) {
	if c.ended == nil {
		c.ended = map[string]Totals{}
	}
	_, again := c.ended[session]
	c.ended[session] = t
	if !again {
		c.order = append(c.order, session)
		c.Ended++
		c.Totals = c.Totals.Plus(t)
		return
	}
	c.Totals = Totals{}
	for _, s := range c.order {
		c.Totals = c.Totals.Plus(c.ended[s])
	}
}
