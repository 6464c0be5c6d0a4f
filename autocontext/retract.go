package autocontext

import "github.com/windlass-run/windlass/echo"

// retract takes out what the message at an index, in which a person takes an answer back, takes back. It is in no later request,
// whatever the settings say.
func retract(d *draft, at int) {
	list := echo.Retracts(at,
		func(i int) (*echo.Message, int) { return d.nodes[i].msg, d.nodes[i].attempt },
		func(i int) bool { return d.nodes[i].gone() })
	for _, i := range list {
		n := &d.nodes[i]
		n.retracted = true
		d.resize(n, 0) // full history would not have it either
		if isToolResult(n) {
			d.same.unlink(d, i)
		}
		if d.cut < 0 || i < d.cut {
			d.cut = i
		}
		d.refresh(i)
	}
	if len(list) > 0 {
		d.state.answers[d.nodes[at].attempt] = lastAnswer(d, at)
	}
}

// gone reports whether a person has taken a message back, or out of views.
func (n *node) gone() bool { return n.retracted || n.withdrawn != echo.InView }

// reasonOf is why a message that a person has taken out of views is not sent.
func reasonOf(w echo.Withdrawn) Reason {
	switch w {
	case echo.Undone:
		return ReasonUndone
	case echo.Removed:
		return ReasonRemovedByPerson
	default:
		return ReasonDropped
	}
}

// withdraw takes the newest message, which a person has taken out of views before this build began. Whether it stands is known
// from the start: another builder is made when that changes. An attempt of which nothing stands is not under way.
func withdraw(d *draft, it echo.Item) {
	d.add(it, 0)
	d.nodes[len(d.nodes)-1].withdrawn = it.Withdrawn
	d.view.Items = append(d.view.Items, Item{Message: it.Message})
	if it.Message.Kind() == echo.KindRetract { // what it takes back stays so
		retract(d, len(d.nodes)-1)
	}
}

// lastAnswer returns the index, plus 1, of the last answer with text before a message that stands in its attempt; 0: there is none.
func lastAnswer(d *draft, at int) int {
	for i := at - 1; i >= 0 && d.nodes[i].attempt == d.nodes[at].attempt; i-- {
		if n := &d.nodes[i]; !n.gone() && n.msg.Role() == echo.RoleAssistant && n.msg.Text() != "" {
			return i + 1
		}
	}
	return 0
}

// unlink has a tool result repeat none of those before it: they are not told by one that is gone.
func (r repeats) unlink(d *draft, gone int) {
	h := d.nodes[gone].msg.Hash()
	if d.newest[h] == gone {
		delete(d.newest, h)
	}
	if r[h] == gone {
		delete(r, h)
	}
	for i := range gone {
		n := &d.nodes[i]
		if !isToolResult(n) || n.gone() || n.orphan || n.msg.Hash() != h {
			continue
		}
		d.newest[h] = i
		if n.again == max(d.nodes[gone].turn, 1) {
			n.again = 0
			r[h] = i
			d.refresh(i)
		}
	}
}
