package live

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Plain writes a line for everything of note: when a tool starts, when something has ended. The run
// and what works in its background write to it; the mutex, which is that of its children, too, guards
// everything.
type Plain struct {
	mu    *sync.Mutex
	out   io.Writer
	loads map[string]*load // of the visits and their branches that are running

	names  map[string]string // of children, by session
	prefix string            // of places: the names of the children that the run is in
}

// NewPlain returns the view of a run in lines.
func NewPlain(out io.Writer) *Plain {
	return &Plain{mu: &sync.Mutex{}, out: out, loads: map[string]*load{}, names: map[string]string{}}
}

// child returns the view of a child of the run, whose lines name it.
func (v *Plain) child(session string, of *cascade.Cascade) *Plain {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := NewPlain(v.out)
	c.mu, c.prefix = v.mu, v.prefix+cmp.Or(v.names[session], term.OneLine(of.CascadeID))+"/"
	return c
}

// Observe implements engine.Observer: only tools and retries are worth a line of their own.
func (v *Plain) Observe(ev engine.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	place := v.prefix + placeIn(ev.Key, ev.Site.Phase, ev.Site.Attempt, ev.Site.Turn)
	switch {
	case ev.Kind == engine.EventDelta && ev.Delta.Retrying != "":
		v.line("%s: %s", place, retryText(ev))
	case ev.Kind == engine.EventToolCall:
		v.line("%s: %s", place, columns(toolText(ev.Tool, ev.Arguments), "started"))
	}
}

// Close implements echo.Sink.
func (v *Plain) Close(context.Context) error { return nil }

// Resume implements [View]: it says how much the run is answered from its record.
func (v *Plain) Resume(entries []*echo.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range entries {
		v.load(e).add(e, true)
	}
	of := entries[0].CascadeID
	if v.prefix != "" {
		of = strings.TrimSuffix(v.prefix, "/")
	}
	v.line("%s: session %s is %s", of, entries[0].SessionID, resumedAfter(entries))
}

// resumedAfter says how much of a run is recorded that is resumed.
func resumedAfter(entries []*echo.Entry) string {
	t := record.Of(record.Kept(entries)).Totals()
	return fmt.Sprintf("resumed after %s, %s answered from its record", term.Plural(len(entries), "entry"), term.Plural(t.Calls-t.Failed, "model call"))
}

// load returns that of the visit or the element of a list that an entry belongs to. An element is sent
// to the model of its visit.
func (v *Plain) load(e *echo.Entry) *load {
	name, visit := e.Phase, ""
	if !e.Key.IsZero() {
		conversation := record.Conversation(e.Key)
		name, visit = conversation.String(), conversation.VisitKey().String()
	}
	l := v.loads[name]
	if l == nil {
		l = &load{}
		if of := v.loads[visit]; of != nil {
			l.window = of.window
		}
		v.loads[name] = l
	}
	return l
}

// Write implements echo.Sink.
func (v *Plain) Write(e *echo.Entry) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	place := v.prefix + placeAt(e)
	v.load(e).add(e, true)
	switch e.NodeType {
	case echo.NodeRunStart:
		if v.prefix == "" { // a child has begun in the line of its parent
			v.line("%s: session %s", e.CascadeID, e.SessionID)
		}
	case echo.NodeModelCall:
		v.modelCall(place, e)
	case echo.NodeToolCall:
		v.toolCall(place, e)
	case echo.NodeVerdict:
		v.verdict(place, e)
	case echo.NodeWarning:
		if d, err := echo.Read[echo.Warning](e); err == nil {
			v.line("%s: warning: %s", place, term.OneLine(d.Message))
		}
	case echo.NodeWait:
		if text := waitText(e); text != "" {
			v.line("%s: %s", place, text)
		}
	case echo.NodeAnswer:
		if text := answerText(e); text != "" {
			v.line("%s: %s", place, text)
		}
	case echo.NodeValue:
		if text := audibleText(e); text != "" {
			v.line("%s: %s", place, text)
		}
	case echo.NodeGuard:
		if line := guardLine(e); line != "" {
			v.line("%s: %s", place, line)
		}
	case echo.NodeInter:
		if line := selectionLine(e); line != "" {
			v.line("%s: %s", place, line)
		}
	case echo.NodeChildStart:
		if d, err := echo.Read[echo.ChildStart](e); err == nil {
			v.names[d.Session] = nameIn(&d, e.Key)
			if d.How == echo.ChildSounding {
				v.line("%s: session %s", place, d.Session)
				break
			}
			v.line("%s: begins %s, session %s", place, childName(&d), d.Session)
		}
	case echo.NodeChildEnd:
		if d, err := echo.Read[echo.ChildEnd](e); err == nil {
			v.line("%s: %s", place, childText(e, &d, cmp.Or(v.names[d.Session], d.Session)))
		}
	case echo.NodeCandidate, echo.NodeBallot, echo.NodeChoice:
		if text := soundingText(e); text != "" {
			v.line("%s: %s", place, text)
		}
	case echo.NodePhaseEnd:
		v.phaseEnd(e)
	}
	return nil
}

func (v *Plain) toolCall(place string, e *echo.Entry) {
	if e.Error != nil {
		v.line("%s: %s", place, toolFailure(e))
		return
	}
	v.line("%s: %s", place, columns(toolText(e.Tool.Name, e.Tool.Arguments), term.Millis(e.DurationMS)))
}

func (v *Plain) phaseEnd(e *echo.Entry) {
	d, err := echo.Read[echo.PhaseEnd](e)
	if err != nil {
		return
	}
	l := v.load(e)
	v.line("%s: %s", v.prefix+endPlace(e), columns(ended(d.Status, d.Reason), labelled("cached ", cachedShare(l.spent.Usage)),
		labelled("window ", l.full()), term.Millis(e.DurationMS)))
}

func (v *Plain) modelCall(place string, e *echo.Entry) {
	if e.Key.Purpose() == echo.PurposeEmbed && e.Error == nil {
		return // one for nearly every message: the sums have them
	}
	if e.Error != nil {
		v.line("%s: %s", place, modelFailure(e))
		return
	}
	var t record.Totals
	t.Add(e)
	scripted := ""
	if e.Scripted {
		scripted = " (scripted)"
	}
	v.line("%s: %smodel %s%s  %s  %s  %s", place, purposeOf(e), e.Model, scripted, Tokens(t.Usage), quantity.Cost(t.KnownUSD(), t.UnknownCosts), term.Millis(e.DurationMS))
}

func (v *Plain) verdict(place string, e *echo.Entry) {
	d, err := echo.Read[echo.Verdict](e)
	if err != nil {
		return
	}
	if !d.Valid && d.Mode == wardAdvisory { // a warning says it
		return
	}
	outcome := "passed"
	if !d.Valid {
		outcome = "did not pass: " + reasonLine(&d)
	}
	v.line("%s: %s%s %s", place, wardLabel(&d), term.Cut(term.OneLine(d.Validator), 60), outcome)
}

// reasonLine is why an answer did not pass: of what a program printed the last lines, which say so.
func reasonLine(d *echo.Verdict) string {
	if d.Validator == "output_schema" {
		return term.Cut(term.OneLine(strings.TrimSpace(d.Reason)), 160)
	}
	return lastWords(d.Reason)
}

func (v *Plain) line(format string, args ...any) {
	_, _ = fmt.Fprintln(v.out, term.Clean(fmt.Sprintf(format, args...))) // a pipe that was closed does not stop the run
}

// Quiet writes what concerns money and nothing else: that another model is asked, and that a limit
// cannot be kept. The run and what works in its background write to it, each line at once.
type Quiet struct {
	out    io.Writer
	prefix string // of places
}

// NewQuiet returns the view of a run that shows no progress.
func NewQuiet(out io.Writer) *Quiet { return &Quiet{out: out} }

// Observe implements engine.Observer.
func (v *Quiet) Observe(engine.Event) {}

// Close implements echo.Sink.
func (v *Quiet) Close(context.Context) error { return nil }

// Resume implements [View].
func (v *Quiet) Resume([]*echo.Entry) {}

// Write implements echo.Sink.
func (v *Quiet) Write(e *echo.Entry) error {
	if e.NodeType != echo.NodeWarning {
		return nil
	}
	d, err := echo.Read[echo.Warning](e)
	if err == nil && (d.Fallback != nil || ofBudget(e.Key)) {
		_, _ = fmt.Fprintf(v.out, "Warning: %s: %s\n", v.prefix+placeAt(e), term.OneLine(d.Message))
	}
	return nil
}

// ofBudget reports whether an entry is about what counts for the budget.
func ofBudget(key echo.Key) bool {
	return slices.ContainsFunc(key.Path().Effect, func(s echo.Step) bool { return s.Kind == echo.StepBackground })
}

// columns joins the parts that there are with two spaces.
func columns(parts ...string) string { return joined("  ", parts...) }

func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// labelled puts a label before a text, if there is one.
func labelled(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}
