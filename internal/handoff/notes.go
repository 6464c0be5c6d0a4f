package handoff

import (
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/standing"
)

// The notes that a model keeps itself, where a phase of the cascade has them. They come before all else that a handoff reads.
const (
	sourceScratchpad = "scratchpad"
	sourceBlock      = "state block"
)

// notes are what a model keeps, by its own words; each "" where there is none.
type notes struct{ scratchpad, block string }

func notesOf(p *progress) (n notes) {
	if p.cascade == nil {
		return n
	}
	for i := range p.cascade.Phases {
		on := cascade.ContinuityOf(p.cascade, &p.cascade.Phases[i])
		if on.Scratchpad {
			n.scratchpad = stateText(p, standing.Scratchpad)
		}
		if on.StateBlock {
			n.block = stateText(p, standing.StateBlock)
		}
	}
	return n
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
		g.blockers.set(sourceScratchpad, n.scratchpad)
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
