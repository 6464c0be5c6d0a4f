package live

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// placeAt says where an entry belongs.
func placeAt(e *echo.Entry) string { return placeIn(e.Key, e.Phase, e.Attempt, e.Turn) }

// endPlace says what has ended: a phase, or an element of its list.
func endPlace(e *echo.Entry) string { return placeIn(e.Key, e.Phase, 0, 0) }

// placeIn says where in a run something is: its phase, the branches of the phase, attempt, turn.
func placeIn(key echo.Key, phase string, attempt, turn int) string {
	s := phase
	if !key.IsZero() {
		p := key.Path()
		for _, b := range p.Parts() {
			s += fmt.Sprintf(" %s %d", b.Kind, b.Number)
		}
	}
	if attempt > 1 {
		s += fmt.Sprintf(" attempt %d", attempt)
	}
	if turn > 0 {
		s += fmt.Sprintf(" turn %d", turn)
	}
	if s == "" {
		return "run"
	}
	return strings.TrimSpace(s)
}

// wardAdvisory is the mode of a ward that stops nothing.
const wardAdvisory = string(cascade.WardAdvisory)

// wardLabel says before the name of a validator which ward it stands in; "" for none.
func wardLabel(d *echo.Verdict) string {
	if d.Ward == "" {
		return ""
	}
	return fmt.Sprintf("ward %s (%s): ", d.Ward, d.Mode)
}

// nameIn is the name of a child for the places in it: with the element that it was begun for, as others
// may begin one of that name at the same time; of a candidate of the whole cascade which one it is.
func nameIn(d *echo.ChildStart, begun echo.Key) string {
	if d.How == echo.ChildSounding {
		return placeIn(begun, "", 0, 0)
	}
	p := begun.Path()
	name := term.OneLine(d.Name)
	for _, b := range p.Parts() {
		name += fmt.Sprintf(" of %s %d", b.Kind, b.Number)
	}
	return name
}

// childName names a child and how it was asked for.
func childName(d *echo.ChildStart) string {
	name := fmt.Sprintf("%s (%s", term.OneLine(d.Name), d.How)
	if d.Name != d.Cascade {
		name += ", " + term.OneLine(d.Cascade)
	}
	return name + ")"
}

// childText says how a child ended, and what it and its own children took.
func childText(e *echo.Entry, d *echo.ChildEnd, name string) string {
	t := record.ChildTotals(e)
	took := columns(Tokens(t.Usage), quantity.Cost(t.KnownUSD(), t.UnknownCosts))
	reason := ""
	if e.Error != nil {
		reason = lastWords(e.Error.Message)
	}
	if name == placeAt(e) { // a candidate of the whole cascade: the place says it
		name = ""
	}
	return joined(": ", name, columns(ended(d.Status, d.Reason), took, term.Millis(e.DurationMS)), reason)
}
