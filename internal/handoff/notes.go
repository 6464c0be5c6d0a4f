package handoff

import (
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/standing"
)

// The notes that a model keeps itself, where a phase of the cascade has them. They come before all else that a handoff reads.
const (
	sourceScratchpad = "scratchpad"
	sourceBlock      = "state block"
)

// ownLine is a section of a scratchpad that has its text on the line of its name, as "Last action: ran the tests".
var ownLine = regexp.MustCompile(`(?im)^[ \t]{0,3}(?:[-*+][ \t]+|#{1,6}[ \t]+)?[*_]{0,2}(current understanding|current plan|key decisions?|decisions?|blockers?|last action)[*_]{0,2}:[*_]{0,2}[ \t]+(\S.*)$`)

// notes are what a model keeps, by its own words; each "" where there is none.
type notes struct {
	scratchpad, block string
	keeps             map[string]bool // the values of the state that some phase of the cascade has as notes
}

func notesOf(p *progress) notes {
	n := notes{keeps: map[string]bool{}}
	if p.cascade == nil {
		return n
	}
	for i := range p.cascade.Phases {
		on := cascade.ContinuityOf(p.cascade, &p.cascade.Phases[i])
		n.keeps[standing.Scratchpad] = n.keeps[standing.Scratchpad] || on.Scratchpad
		n.keeps[standing.StateBlock] = n.keeps[standing.StateBlock] || on.StateBlock
	}
	withdrawn := record.Withdrawn(p.record)
	text := func(name string) string {
		if !n.keeps[name] {
			return ""
		}
		is := stateText(p, name)
		if len(withdrawn) == 0 {
			return is
		}
		if all := valuesOf(p, nil)[name]; strings.TrimSpace(all) == is { // no run has taken yet what persons have taken out
			return strings.TrimSpace(valuesOf(p, withdrawn)[name])
		}
		return is
	}
	n.scratchpad, n.block = text(standing.Scratchpad), text(standing.StateBlock)
	return n
}

// valuesOf returns the notes that follow from the messages of the record, but for some.
func valuesOf(p *progress, without map[*echo.Entry]bool) standing.Values {
	values := standing.Values{}
	for _, v := range p.visits {
		at := slices.IndexFunc(p.cascade.Phases, func(of cascade.Phase) bool { return of.Name == v.Phase })
		if at < 0 {
			continue
		}
		told := slices.Clone(p.record.History(v.Key))
		for _, b := range p.record.Branches(v.Key) {
			if !isTry(&b) {
				told = append(told, p.record.History(b.Key)...)
			}
		}
		gone := retracted(told)
		var items []echo.Item
		for _, e := range told {
			if !without[e] && !gone[e] && record.IsOwn(e) {
				items = append(items, echo.Item{Message: e.Message})
			}
		}
		values.Follow(cascade.ContinuityOf(p.cascade, &p.cascade.Phases[at]), items)
	}
	return values
}

func stateText(p *progress, name string) string {
	if value := p.record.State(name); value != nil {
		return strings.TrimSpace(echo.AsText(value))
	}
	return ""
}

// read takes what the notes say, before what else is read. Their checklist is as they have it, whatever another one says.
func (n notes) read(g *gathered) {
	if n.scratchpad != "" {
		g.progress.Notes = append(g.progress.Notes, sourceScratchpad)
		g.blockers.set(sourceScratchpad, ownLine.ReplaceAllString(n.scratchpad, "$1:\n$2"))
		if len(checklistIn(n.scratchpad)) > 0 {
			g.lists.set(sourceScratchpad, n.scratchpad)
			g.lists.last = sourceScratchpad
		}
	}
	if n.block != "" {
		g.progress.Notes = append(g.progress.Notes, sourceBlock)
	}
}

// readBlock takes the parts of the state block. What comes next is the first of what remains, and what it says else comes last,
// where the least is left out.
func (n notes) readBlock(g *gathered) {
	for _, part := range standing.Parts(n.block) {
		item := echo.HandoffItem{Source: sourceBlock, Text: part.Text}
		switch part.Label {
		case standing.Resolved:
			g.done = append(g.done, item)
		case standing.Next:
			g.remaining = slices.Insert(g.remaining, 0, item)
		default:
			item.Text = part.Label + ": " + part.Text
			g.decisions = append(g.decisions, item)
		}
	}
}
