package continuity

import (
	"fmt"

	"github.com/windlass-run/windlass/cascade/document"
)

// Continuity says what of a conversation goes on where its messages do not: in a file of a cascade, for all phases that ask a
// model, or of one phase, whose settings come in their place, one by one.
type Continuity struct {
	Scratchpad *bool `json:"scratchpad,omitempty"`  // the session's notes, which the model keeps
	StateBlock *bool `json:"state_block,omitempty"` // the state that the model writes at the end of its answers
	Groups     *int  `json:"groups,omitempty"`      // how many of the newest groups of messages are sent; 0: all of them
	Memos      *bool `json:"memos,omitempty"`       // facts that all sessions of the project share
}

// InForce is what holds for a phase. Its zero value is what a phase without settings has.
type InForce struct {
	Scratchpad, StateBlock, Memos bool
	Groups                        int // 0: all are sent
	// Lenient is true in a session that began under rules of the engine which take any characters for a scratchpad and a state
	// block, and any state block out of an answer.
	Lenient bool
}

// HasTools reports whether a phase is offered tools for it.
func (f InForce) HasTools() bool { return f.Scratchpad || f.Memos }

// InForceFor returns what holds for a phase that asks a model, of its own settings and those of its cascade; either may be nil.
func InForceFor(own, all *Continuity) InForce {
	var f InForce
	for _, s := range []*Continuity{all, own} {
		if s == nil {
			continue
		}
		set(&f.Scratchpad, s.Scratchpad)
		set(&f.StateBlock, s.StateBlock)
		set(&f.Memos, s.Memos)
		set(&f.Groups, s.Groups)
	}
	return f
}

func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

// MaxGroups is the most that groups may be.
const MaxGroups = 1000

// CheckSettings holds settings of the place of a phase or a cascade against their rules. Misplaced says of a phase that asks no
// model what it is; "": it asks one.
func CheckSettings(of document.Place, s *Continuity, misplaced string) {
	if s != nil && of.Intact("continuity") && misplaced != "" {
		of.KeyError("continuity", document.CodeMisplacedField,
			fmt.Sprintf("\"continuity\" belongs to a phase that asks a model; %s does not", misplaced), "remove it")
	}
}
