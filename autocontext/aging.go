package autocontext

import (
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// errorLimit is the length to which an old failure is cut, in characters.
const errorLimit = 800

// aged is the sliding window as of the frontier: tool results are masked, failures excerpted, long
// arguments and answers cut. What was selected of earlier phases is left alone: it matters.
func aged(p *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	if n.kept {
		return shape{}, false
	}
	switch n.msg.Role() {
	case echo.RoleTool:
		return agedResult(p, i, n, m)
	case echo.RoleAssistant:
		return agedAnswer(p, n, m.asOf-n.turn)
	}
	return shape{}, false
}

func agedResult(p *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	switch {
	case m.asOf-n.turn <= p.MaskAfter:
		return shape{}, false
	case spared(p, n) != "":
		return shape{}, false
	case p.PreserveErrors && n.failed(m.inText):
		limit := errorLimit
		if t, ok := tiered(p, i, n, m); ok { // what its tier has cut shorter does not grow again
			limit = min(limit, t.limit)
		}
		return shape{form: FormExcerpt, reason: ReasonError, limit: limit}, true
	}
	return shape{form: FormMasked, reason: ReasonAged}, true
}

// repeated masks a tool result when a later one has its content, as of the frontier. One that was
// old enough to be masked when that came stays as it is: another placeholder would save nothing.
func repeated(p *cascade.Intra, _ int, n *node, m *state) (shape, bool) {
	if !p.Dedupe || n.again == 0 || n.again >= m.asOf || n.again-n.turn > p.MaskAfter || n.kept || spared(p, n) != "" {
		return shape{}, false
	}
	return shape{form: FormMasked, reason: ReasonDuplicate}, true
}

func spared(p *cascade.Intra, n *node) Reason {
	switch {
	case excluded(p.ExcludeTools, n):
		return ReasonExcluded
	case shorter(n.msg.Text(), p.MinMaskedSize) && !hasImages(n.msg):
		return ReasonSmall
	}
	return ""
}

// stayed says of an old tool result that no other pass has shortened why it is sent as it is.
func stayed(p *cascade.Intra, _ int, n *node, m *state) (shape, bool) {
	if !isToolResult(n) || m.asOf-n.turn <= p.MaskAfter {
		return shape{}, false
	}
	why := spared(p, n)
	return full(why), why != ""
}

func agedAnswer(p *cascade.Intra, n *node, age int) (shape, bool) {
	limit := p.ReasoningLimit
	if !p.PreserveReasoning {
		limit = -1
	}
	switch {
	case age <= p.Window:
		return shape{}, false
	case len(n.msg.ToolCalls()) > 0:
		return shape{form: FormStub, reason: ReasonAged, limit: limit}, true
	case limit < 0:
		return shape{form: FormMasked, reason: ReasonAged}, true
	}
	return shape{form: FormExcerpt, reason: ReasonAged, limit: limit}, true
}

func shorter(s string, n int) bool {
	return len(s) < n || len(s) < 4*n && utf8.RuneCountInString(s) < n
}

func hasImages(m *echo.Message) bool { return imagesIn(m) > 0 }

// tiered cuts tool results as of the frontier: the newest recent_results to recent_limit
// characters, the next twice as many to older_limit, all before to inactive_limit. Where groups
// are on, older_limit is for all others of the open group, inactive_limit for those of closed ones.
func tiered(p *cascade.Intra, _ int, n *node, m *state) (shape, bool) {
	t := p.Truncation
	if !p.Enabled || t == nil || !isToolResult(n) || n.kept || excluded(p.ExcludeTools, n) {
		return shape{}, false
	}
	limit := t.RecentLimit
	switch newer := m.results - n.result; {
	case n.group < m.open:
		limit = t.InactiveLimit
	case m.open > 0 && newer >= t.RecentResults:
		limit = t.OlderLimit
	case m.open > 0:
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

// retried compresses attempts that did not pass: the last loop_history_limit keep their answer,
// cut to loop_output_limit, and the words that turned it down; those before keep nothing.
func retried(p *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	if !p.Enabled || !p.CompressLoops || n.attempt < 1 || n.attempt == m.attempt {
		return shape{}, false
	}
	oldest := m.attempt - p.LoopHistoryLimit // the first attempt whose answer is shown
	switch {
	case n.msg.Kind() == echo.KindRetry && n.attempt > max(oldest, 1):
		return shape{}, false // it says why the answer before it did not pass
	case n.attempt >= oldest && m.answers[n.attempt] == i+1:
		return shape{form: FormExcerpt, reason: ReasonRetry, limit: p.LoopOutputLimit}, true
	}
	return shape{form: FormDropped, reason: ReasonRetry}, true
}

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
