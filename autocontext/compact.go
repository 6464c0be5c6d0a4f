package autocontext

import (
	"fmt"
	"strings"
	"unicode/utf8"

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
		b.reshape()
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
	rest := b.settings.Fixed // what is sent in any case, and from message i on
	for i := range b.nodes {
		if b.survives(i, &b.moment) {
			rest += b.countMade(&b.nodes[i].cur)
		}
	}
	best, worth := 0, b.worthFrom()
	for i := len(b.nodes) - 1; i >= worth; i-- {
		if !b.survives(i, &b.moment) {
			rest += b.countMade(&b.nodes[i].cur)
		}
		size := b.scaled(rest) + allowance
		if size >= most || best > 0 && size > target {
			break
		}
		if !isToolResult(&b.nodes[i]) {
			best = i
		}
		if best > 0 && len(b.nodes)-i >= b.settings.Policy.Guard.KeepRecentMessages {
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

// worthFrom is the first index up to which a summary would tell at least two messages that are sent now.
func (b *Builder) worthFrom() int {
	n := 0
	for i := b.covered(); i < len(b.nodes); i++ {
		if b.nodes[i].cur.sent != nil && !b.survives(i, &b.moment) {
			n++
		}
		if n == 2 {
			return i + 1
		}
	}
	return len(b.nodes)
}

// standIn returns what is sent in the place of messages that are not: it stands at the first of them.
func (b *Builder) standIn(i int, s shape) *echo.Message {
	switch {
	case s.reason == ReasonCompacted && i == b.moment.told:
		return b.carry.Summary.Message
	case s.reason == ReasonSlid && i == b.moment.gone:
		if b.note == nil || b.noted != b.carry.Slid {
			b.note, b.noted = slidNote(b.carry.Slid), b.carry.Slid
		}
		return b.note
	}
	return nil
}

// placeStandIns finds where the summary and the note on turns that slid out stand: at the first message that each of them
// is for. It reports whether they stand elsewhere than before.
func (b *Builder) placeStandIns() bool {
	m := &b.moment
	told, gone := m.told, m.gone
	m.told, m.gone = -1, -1
	if s := b.carry.Summary; s != nil {
		m.told = b.firstGone(0, min(s.Covers, len(b.nodes)))
	}
	if slid := min(b.carry.Slid, len(b.turns)); slid > 0 {
		end := len(b.nodes)
		if slid < len(b.turns) {
			end = b.turns[slid]
		}
		m.gone = b.firstGone(max(b.covered(), b.turns[0]), end)
	}
	return told != m.told || gone != m.gone
}

// firstGone returns the first message between two indices that does not survive; -1: there is none.
func (b *Builder) firstGone(from, to int) int {
	for i := from; i < to; i++ {
		if !b.nodes[i].orphan && !b.survives(i, &b.moment) {
			return i
		}
	}
	return -1
}

// askRecount asks for the provider's own count of the request as it is.
func (b *Builder) askRecount() *Ask {
	return &Ask{
		Kind: AskRecount, Number: b.carry.Recounts + 1,
		Messages: b.render.Render(&b.views), MaxOut: 1, count: b.count.size(b),
	}
}

// askSummary asks for a summary of everything before covers.
func (b *Builder) askSummary(covers int, allowance int64) *Ask {
	var told []*echo.Message
	if s := b.carry.Summary; s != nil {
		told = append(told, s.Message)
	}
	for i := b.covered(); i < covers; i++ {
		n := &b.nodes[i]
		// A request of the user survives only until the next one, so the notes have to tell it as well.
		request := i == b.moment.latest && i != b.moment.task && !n.pinned
		if n.cur.sent != nil && (request || !b.survives(i, &b.moment)) {
			told = append(told, n.msg)
		}
	}
	return &Ask{
		Kind: AskSummary, Number: b.carry.Summaries + 1, Messages: summaryRequest(told, int(2*b.limit())), MaxOut: int(allowance),
		covers: covers, told: told,
	}
}

// Answer returns the carry with which to build again once an [Ask] is answered, and, for a summary, the message that is
// now in force, to be recorded. A summary that failed is made by extraction.
func (b *Builder) Answer(c echo.Carry, a *Ask, ans Answer) (echo.Carry, *echo.Message) {
	got := echo.Answered{}
	if c.Answered != nil {
		got = *c.Answered
	}
	if a.Kind == AskRecount {
		c.Recounts = a.Number
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
	m := b.summary(a, by, text)
	c.Summaries = a.Number
	got.Summary = &echo.Summary{Covers: a.covers, Hash: m.Hash(), By: by, Message: m}
	c.Answered = &got
	return c, m
}

// summaryHead begins the message of a summary.
const summaryHead = "[Summary of the "

// summary makes the message of a summary. A text that is longer than was asked for is cut: a model that ignores its limit
// must not undo what the summary is for.
func (b *Builder) summary(a *Ask, by, text string) *echo.Message {
	for {
		m := echo.NewText(echo.RoleUser, echo.KindSummary, fmt.Sprintf(
			summaryHead+"%d messages of this conversation before this one, made by %s. The originals are kept.]\n\n%s",
			a.covers, by, text))
		have, most := b.scaled(b.countMade(&made{sent: m, tokens: Tokens(m)})), int64(a.MaxOut)
		n := int64(utf8.RuneCountInString(text))
		if have <= most || n == 0 {
			return m
		}
		text, _ = splitRunes(text, int(min(n*most/have, n-1)))
	}
}
