package autocontext

import (
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// Providers refuse histories with calls without results, results without calls, ids that are
// missing or used twice, and an end in the wrong role. The history is never edited: what is
// missing is added to the view, what does not belong is left out, calls that cannot be told apart
// are written as text. An id that an earlier call has is sent as another one: see ids.go.

// noResponse is the result of a call that has none.
const noResponse = "Tool no response: the call was made, but its result is not known. Make it again if you need it."

// goOn completes a conversation that would end with the model's own words.
const goOn = "Continue."

// groupBook knows which calls wait for their results.
type groupBook struct {
	open []echo.ToolCall // calls of the newest group without a result
	at   int             // the message that made them
	last int             // the newest message of that group
	text echo.Foreign    // why the group is written as text; "": it is not
	as   renamed         // the ids that are sent for those of the group
	ids  usedIDs         // of all calls so far
	late map[string]late // calls of older groups without a result, by their ids

	ending int // the node that completes the conversation for now, plus 1; 0: none does
}

// late is a call without a result.
type late struct {
	at int     // the last message of its group
	as renamed // the ids that are sent for those of the group
}

func (g *groupBook) add(d *draft, i int) {
	g.reopen(d)
	n := &d.nodes[i]
	if n.msg.Role() == echo.RoleTool {
		g.answer(d, i)
		return
	}
	g.finish(d)
	if len(n.msg.ToolCalls()) == 0 {
		return
	}
	if g.ids == nil {
		g.ids, g.late = usedIDs{}, map[string]late{}
	}
	g.at, g.last, g.text, g.as = i, i, n.foreign, nil
	g.open = slices.Clone(n.msg.ToolCalls())
	if native := d.settings.Dialect == dialect.Native; native && g.text == "" {
		switch again := g.ids.again(g.open); {
		case incomplete(g.open) || again && !d.settings.OwnIDs:
			g.text = d.unclear()
		case again:
			g.as = g.ids.rename(g.open)
		}
	}
	if g.as == nil && (g.text == "" || !d.settings.OwnIDs) {
		g.ids.use(g.open)
	}
	n.foreign, n.as = g.text, g.as
}

// unclear is why calls are written as text whose ids or names are missing or not their own.
func (d *draft) unclear() echo.Foreign {
	if d.settings.NameText {
		return echo.Foreign(ReasonRepaired)
	}
	return echo.ForeignModel
}

func (g *groupBook) answer(d *draft, i int) {
	n := &d.nodes[i]
	id := n.msg.ToolCallID()
	if at := slices.IndexFunc(g.open, func(c echo.ToolCall) bool { return c.ID == id }); at >= 0 {
		g.open = slices.Delete(g.open, at, at+1)
		n.foreign, n.as = g.text, g.as.of(id)
		g.last = i
		g.pin(d)
		return
	}
	n.orphan = true
	l, ok := g.late[id]
	if !ok {
		return
	}
	delete(g.late, id)
	owner := &d.nodes[l.at]
	for j, m := range owner.after {
		if m.ToolCallID() == l.as.id(id) {
			owner.after = slices.Clone(owner.after)
			owner.after[j] = l.as.in(n.meant())
		}
	}
	d.refresh(l.at)
}

// pin makes the whole newest group survive with one of its messages.
func (g *groupBook) pin(d *draft) {
	if !d.nodes[g.at].pinned && !d.nodes[g.last].pinned {
		return
	}
	for i := g.at; i <= g.last; i++ {
		if n := &d.nodes[i]; !n.orphan && !n.pinned {
			n.pinned = true
			d.refresh(i)
		}
	}
}

func (g *groupBook) finish(d *draft) {
	for _, c := range g.open {
		g.late[c.ID] = late{g.last, g.as}
	}
	if len(g.open) > 0 {
		d.complete(g.last, missing(g.open, g.as))
	}
	g.open = nil
}

func (g *groupBook) settle(d *draft) {
	end := len(d.nodes) - 1
	for end >= 0 && (d.nodes[end].orphan || d.nodes[end].withdrawn != echo.InView) {
		end--
	}
	switch {
	case end < 0 || g.ending > 0:
		return
	case len(g.open) > 0:
		d.complete(g.last, missing(g.open, g.as))
		g.ending = g.last + 1
	case d.nodes[end].msg.Role() == echo.RoleAssistant:
		d.complete(end, []*echo.Message{echo.NewText(echo.RoleUser, echo.KindNotice, goOn)})
		g.ending = end + 1
	}
}

// reopen takes back what settle did.
func (g *groupBook) reopen(d *draft) {
	if g.ending > 0 {
		d.complete(g.ending-1, nil)
		g.ending = 0
	}
}

func (d *draft) complete(i int, after []*echo.Message) {
	d.nodes[i].after = after
	d.refresh(i)
}

func missing(calls []echo.ToolCall, as renamed) []*echo.Message {
	out := make([]*echo.Message, len(calls))
	for i, c := range calls {
		c.ID = as.id(c.ID)
		out[i] = echo.NewToolResult(c, echo.Text(noResponse), true)
	}
	return out
}

// isolated writes calls and results as text, for a model to which their form means nothing.
func isolated(m *echo.Message) *echo.Message {
	switch {
	case m.Role() == echo.RoleTool:
		return dialect.Prompted.Render(m)
	case len(m.ToolCalls()) > 0:
		text := m.Text()
		if words := beforeCalls(text); words == text { // else the text has the calls
			text = strings.TrimPrefix(text+"\n"+dialect.CallsAsText(m.ToolCalls()), "\n")
		}
		d := m.Derived()
		d.ToolCalls, d.Thought, d.Parts = nil, nil, echo.Text(text)
		return echo.Seal(d)
	}
	return m
}

func isolateAll(ms []*echo.Message) []*echo.Message {
	out := make([]*echo.Message, len(ms))
	for i, m := range ms {
		out[i] = isolated(m)
	}
	return out
}
