package autocontext

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// compacted leaves out what the summary in force tells.
func compacted(_ *cascade.Intra, i int, _ *node, m *state) (shape, bool) {
	s := m.carry.Summary
	return shape{form: FormSummary, reason: ReasonCompacted}, s != nil && i < s.Covers
}

// summaryShare is the percentage of a request that a summary may take, within bounds in tokens; where
// a size is set, mostSummary is the bound.
const (
	summaryShare = 10
	mostSummary  = 50
	minSummary   = 200
	maxSummary   = 4000
)

// compact has the messages before the newest keep_recent_messages summed up. It returns the ask
// until it is answered, and false when that is impossible.
func (g *guard) compact(target, most int64) (*Ask, bool) {
	if a := g.carry.Answered; a != nil && a.Summary != nil {
		g.carry.Summary = a.Summary
		g.reshape()
		return nil, true
	}
	allowance := g.allowance()
	covers := g.coverable(target, most, allowance)
	if covers == 0 { // the newest messages alone are too large
		g.cutOversize()
		if covers = g.coverable(target, most, allowance); covers == 0 {
			return nil, false
		}
	}
	return g.askSummary(covers, allowance), true
}

// allowance is how many tokens a summary may have.
func (g *guard) allowance() int64 {
	full := g.fullAt(g.limit())
	if n := g.settings.Summary.Tokens; n > 0 {
		return min(max(n, minSummary), percent(full, mostSummary))
	}
	return min(max(percent(full, summaryShare), minSummary), maxSummary)
}

// coverable returns the index before which a summary should tell everything: at the beginning of a
// turn, as near to keep_recent_messages from the end as lets the rest fit. 0: there is none.
func (g *guard) coverable(target, most, allowance int64) int {
	rest := g.settings.Fixed // what is sent in any case, and from message i on
	for i := range g.nodes {
		if g.survives(i) {
			rest += g.count.of(&g.nodes[i].cur)
		}
	}
	best, worth := 0, g.worthFrom()
	for i := len(g.nodes) - 1; i >= worth; i-- {
		if !g.survives(i) {
			rest += g.count.of(&g.nodes[i].cur)
		}
		size := g.scaled(rest) + allowance
		if size >= most || best > 0 && size > target {
			break
		}
		if !isToolResult(&g.nodes[i]) {
			best = i
		}
		if best > 0 && len(g.nodes)-i >= g.settings.Policy.Guard.KeepRecentMessages {
			break
		}
	}
	return best
}

func (d *draft) covered() int {
	if d.carry.Summary == nil {
		return 0
	}
	return d.carry.Summary.Covers
}

// worthFrom is the first index up to which a summary tells at least two messages sent now.
func (g *guard) worthFrom() int {
	n := 0
	for i := g.covered(); i < len(g.nodes); i++ {
		if g.nodes[i].cur.sent != nil && !g.survives(i) {
			n++
		}
		if n == 2 {
			return i + 1
		}
	}
	return len(g.nodes)
}

// standIn returns what is sent in place of messages that are not, at the first of them.
func (d *draft) standIn(i int, s shape) *echo.Message {
	switch {
	case s.reason == ReasonCompacted && i == d.state.summaryAt:
		return d.carry.Summary.Message
	case s.reason == ReasonSlid && i == d.state.slidAt:
		return d.note.of(d.carry.Slid)
	}
	return nil
}

// placeStandIns finds where summary and note on slid turns stand. It reports whether that changed.
func (d *draft) placeStandIns() bool {
	m := &d.state
	summaryAt, slidAt := m.summaryAt, m.slidAt
	m.summaryAt, m.slidAt = -1, -1
	if s := d.carry.Summary; s != nil {
		m.summaryAt = d.firstGone(0, min(s.Covers, len(d.nodes)))
	}
	if slid := min(d.carry.Slid, len(d.turns)); slid > 0 {
		m.slidAt = d.firstGone(max(d.covered(), d.turns[0]), d.endOf(slid))
	}
	return summaryAt != m.summaryAt || slidAt != m.slidAt
}

// firstGone returns the first message between two indices that does not survive; -1: there is none.
func (d *draft) firstGone(from, to int) int {
	for i := from; i < to; i++ {
		if n := &d.nodes[i]; !n.orphan && !n.gone() && !n.replaced && !d.survives(i) {
			return i
		}
	}
	return -1
}

func (g *guard) askRecount() *Ask {
	return &Ask{
		Kind: AskRecount, Number: g.carry.Recounts + 1,
		Messages: g.render.Render(&g.view), MaxOut: 1, count: g.counted(),
	}
}

func (g *guard) askSummary(covers int, allowance int64) *Ask {
	var told []*echo.Message
	if s := g.carry.Summary; s != nil {
		told = append(told, s.Message)
	}
	for i := g.covered(); i < covers; i++ {
		n := &g.nodes[i]
		// A request of the user survives only until the next one, so the notes tell it as well.
		request := i == g.state.latest && i != g.state.task && !n.pinned && !echo.IsSaid(n.msg)
		if n.cur.sent != nil && (request || !g.survives(i)) {
			told = append(told, n.meant())
		}
	}
	return &Ask{
		Kind: AskSummary, Number: g.carry.Summaries + 1, Messages: summaryRequest(told, int(2*g.limit())), MaxOut: int(allowance),
		covers: covers, told: told,
	}
}

// Answer returns the carry after an answered [Ask] and the summary, if any, to be recorded. One
// that failed is made by extraction.
func (b *Builder) Answer(c echo.Carry, a *Ask, ans Answer) (echo.Carry, *echo.Message) {
	got := echo.Answered{}
	if c.Answered != nil {
		got = *c.Answered
	}
	c.Answered = &got
	if a.Kind == AskRecount {
		c.Recounts, got.Counted = a.Number, a.count
		if !ans.Failed {
			got.Actual = ans.Tokens
		}
		return c, nil
	}
	text, by := strings.TrimSpace(ans.Text), "model"
	if ans.Failed || text == "" {
		text, by = extract(a.told, 3*a.MaxOut), "extraction"
	}
	m := b.summary(a, by, text)
	c.Summaries = a.Number
	got.Summary = &echo.Summary{Covers: a.covers, Hash: m.Hash(), By: by, Message: m}
	return c, m
}

const summaryHead = "[Summary of the "

// summary makes the message of a summary, cut when a model ignores its limit.
func (b *Builder) summary(a *Ask, by, text string) *echo.Message {
	for {
		m := echo.NewText(echo.RoleUser, echo.KindSummary, fmt.Sprintf(
			summaryHead+"%d messages of this conversation before this one, made by %s. The originals are kept%s.]\n\n%s",
			a.covers, by, lookupsOf(b.settings.Summary.Lookups), text))
		have, most := b.draft.scaled(b.draft.count.of(&made{sent: m, tokens: Tokens(m)})), int64(a.MaxOut)
		n := int64(utf8.RuneCountInString(text))
		if have <= most || n == 0 {
			return m
		}
		text, _ = splitRunes(text, int(min(n*most/have, n-1)))
	}
}

// lookupsOf names the tools that find what a summary does not tell.
func lookupsOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; these tools find what is not here: " + strings.Join(names, ", ")
}
