package inspector

import (
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/linediff"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// How much of what changed in a message a page has.
const (
	mostLines = 400
	around    = 3 // lines on each side of what changed
)

// comparison is how a request stands against another.
type comparison struct {
	Against, Path string
	Prefix        *inspect.Prefix
	Broken        *broken
	Gone          []goneMessage
	GoneLeft      int // that are not listed
}

// broken is where the common beginning with the other request ends.
type broken struct {
	Before   int // the position of the message in front of which it ends
	Why      string
	Messages int
	Tokens   int64
	Cost     string
}

// goneMessage is a message that the other request had and this one has not.
type goneMessage struct {
	Position         int // in the other one
	Role, Hash, Life string
	Tokens           int64
}

// sentMessage is a message of a request, or a message of the history that nothing was sent for.
type sentMessage struct {
	Position int // from 1; 0: nothing was sent
	Role     string
	Tool     string
	Form     string
	Reason   string
	Tokens   int64
	Hash     string
	Life     string // "": it is in no history
	Whole    string // address of the message alone
	said
	Change string // "": not compared
	Lines  []linediff.Line
	Broken *broken // the common beginning ends in front of it
}

// compare says what changed since another call.
func (v *visit) compare(d *inspect.Diff) *comparison {
	c := &comparison{Against: d.From.Place(), Path: callPath(v.of.ID, d.From.Key), Prefix: &d.Prefix}
	if lost := d.Break(); lost.Messages > 0 {
		c.Broken = &broken{Before: d.Prefix.Messages + 1, Why: d.Prefix.Why, Messages: lost.Messages, Tokens: lost.Tokens, Cost: "not known"}
		if t, ok := inspect.Tariffs(v.of.Entries)[d.To.Model]; ok {
			c.Broken.Cost = quantity.USD(lost.CostUSD(t, d.To.ContextSize))
		}
	}
	for i := range d.Messages {
		m := &d.Messages[i]
		if m.Change != inspect.Gone || m.From == nil {
			continue
		}
		if len(c.Gone) == mostGone {
			c.GoneLeft++
			continue
		}
		c.Gone = append(c.Gone, goneMessage{m.From.Position, string(m.Role), string(m.Hash), v.lifeOf(d.From, m.Hash), m.From.Tokens})
	}
	return c
}

// lifeOf is the address of the life of a message that a call was sent; "": a request to choose has messages of its own.
func (v *visit) lifeOf(c *inspect.Call, h echo.Hash) string {
	if c.Number == 0 {
		return ""
	}
	return lifePath(v.of.ID, h)
}

// lister shows messages of a request.
type lister struct {
	v    *visit
	view *sentView
	is   []inspect.SentForm
	from []inspect.SentForm             // of the request that it is compared with
	was  map[int]*inspect.MessageChange // by the position here
}

func (l *lister) compare(d *inspect.Diff) {
	l.from, l.is = d.Was, d.Is
	for i := range d.Messages {
		if m := &d.Messages[i]; m.To != nil && m.To.Position > 0 {
			l.was[m.To.Position] = m
		}
	}
}

// page shows the messages of one page: the last, unless the address says another.
func (l *lister) page() {
	pages := max((len(l.is)+messagesAPage-1)/messagesAPage, 1)
	at, err := strconv.Atoi(l.v.Query().Get("page"))
	if err != nil || at < 1 || at > pages {
		at = pages
	}
	if pages > 1 {
		l.view.Page = strconv.Itoa(at)
		l.view.Pages = pagesOf(at, pages, func(n int) string { return l.v.with("page", strconv.Itoa(n)) })
	}
	for i := (at - 1) * messagesAPage; i < min(at*messagesAPage, len(l.is)); i++ {
		l.view.Messages = append(l.view.Messages, l.message(&l.is[i]))
	}
}

// whole shows one message with everything that was sent for it.
func (l *lister) whole(position string) error {
	at, err := strconv.Atoi(position)
	i := slices.IndexFunc(l.is, func(f inspect.SentForm) bool { return f.Position == at })
	if err != nil || at < 1 || i < 0 {
		return page.Missing("The request has no message %q.", position)
	}
	l.view.Whole, l.view.AllPath = at, l.v.with("whole", "")
	l.view.Messages = []sentMessage{l.message(&l.is[i])}
	return nil
}

func (l *lister) message(f *inspect.SentForm) sentMessage {
	m := sentMessage{
		Position: f.Position, Role: string(f.Role), Tool: f.Tool, Form: string(f.Form), Reason: string(f.Reason), Tokens: f.Tokens,
		Hash: string(f.Hash), Life: l.v.lifeOf(l.view.Call, f.Hash), said: said{whole: l.view.Whole > 0},
	}
	if f.Position > 0 {
		m.Whole = l.v.with("whole", strconv.Itoa(f.Position))
		l.held(&m, f)
	}
	for _, s := range f.Sent {
		if l.view.Raw {
			m.addRaw(s)
		} else {
			m.add(s)
		}
	}
	return m
}

// held says how a message stands against the other request.
func (l *lister) held(m *sentMessage, f *inspect.SentForm) {
	if c := l.view.Compared; c != nil && c.Broken != nil && f.Position == c.Broken.Before {
		m.Broken = c.Broken
	}
	was := l.was[f.Position]
	if was == nil {
		return
	}
	m.Change = string(was.Change)
	if was.Change == inspect.Changed {
		m.Lines = changedLines(l.from, was.From.Position, f)
	}
}

// changedLines compares what was sent for a message with what was sent for it in another request, at a position there.
func changedLines(from []inspect.SentForm, position int, f *inspect.SentForm) []linediff.Line {
	i := slices.IndexFunc(from, func(b inspect.SentForm) bool { return b.Position == position && position > 0 })
	if i < 0 {
		return nil
	}
	lines := linediff.Around(linediff.Of(textOf(from[i].Sent), textOf(f.Sent)), around)
	for j := range lines {
		lines[j].Text = excerpt.Clip(visibleText(lines[j].Text), 1000)
	}
	if left := len(lines) - mostLines; left > 0 {
		lines = append(lines[:mostLines], linediff.Line{Op: linediff.Gap, Text: quantity.Of(left, "further line") + " of what changed are not shown"})
	}
	return lines
}

func textOf(list []*echo.Message) string {
	text := ""
	for _, m := range list {
		text += m.Text()
		for _, c := range m.ToolCalls() {
			text += "\n" + c.Name + " " + c.Arguments
		}
	}
	return text
}
