package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/term"
)

// family are the children of a run, by the phases that began them. Its run's mutex guards it.
type family struct {
	children []*child
	contest  contest              // of the whole cascade
	inner    map[string]*Progress // by session, of those that can be followed
}

// child is another cascade that a run has begun.
type child struct {
	echo.ChildStart
	name   string   // with the element that it was begun for
	at     echo.Key // of the line of the phase
	since  time.Time
	status echo.Status
	totals record.Totals // of it and of its own, once it has ended
}

// add takes an entry.
func (f *family) add(e *echo.Entry, now time.Time) {
	switch e.NodeType {
	case echo.NodeChildStart:
		if d, err := echo.Read[echo.ChildStart](e); err == nil && f.find(d.Session) == nil {
			f.children = append(f.children, &child{ChildStart: d, name: nameIn(&d, e.Key), at: e.Key.VisitKey(), since: now, status: echo.StatusRunning})
		}
	case echo.NodeChildEnd:
		d, err := echo.Read[echo.ChildEnd](e)
		if c := f.find(d.Session); err == nil && c != nil {
			c.status = d.Status
			c.totals = record.ChildTotals(e)
		}
	}
}

func (f *family) find(session string) *child {
	at := slices.IndexFunc(f.children, func(c *child) bool { return c.Session == session })
	if at < 0 {
		return nil
	}
	return f.children[at]
}

// totals sums up what all children took, and theirs.
func (f *family) totals() record.Totals {
	var sum record.Totals
	for _, c := range f.children {
		t := c.totals
		if inner := f.inner[c.Session]; inner != nil && c.status == echo.StatusRunning {
			t = inner.withChildren()
		}
		sum = sum.Plus(t)
	}
	return sum
}

// runs reports whether a child runs that the phase of a line has begun.
func (f *family) runs(at echo.Key) bool {
	return slices.ContainsFunc(f.children, func(c *child) bool { return c.at == at && f.running(c) })
}

// running reports whether a child runs. Its own end comes before the one that its parent records, which may
// wait for it later.
func (f *family) running(c *child) bool {
	inner := f.inner[c.Session]
	if inner == nil || c.status != echo.StatusRunning {
		return c.status == echo.StatusRunning
	}
	inner.mu.Lock()
	defer inner.mu.Unlock()
	return !inner.ended
}

// lines shows the children of the phase of a line that run, and below each its own, in at most so many lines.
func (f *family) lines(at echo.Key, now time.Time, most, width int) []string {
	var all []string
	f.each(at, now, width, "", &all)
	return capped(most, len(all), func(i int) string { return all[i] })
}

func (f *family) each(at echo.Key, now time.Time, width int, indent string, out *[]string) {
	for _, c := range f.children {
		if !f.running(c) || !at.IsZero() && c.at != at {
			continue
		}
		name := indent + "↳ " + c.name
		if c.Name != c.Cascade {
			name += " (" + term.OneLine(c.Cascade) + ")"
		}
		inner := f.inner[c.Session]
		if inner == nil {
			*out = append(*out, clocked(whole(now.Sub(c.since)), name))
			continue
		}
		inner.mu.Lock()
		*out = append(*out, clocked(whole(now.Sub(c.since)), columns(name, inner.brief(width))))
		inner.family.each(echo.Key{}, now, width, indent+"  ", out)
		inner.mu.Unlock()
	}
}

// withChildren returns what the run and all below it took.
func (p *Progress) withChildren() record.Totals {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total.Plus(p.family.totals())
}

// brief says in a line what the run does.
func (p *Progress) brief(width int) string {
	var parts []string
	for i := range p.phases {
		ph := &p.phases[i]
		if ph.status != echo.StatusRunning {
			continue
		}
		turn := ""
		if ph.turn > 0 && ph.strands.total == 0 {
			turn = fmt.Sprintf(" turn %d", ph.turn)
		}
		parts = append(parts, columns(ph.name+turn, ph.strands.sum(), ph.doing.line(width)))
	}
	return strings.Join(parts, ", ")
}

// Child returns the state of a run that this one has begun. What it says stays above the frame, too.
func (p *Progress) Child(session string, of *cascade.Cascade) *Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	inner := NewProgress(of.CascadeID, session, phaseNames(of), p.now)
	inner.prefix = p.prefix + inner.cascade + "/"
	if c := p.family.find(session); c != nil {
		inner.prefix = p.prefix + c.name + "/"
	}
	if p.family.inner == nil {
		p.family.inner = map[string]*Progress{}
	}
	p.family.inner[session] = inner
	return inner
}
