package autocontext

import "github.com/windlass-run/windlass/cascade"

// tiered cuts tool results as of the frontier: the newest recent_results to recent_limit
// characters, the next twice as many to older_limit, all before to inactive_limit.
func tiered(p *cascade.Intra, _ int, n *node, m *state) (shape, bool) {
	t := p.Truncation
	if !p.Enabled || t == nil || !isToolResult(n) || n.kept || excluded(p.ExcludeTools, n) {
		return shape{}, false
	}
	limit := t.RecentLimit
	switch newer := m.results - n.result; {
	case newer >= 3*t.RecentResults:
		limit = t.InactiveLimit
	case newer >= t.RecentResults:
		limit = t.OlderLimit
	}
	if shorter(n.msg.Text(), limit+1) {
		return shape{}, false
	}
	return shape{form: FormExcerpt, reason: ReasonTier, limit: limit}, true
}
