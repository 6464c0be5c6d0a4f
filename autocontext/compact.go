package autocontext

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// compacted leaves out what the summary in force tells.
func compacted(_ *cascade.Intra, i int, _ *node, m *moment) (shape, bool) {
	if s := m.carry.Summary; s != nil && i < s.Covers {
		return shape{form: FormSummary, reason: ReasonCompacted}, true
	}
	return shape{}, false
}

// summaryShare is the part of a request that a summary may take, in percent; the bounds are in tokens.
const (
	summaryShare = 10
	minSummary   = 200
	maxSummary   = 4000
)

// compact has the older messages summed up: everything before the newest keep_recent_messages that does not survive
// anyway, the summary in force included. It returns the ask until it is answered. It reports false when there is nothing
// to sum up, or when what must stay is too large already, so that a summary would not help.
func (b *Builder) compact(target, most int64) (*Ask, bool) {
	if a := b.carry.Answered; a != nil && a.Summary != nil {
		b.carry.Summary = a.Summary
		b.reshape(0)
		return nil, true
	}
	allowance := min(max(percent(b.limit(), summaryShare), minSummary), maxSummary)
	covers := b.coverable(target, most, allowance)
	if covers == 0 { // the newest messages alone are too large
		b.cutOversize(most)
		covers = b.coverable(target, most, allowance)
	}
	if covers == 0 {
		return nil, false
	}
	return b.askSummary(covers, allowance), true
}

// coverable returns the index of the history before which a summary should tell everything: as near to
// keep_recent_messages from the end as lets the rest fit, and at the beginning of a turn. 0: there is no such place.
func (b *Builder) coverable(target, most, allowance int64) int {
	keep := b.settings.Policy.Guard.KeepRecentMessages
	rest := b.scaled(b.settings.Fixed) + allowance // what is sent in any case
	for i := range b.nodes {
		if b.survives(i, &b.moment) {
			rest += b.scaled(b.countMade(&b.nodes[i].cur))
		}
	}
	best, tail := 0, int64(0) // tail: of the messages from i on
	for i := len(b.nodes) - 1; i > b.covered(); i-- {
		if !b.survives(i, &b.moment) {
			tail += b.scaled(b.countMade(&b.nodes[i].cur))
		}
		size := rest + tail
		if best > 0 && size > target || !b.coversMore(i) {
			break
		}
		if !isToolResult(&b.nodes[i]) && size < most {
			best = i
		}
		if best > 0 && len(b.nodes)-i >= keep {
			break
		}
	}
	return best
}

// covered is the index before which the summary in force tells everything.
func (b *Builder) covered() int {
	if b.carry.Summary == nil {
		return 0
	}
	return b.carry.Summary.Covers
}

// coversMore reports whether a summary up to i would tell at least two messages that are sent now.
func (b *Builder) coversMore(i int) bool {
	n := 0
	for j := b.covered(); j < i && n < 2; j++ {
		if b.nodes[j].cur.sent != nil && !b.survives(j, &b.moment) {
			n++
		}
	}
	return n >= 2
}

// standIn returns what is sent in the place of messages that are not: it stands at the first of them.
func (b *Builder) standIn(i int, s shape) *echo.Message {
	switch s.reason {
	case ReasonCompacted:
		if b.firstOf(i, func(j int) bool { return j < b.covered() }) {
			return b.carry.Summary.Message
		}
	case ReasonSlid:
		if b.firstOf(i, func(j int) bool { return b.nodes[j].turn > 0 && b.nodes[j].turn <= b.carry.Slid }) {
			if b.note == nil || b.noted != b.carry.Slid {
				b.note, b.noted = slidNote(b.carry.Slid), b.carry.Slid
			}
			return b.note
		}
	}
	return nil
}

// firstOf reports whether i is the first message that is among some and does not survive.
func (b *Builder) firstOf(i int, among func(int) bool) bool {
	for j := range b.nodes[:i] {
		if among(j) && !b.nodes[j].orphan && !b.survives(j, &b.moment) {
			return false
		}
	}
	return true
}

// askRecount asks for the provider's own count of the request as it is.
func (b *Builder) askRecount() *Ask {
	return &Ask{Kind: AskRecount, Messages: b.render.Render(&b.views), MaxOut: 1, count: b.count.size(b)}
}

// askSummary asks for a summary of everything before covers.
func (b *Builder) askSummary(covers int, allowance int64) *Ask {
	var told []*echo.Message
	if s := b.carry.Summary; s != nil {
		told = append(told, s.Message)
	}
	for i := b.covered(); i < covers; i++ {
		if n := &b.nodes[i]; n.cur.sent != nil && !b.survives(i, &b.moment) {
			told = append(told, n.msg)
		}
	}
	return &Ask{
		Kind: AskSummary, Messages: summaryRequest(told, int(2*b.limit())), MaxOut: int(allowance),
		covers: covers, told: told,
	}
}

// Answer returns the carry with which to build again once an [Ask] is answered, and, for a summary, the message that is
// now in force, to be recorded. A summary that failed is made by extraction.
func (b *Builder) Answer(c Carry, a *Ask, ans Answer) (Carry, *echo.Message) {
	got := Answered{}
	if c.Answered != nil {
		got = *c.Answered
	}
	if a.Kind == AskRecount {
		got.Counted = a.count
		if !ans.Failed {
			got.Actual = ans.Tokens
		}
		c.Answered = &got
		return c, nil
	}
	text, by := strings.TrimSpace(ans.Text), "model"
	if ans.Failed || text == "" {
		text, by = extract(a.told, 3*a.MaxOut), "extraction"
	}
	text, _ = splitRunes(text, 4*a.MaxOut) // a model that ignores its limit must not undo what the summary is for
	m := echo.NewText(echo.RoleUser, echo.KindSummary, fmt.Sprintf(
		"[Summary of the %d messages of this conversation before this one, made by %s. The originals are kept.]\n\n%s",
		a.covers, by, text))
	got.Summary = &Summary{Covers: a.covers, Hash: m.Hash(), By: by, Message: m}
	c.Answered = &got
	return c, m
}
