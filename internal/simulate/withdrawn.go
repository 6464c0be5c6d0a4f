package simulate

import (
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// withdrawnBy is what a person has done to a message that a request leaves out for a reason.
var withdrawnBy = map[string]echo.Withdrawn{
	string(autocontext.ReasonUndone): echo.Undone, string(autocontext.ReasonDropped): echo.Dropped, string(autocontext.ReasonRemovedByPerson): echo.Removed,
}

// withdrawnIn returns how persons had taken out each message of the history of a request; nil: none was.
func withdrawnIn(req *record.Request) []echo.Withdrawn {
	var out []echo.Withdrawn
	for i := range req.Sent {
		if is := withdrawnBy[req.Sent[i].Reason]; is != echo.InView {
			if out == nil {
				out = make([]echo.Withdrawn, len(req.Sent))
			}
			out[i] = is
		}
	}
	return out
}

// history returns what the call of a number, from 0, was asked about: the messages before its answer, with what persons had taken
// out by then.
func (c *Conversation) history(call int, p point) []echo.Item {
	if c.Withdrawn == nil || c.Withdrawn[call] == nil {
		return c.Items[:p.at]
	}
	items := slices.Clone(c.Items[:p.at])
	for i, is := range c.Withdrawn[call] {
		items[i].Withdrawn = is
	}
	return items
}

// changes reports whether persons took messages out, or put them back, between a call and the one before it.
func (c *Conversation) changes(call int, points []point) bool {
	if c.Withdrawn == nil || call == 0 {
		return false
	}
	was, is := c.Withdrawn[call-1], c.Withdrawn[call]
	for i := range points[call-1].at {
		if at(was, i) != at(is, i) {
			return true
		}
	}
	return false
}

func at(list []echo.Withdrawn, i int) echo.Withdrawn {
	if i < len(list) {
		return list[i]
	}
	return echo.InView
}
