package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// gatherTree adds what runs beside the visit that the handoff is of, or in it: other phases of a graph,
// elements that failed, and children.
func (p *progress) gatherTree(g *gathered) {
	for i := range p.visits {
		v := &p.visits[i]
		if !p.isBeside(i) {
			continue
		}
		g.remaining = append(g.remaining, echo.HandoffItem{Source: sourcePhase + v.Phase, Text: stands(v.Status) + p.elements(v) + p.triesOf(v)})
		if v.Error != "" {
			g.blocking = append(g.blocking, echo.HandoffItem{Source: sourcePhase + v.Phase, Text: v.Error})
		}
	}
	if newest := p.newest(); newest != nil && !newest.Status.IsSuccess() {
		g.blocking = append(g.blocking, p.failedElements(newest)...)
	}
	for _, c := range p.record.Children() {
		name := childName(&c)
		switch {
		case c.End == nil:
			g.remaining = append(g.remaining, echo.HandoffItem{Source: sourceChild + name, Text: "is under way, in session " + c.Session})
		case c.How == echo.ChildSounding && c.End.Status.IsSuccess() && p.isOpen(echo.RunKey(), tryPlace(c.Key.Branch())):
			g.remaining = append(g.remaining, echo.HandoffItem{Source: sourceChild + name, Text: "has ended, in session " + c.Session + ": it waits for the choice"})
		case c.How == echo.ChildSounding && p.status != echo.StatusFailed: // it is out of the choice
		case c.End.Status == echo.StatusFailed && !p.isOver(c.Key.VisitKey()):
			g.blocking = append(g.blocking, echo.HandoffItem{Source: sourceChild + name, Text: cmp.Or(c.Error, "failed") + " (session " + c.Session + ")"})
		}
	}
}

// isBeside reports whether a visit is that of a phase of a graph that has not ended well, while the
// handoff is of another one.
func (p *progress) isBeside(i int) bool {
	v := &p.visits[i]
	return i != p.at && v.Node > 0 && !v.Status.IsSuccess() && !slices.ContainsFunc(p.visits[i+1:], func(later record.Visit) bool { return later.Phase == v.Phase })
}

// isOver reports whether a visit has ended well.
func (p *progress) isOver(visit echo.Key) bool {
	i := slices.IndexFunc(p.visits, func(v record.Visit) bool { return v.Key == visit })
	return i >= 0 && p.visits[i].Status.IsSuccess()
}

// elements says how far the list of a visit has come; "" for a visit without one.
func (p *progress) elements(v *record.Visit) string {
	done, failed, all := 0, 0, 0
	for _, b := range p.record.Branches(v.Key) {
		if b.Step.Kind != echo.StepItem || b.Key.ParentBranch() != v.Key.Branch() {
			continue
		}
		all++
		switch {
		case b.Status.IsSuccess():
			done++
		case b.Status == echo.StatusFailed:
			failed++
		}
	}
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf(": %d of %d elements done", done, all)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

// failedElements returns why elements of a visit's list failed.
func (p *progress) failedElements(v *record.Visit) []echo.HandoffItem {
	var out []echo.HandoffItem
	for _, b := range p.record.Branches(v.Key) {
		if b.Status == echo.StatusFailed && b.Error != "" && (!isTry(&b) || v.Status == echo.StatusFailed) {
			source := fmt.Sprintf("%s%s %s %d", sourcePhase, v.Phase, b.Step.Kind, b.Step.Number)
			out = append(out, echo.HandoffItem{Source: source, Text: b.Error})
		}
	}
	return out
}

// waiting returns the phases of a graph that have not begun, with what they wait for.
func (p *progress) waiting() []echo.HandoffItem {
	begun, well := map[string]bool{}, map[string]bool{}
	for i := range p.visits {
		v := &p.visits[i]
		begun[v.Phase] = true
		well[v.Phase] = well[v.Phase] || v.Status.IsSuccess()
	}
	var out []echo.HandoffItem
	for i := range p.cascade.Phases {
		phase := &p.cascade.Phases[i]
		if begun[phase.Name] {
			continue
		}
		text := "has not begun"
		if open := slices.DeleteFunc(slices.Clone(phase.After), func(name string) bool { return well[name] }); len(open) > 0 {
			text += ", comes after " + strings.Join(open, ", ")
		}
		out = append(out, echo.HandoffItem{Source: sourcePhase + phase.Name, Text: text})
	}
	return out
}
