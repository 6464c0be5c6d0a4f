package cascade

import "iter"

// EachPhase returns every phase of the cascade, those that stand in an on_error after the one that
// has it.
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

// Has reports whether the cascade has a phase of this name.
func (c *Cascade) Has(phase string) bool {
	for p := range c.EachPhase() {
		if p.Name == phase {
			return true
		}
	}
	return false
}
