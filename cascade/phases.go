package cascade

import (
	"iter"
	"maps"
	"slices"
)

// EachPhase returns every phase, those that stand in an on_error after the one that has it.
func (c *Cascade) EachPhase() iter.Seq[*Phase] {
	return func(yield func(*Phase) bool) {
		for i := range c.Phases {
			for p := &c.Phases[i]; p != nil; p = p.inline() {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// inline returns the phase written in place under on_error, or nil.
func (p *Phase) inline() *Phase {
	if p.OnError == nil {
		return nil
	}
	return p.OnError.Inline
}

func (c *Cascade) any(is func(*Phase) bool) bool {
	for p := range c.EachPhase() {
		if is(p) {
			return true
		}
	}
	return false
}

// Has reports whether the cascade has a phase of this name.
func (c *Cascade) Has(phase string) bool {
	return c.any(func(p *Phase) bool { return p.Name == phase })
}

// FileOrder reports whether phases run in the order of the file: none has hand-offs or routing. In
// any other cascade a phase without them ends the run.
func (c *Cascade) FileOrder() bool {
	return !c.any(func(p *Phase) bool { return len(p.routes()) > 0 })
}

// UsesCards reports whether a phase selects messages or offers its model a search of them.
func (c *Cascade) UsesCards() bool {
	return c.any(func(p *Phase) bool { return slices.Contains(p.Tackle, searchTool) || c.EffectiveInter(p).Enabled })
}

func (p *Phase) routes() []string {
	names := slices.Collect(maps.Values(p.Routing))
	for _, h := range p.Handoffs {
		names = append(names, h.Target)
	}
	return names
}
