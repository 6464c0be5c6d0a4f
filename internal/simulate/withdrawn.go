package simulate

import (
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/withheld"
)

// withdrawnBy is what a person has done to a message that a request leaves out for a reason.
var withdrawnBy = map[string]echo.Withdrawn{
	string(autocontext.ReasonUndone): echo.Undone, string(autocontext.ReasonDropped): echo.Dropped, string(autocontext.ReasonRemovedByPerson): echo.Removed,
}

// Taken is what persons had done to a message of the history of a call.
type Taken struct {
	Is      echo.Withdrawn // how they had taken it out
	Instead *echo.Message  // was to be sent in its place, as it quotes what they had taken out; nil: it was to be sent itself
}

// takenIn returns what persons had done to each message of the history of a request; nil: nothing to any. What is sent in place of
// one that is cut there is told by the values of the session; nil: there are none.
func takenIn(req *record.Request, values *withheld.Values) []Taken {
	var out []Taken
	for i := range req.Sent {
		t := Taken{Is: withdrawnBy[req.Sent[i].Reason], Instead: insteadOf(&req.Sent[i], req.History[i].Message, values)}
		if t == (Taken{}) {
			continue
		}
		if out == nil {
			out = make([]Taken, len(req.Sent))
		}
		out[i] = t
	}
	return out
}

func insteadOf(s *record.Sent, m *echo.Message, values *withheld.Values) *echo.Message {
	if s.Form != string(autocontext.FormFull) {
		return values.Quoted(m)
	}
	if !s.Full && len(s.As) > 0 && s.As[0].Text() != m.Text() {
		return s.As[0]
	}
	return nil
}

// history returns what the call of a number, from 0, was asked about: the messages before its answer, with what persons had taken
// out by then.
func (c *Conversation) history(call int, p point) []echo.Item {
	if c.Taken == nil || c.Taken[call] == nil {
		return c.Items[:p.at]
	}
	items := slices.Clone(c.Items[:p.at])
	for i, t := range c.Taken[call] {
		items[i].Withdrawn, items[i].Instead = t.Is, t.Instead
	}
	return items
}

// changes reports whether persons took messages out, or put them back, between a call and the one before it.
func (c *Conversation) changes(call int, points []point) bool {
	if c.Taken == nil || call == 0 {
		return false
	}
	was, is := c.Taken[call-1], c.Taken[call]
	for i := range points[call-1].at {
		a, b := at(was, i), at(is, i)
		if a.Is != b.Is || !same(a.Instead, b.Instead) {
			return true
		}
	}
	return false
}

func same(a, b *echo.Message) bool {
	return a == b || a != nil && b != nil && a.Hash() == b.Hash()
}

func at(list []Taken, i int) Taken {
	if i < len(list) {
		return list[i]
	}
	return Taken{}
}
