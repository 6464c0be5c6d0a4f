package autocontext

import (
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// numberGroup numbers a message that is new, as [echo.Groups] does: what was brought in before the task is in none.
func numberGroup(d *draft, i int) {
	n := &d.nodes[i]
	if n.msg.Kind() == echo.KindTask {
		for j := range i {
			d.nodes[j].group = 0
		}
		d.state.group = 0
	}
	if echo.StartsGroup(n.msg) {
		d.state.group++
	}
	n.group = d.state.group
}

// placeGroups finds which groups are sent, and which one the tiers take for open. It reports whether the first changed.
func placeGroups(d *draft) bool {
	if d.settings.Groups == 0 {
		return false
	}
	m, oldest := &d.state, d.state.oldest
	m.oldest = max(m.group-d.settings.Groups+1, 1)
	m.open = groupAt(d, m.asOf)
	return m.oldest != max(oldest, 1)
}

// groupAt returns the group in which a turn begins, at least 1.
func groupAt(d *draft, turn int) int {
	switch {
	case turn < 1:
		return 1
	case turn <= len(d.turns):
		return max(d.nodes[d.turns[turn-1]].group, 1)
	}
	return max(d.state.group, 1)
}

// left leaves out the groups before the newest so many. What survives everything else survives that.
func left(_ *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	return shape{form: FormDropped, reason: ReasonGroup}, n.group > 0 && n.group < m.oldest && !m.keeps(i, n)
}
