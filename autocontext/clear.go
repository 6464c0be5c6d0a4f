package autocontext

import "github.com/windlass-run/windlass/cascade"

// cleared masks the tool results that clear_tool_uses has cleared.
func cleared(p *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	return shape{form: FormMasked, reason: ReasonCleared}, i < m.carry.Cleared && isToolResult(n) && clearable(p, n)
}

func clearable(p *cascade.Intra, n *node) bool {
	return p.ClearToolUses != nil && !n.kept && !excluded(p.ClearToolUses.ExcludeTools, n) && !excluded(p.ExcludeTools, n)
}

// clearToolUses masks the tool results before the newest keep once the messages have
// trigger_tokens, if that frees clear_at_least_tokens: a prefix cache is not given up for little.
func (d *draft) clearToolUses() {
	c := d.settings.Policy.ClearToolUses
	if !d.settings.Policy.Enabled || c == nil || d.scaled(d.sent) < c.TriggerTokens {
		return
	}
	upto, kept := len(d.nodes), 0
	for upto > 0 && kept <= c.Keep {
		upto--
		if isToolResult(&d.nodes[upto]) {
			kept++
		}
	}
	upto++ // the result at which the count went above keep is cleared itself
	if kept <= c.Keep || upto <= d.carry.Cleared || d.freed(d.carry.Cleared, upto) < max(c.ClearAtLeastTokens, 1) {
		return
	}
	d.carry.Cleared = upto
	d.reshape()
}

// freed is what masking the tool results between two messages would free, in tokens.
func (d *draft) freed(from, to int) int64 {
	sum := int64(0)
	for i := from; i < to; i++ {
		n := &d.nodes[i]
		if !isToolResult(n) || n.cur.sent == nil || n.cur.form == FormMasked || !clearable(&d.settings.Policy, n) || d.survives(i) {
			continue
		}
		if n.cleared == 0 { // made once, not on every turn
			n.cleared = d.make(i, shape{form: FormMasked, reason: ReasonCleared}).tokens
		}
		sum += max(n.cur.tokens-n.cleared, 0)
	}
	return sum
}
