package autocontext

import "github.com/windlass-run/windlass/cascade"

// cleared masks the tool results that clear_tool_uses has cleared, all but those of its excluded tools.
func cleared(p *cascade.Intra, i int, n *node, m *moment) (shape, bool) {
	if i >= m.carry.Cleared || !isToolResult(n) || !clearable(p, n) {
		return shape{}, false
	}
	return shape{form: FormMasked, reason: ReasonCleared}, true
}

func clearable(p *cascade.Intra, n *node) bool {
	return p.ClearToolUses != nil && !n.kept && !excluded(p.ClearToolUses.ExcludeTools, n) && !excluded(p.ExcludeTools, n)
}

// clearToolUses masks the oldest tool results once the messages have trigger_tokens: all but the newest keep, when that
// frees at least clear_at_least_tokens, so that a prefix cache is not given up for little.
func (b *Builder) clearToolUses() {
	c := b.settings.Policy.ClearToolUses
	if !b.settings.Policy.Enabled || c == nil || b.scaled(b.sent) < c.TriggerTokens {
		return
	}
	upto, kept := len(b.nodes), 0
	for upto > 0 && kept <= c.Keep {
		upto--
		if isToolResult(&b.nodes[upto]) {
			kept++
		}
	}
	upto++ // the result at which the count went above keep is cleared itself
	if kept <= c.Keep || upto <= b.carry.Cleared || b.freed(b.carry.Cleared, upto) < max(c.ClearAtLeastTokens, 1) {
		return
	}
	b.carry.Cleared = upto
	b.reshape()
}

// freed is what masking the tool results between two messages would free, in tokens.
func (b *Builder) freed(from, to int) int64 {
	sum := int64(0)
	for i := from; i < to; i++ {
		n := &b.nodes[i]
		if !isToolResult(n) || n.cur.sent == nil || n.cur.form == FormMasked || !clearable(&b.settings.Policy, n) || b.survives(i, &b.moment) {
			continue
		}
		if n.cleared == 0 { // made once: looking at it again on every turn would cost as much as the history is long
			n.cleared = b.make(i, shape{form: FormMasked, reason: ReasonCleared}).tokens
		}
		sum += max(n.cur.tokens-n.cleared, 0)
	}
	return sum
}
