package inspector

import (
	"net/url"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/inspect/course"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// runView is the screen of a run.
type runView struct {
	head
	Detail   *archive.Detail
	Took     course.Took
	Ran      string
	Part     string // the visit or branch that is drawn; "": the run
	By       string
	Choices  []page.Link
	Timeline *Flame
	Flame    *Flame
	Notes    []string
	Actions  []action
	Waits    []page.Link
	Children []childRow
	More     int // children that are not listed
	SQL      string
}

func run(v *visit) error {
	root := v.of.Course()
	drawn := root
	part := v.Query().Get("part")
	if part != "" {
		if drawn = find(root, part); drawn == nil {
			return page.Missing("Session %s has no part %q.", v.of.ID, part)
		}
	}
	by := measureOf(v.Query().Get("by"))
	view := runView{
		head: v.head(""), Detail: v.of.Detail, Took: drawn.Took, Part: part, By: by.Name, Ran: ran(v.of.Detail),
		Timeline: newTimeline(drawn, v.linkOf(by.Name)), Flame: newFlame(drawn, by, v.linkOf(by.Name)),
		Notes: notesOf(drawn, by), SQL: runSQL(v.of.ID),
	}
	for _, m := range measures {
		view.Choices = append(view.Choices, page.Link{Title: m.Title, Path: runPath(v.of.ID, m.Name, part)})
	}
	view.Actions, view.Waits = v.actions(), v.of.waits()
	view.Children, view.More = v.of.family()
	return v.Show("run", v.of.ID, view)
}

// ByTitle is the name of the measure of the flame.
func (v runView) ByTitle() string { return measureOf(v.By).Title }

func ran(d *archive.Detail) string {
	return quantity.Duration(time.Duration(d.RanMS * float64(time.Millisecond)))
}

// linkOf returns where a span leads: a call to what it was sent, a child to its session, and the others to themselves.
func (v *visit) linkOf(by string) func(*course.Span) string {
	return func(s *course.Span) string {
		switch {
		case !s.Call.IsZero():
			return callPath(v.of.ID, s.Call)
		case s.Child != "":
			return pathOf(s.Child)
		case s.Kind == course.Visit || s.Kind == course.Branch:
			return runPath(v.of.ID, by, s.Key.String())
		}
		return ""
	}
}

// callPath returns the address of what a call was sent.
func callPath(id string, call echo.Key) string { return below(id, "calls", call) }

// requestPath returns the address of that as JSON.
func requestPath(id string, call echo.Key) string { return below(id, "request", call) }

func below(id, screen string, call echo.Key) string {
	address := url.URL{Path: pathOf(id)}
	return address.JoinPath(screen, call.String()).String()
}

func runPath(id, by, part string) string {
	q := url.Values{}
	if by != "" && by != measures[0].Name {
		q.Set("by", by)
	}
	if part != "" {
		q.Set("part", part)
	}
	if len(q) == 0 {
		return pathOf(id)
	}
	return pathOf(id) + "?" + q.Encode()
}

// find returns the visit or branch with a key.
func find(s *course.Span, key string) *course.Span {
	for _, b := range s.Below {
		if b.Kind != course.Visit && b.Kind != course.Branch {
			continue
		}
		if b.Key.String() == key {
			return b
		}
		if found := find(b, key); found != nil {
			return found
		}
	}
	return nil
}

// notesOf says what figures lack.
func notesOf(s *course.Span, m *measure) (notes []string) {
	t := &s.Took
	if t.Unknown > 0 {
		notes = append(notes, "The cost of "+quantity.Of(t.Unknown, "model call")+" is not known; it is in no sum of money.")
	}
	if t.PriceAs != "" {
		notes = append(notes, "A script has answered, and nothing was paid: the flame shows what the calls would have cost at the prices of "+t.PriceAs+".")
	}
	if m.Name == "uncached" && t.Unpriced > 0 {
		notes = append(notes, "The price of cached tokens is not known for "+quantity.Of(t.Unpriced, "model call")+"; their whole cost counts as uncached.")
	}
	return notes
}

// live tells the script of a screen when there is more of a session, and when nothing more comes.
func (in *inspector) live(v *page.Visit) error {
	id, err := in.Archive.Find(v.Context(), v.Of("session"))
	if err != nil {
		return err
	}
	last := archive.StampOf(in.Archive, id)
	if seen := v.Query().Get("seen"); seen != stampText(last) {
		last = archive.Stamp{}
	}
	return v.Stream(func() (string, bool, error) {
		now := archive.StampOf(in.Archive, id)
		if now == last {
			return "", !now.Running, nil
		}
		last = now
		return "changed " + stampText(now), !now.Running, nil
	})
}

func stampText(s archive.Stamp) string {
	return strconv.FormatInt(s.Size, 36) + "-" + strconv.FormatInt(s.Changed.UnixNano(), 36)
}
