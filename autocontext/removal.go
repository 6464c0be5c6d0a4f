package autocontext

import (
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// removed masks the tool results in the stretch that the guard removed, whatever the settings say
// of them.
func removed(_ *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	r := m.carry.Removed
	return shape{form: FormMasked, reason: ReasonRemoved, bare: true}, r != nil && r.From <= i && i < r.To && isToolResult(n)
}

// removeByLevel removes tool results from the middle of the history outward, by the levels of the
// guard, until the request has target tokens. The beginning of a phase says what it is about and
// its end where it stands: the middle is missed least. It returns the level.
func (g *guard) removeByLevel(target int64) int {
	level := 0
	list := g.removable()
	if len(list) == 0 {
		return 0
	}
	for _, level = range g.settings.Policy.Guard.RemovalLevels {
		k := (len(list)*level + 99) / 100
		if k == 0 {
			continue
		}
		first := (len(list) - k) / 2
		g.remove(list[first], list[first+k-1]+1, level)
		if g.size() <= target {
			break
		}
	}
	return level
}

// removeOldest removes tool results from the oldest on until the request has target tokens. It
// reports whether it removed any.
func (g *guard) removeOldest(target int64) bool {
	list := g.removable()
	size := g.size()
	for at, i := range list {
		n := &g.nodes[i]
		size -= g.scaled(g.count.of(&n.cur) - g.count.of(new(g.make(i, shape{form: FormMasked, reason: ReasonRemoved, bare: true}))))
		if size <= target || at == len(list)-1 {
			g.remove(0, i+1, 100)
			return true
		}
	}
	return false
}

// remove makes a stretch of the history, together with what was removed before, one without tool
// results.
func (g *guard) remove(from, to, level int) {
	r := &echo.Removal{From: from, To: to, Level: level}
	if old := g.carry.Removed; old != nil {
		r.From, r.To, r.Level = min(from, old.From), max(to, old.To), max(level, old.Level)
	}
	g.carry.Removed = r
	g.reshape()
}

// removable lists the tool results that the guard may remove: all but those among the newest
// messages.
func (g *guard) removable() []int {
	var list []int
	end := len(g.nodes) - g.settings.Policy.Guard.KeepRecentMessages
	for i := 0; i < end; i++ {
		if n := &g.nodes[i]; isToolResult(n) && n.cur.sent != nil && !g.survives(i) {
			list = append(list, i)
		}
	}
	return list
}
