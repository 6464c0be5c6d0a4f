package autocontext

import (
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// shape is a form with its reason and, for the forms that cut, the limit in characters.
type shape struct {
	form   Form
	reason Reason
	limit  int
	bare   bool // masked without the names of what was in it
}

func full(r Reason) shape { return shape{form: FormFull, reason: r} }

type node struct {
	msg     *echo.Message
	attempt int
	turn    int // of the visit, over all attempts, from 1; 0 before the first
	group   int // from 1; 0 before the first
	result  int // for a tool result: its ordinal in the history, from 1
	pinned  bool
	foreign echo.Foreign
	kept    bool
	size    int64 // tokens of the message as it is

	was  made  // what the call before was sent for it
	cur  made  // what is sent for it
	next made  // what would be sent for it if the frontier moved to the coming turn
	gain int64 // tokens that this would save

	foundOut
	grouped
}

// grouped is what follows for a message from the calls and results it stands among.
type grouped struct {
	as      renamed         // ids of calls that are sent as others
	own     *echo.Message   // the message with these; nil: it is sent with its own
	instead *echo.Message   // is sent as the message quotes or shows what a person has taken out; nil: it does not
	orphan  bool            // a tool result without its call: never sent
	after   []*echo.Message // results that its group lacks, after the last message of the group
}

// foundOut is what was found out of a message later.
type foundOut struct {
	retracted bool           // a person has taken it back: never sent again
	withdrawn echo.Withdrawn // how a person has taken it out of views
	replaced  bool           // a newer message stands in its place: never sent again
	cleared   int64          // tokens of it when clear_tool_uses has cleared it; 0: not known yet
	again     int            // the turn of the next result with the same content; 0: there is none
	tells     tells          // of a failure in its text
}

// state is all that decides a message's form besides it and the settings. The aging passes use
// only asOf, so views differ only when that moved, an attempt began, or the guard acted.
type state struct {
	asOf    int  // the turn as of which ages are taken
	attempt int  // the attempt under way
	latest  int  // index of the latest request of the user
	task    int  // index of the task
	inText  bool // results that tell of a failure are failures
	results int  // tool results in turns before asOf
	group   int  // the newest group
	open    int  // the group that was open at asOf, where tiers go by groups; 0: they do not
	oldest  int  // the oldest group that is sent; 0: all are

	summaryAt int // the message in whose place the summary in force is sent; -1: none
	slidAt    int // the message in whose place the note on turns that slid out is sent; -1: none

	answers map[int]int // index of the last answer of each attempt, plus 1
	carry   *echo.Carry
}

func (m *state) read(i int, it echo.Item) {
	m.attempt = max(m.attempt, it.Attempt)
	switch kind := it.Message.Kind(); it.Message.Role() {
	case echo.RoleAssistant:
		if it.Message.Text() != "" {
			m.answers[it.Attempt] = i + 1
		}
	case echo.RoleUser:
		// Messages from another phase may hold that phase's task: the own task comes after them.
		if kind.Stands() {
			return
		}
		if kind == echo.KindTask || m.task < 0 && kind != echo.KindContext {
			m.task = i
		}
		if kind != echo.KindNotice && kind != echo.KindContext {
			m.latest = i
		}
	}
}

// pass is one technique: a pure function of what becomes of one message, if it has a say.
type pass func(p *cascade.Intra, i int, n *node, m *state) (shape, bool)

// order is the order of the passes, of which the first with a say decides: what takes a message
// out comes before what shortens it, what the guard had to do before what the settings want.
var order = [...]pass{
	compacted, // the summary in force tells it
	slid,      // a token_budget left its turn out
	left,      // its group has left the window of groups
	retried,   // it belongs to an attempt that did not pass
	removed,   // the guard removed it, from the middle outward
	cleared,   // clear_tool_uses
	repeated,  // a later tool result has its content, as of the frontier
	oversize,  // alone it would not have fitted
	aged,      // it is older than the window, as of the frontier
	tiered,    // it is longer than its tier allows, as of the frontier
	stayed,    // it is old, and stays all the same
}

func (d *draft) shapeOf(i int, m *state) shape {
	n := &d.nodes[i]
	if n.orphan {
		return shape{form: FormDropped, reason: ReasonRepaired}
	}
	switch {
	case n.retracted:
		return shape{form: FormDropped, reason: ReasonRetracted}
	case n.withdrawn != echo.InView:
		return shape{form: FormDropped, reason: reasonOf(n.withdrawn)}
	}
	if n.replaced {
		return shape{form: FormDropped, reason: ReasonSuperseded}
	}
	if n.msg.Kind().Stands() {
		return full(ReasonStands)
	}
	p := &d.settings.Policy
	resting := !p.Enabled && m.asOf == 0 // the guard moves the frontier before it does anything else
	if d.survives(i) && !resting {
		return full(ReasonKept)
	}
	for _, pass := range order {
		if s, ok := pass(p, i, n, m); ok {
			return s
		}
	}
	switch {
	case n.isForeign():
		return full(Reason(n.foreign))
	case resting && d.settings.SwitchedOff:
		return full(ReasonSwitchedOff)
	case resting:
		return full(ReasonNoPolicy)
	case n.kept:
		return full(ReasonKept)
	}
	return full(ReasonRecent)
}

// survives reports whether a message is sent in full whatever happens, as a pinned group is.
func (d *draft) survives(i int) bool { return d.state.keeps(i, &d.nodes[i]) }

func (m *state) keeps(i int, n *node) bool {
	return n.msg.Role() == echo.RoleSystem || i == m.task || i == m.latest || n.pinned || echo.IsSaid(n.msg) || n.msg.Kind().Stands() && !n.replaced
}

// isForeign reports whether the message has calls or results that are written as text.
func (n *node) isForeign() bool {
	return n.foreign != "" && (n.msg.Role() == echo.RoleTool || len(n.msg.ToolCalls()) > 0)
}

func isToolResult(n *node) bool { return n.msg.Role() == echo.RoleTool }

// excluded reports whether a message is the result of a tool that is never masked: one that is named, or one of memory,
// which the model has just looked up.
func excluded(names []string, n *node) bool {
	return cascade.IsMemoryTool(n.msg.Tool()) || slices.Contains(names, n.msg.Tool())
}
