package autocontext

import (
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// removed masks the tool results in the stretch that the guard removed, whatever the settings say
// of them.
func removed(_ *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	r := m.carry.Removed
	if r == nil || i < r.From || i >= r.To || !isToolResult(n) {
		return shape{}, false
	}
	return shape{form: FormMasked, reason: ReasonRemoved, bare: true}, true
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
	for _, level = range g.d.settings.Policy.Guard.RemovalLevels {
		k := (len(list)*level + 99) / 100
		if k == 0 {
			continue
		}
		first := (len(list) - k) / 2
		g.remove(list[first], list[first+k-1]+1, level)
		if g.d.size() <= target {
			break
		}
	}
	return level
}

// removeOldest removes tool results from the oldest on until the request has target tokens. It
// reports whether it removed any.
func (g *guard) removeOldest(target int64) bool {
	d := g.d
	list := g.removable()
	size := d.size()
	for at, i := range list {
		n := &d.nodes[i]
		size -= d.scaled(d.count.of(&n.cur) - d.count.of(ref(d.make(i, shape{form: FormMasked, reason: ReasonRemoved, bare: true}))))
		if size <= target || at == len(list)-1 {
			g.remove(0, i+1, 100)
			return true
		}
	}
	return false
}

func ref[T any](v T) *T { return &v }

// remove makes a stretch of the history, together with what was removed before, one without tool
// results.
func (g *guard) remove(from, to, level int) {
	r := &echo.Removal{From: from, To: to, Level: level}
	if old := g.d.carry.Removed; old != nil {
		r.From, r.To, r.Level = min(from, old.From), max(to, old.To), max(level, old.Level)
	}
	g.d.carry.Removed = r
	g.d.reshape()
}

// removable lists the tool results that the guard may remove: all but those among the newest
// messages.
func (g *guard) removable() []int {
	d := g.d
	var list []int
	end := len(d.nodes) - d.settings.Policy.Guard.KeepRecentMessages
	for i := 0; i < end; i++ {
		if n := &d.nodes[i]; isToolResult(n) && n.cur.sent != nil && !d.survives(i) {
			list = append(list, i)
		}
	}
	return list
}
