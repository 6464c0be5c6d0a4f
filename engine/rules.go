package engine

import "fmt"

// The rules of the engine are how it comes from a cascade, an input and outcomes of effects to
// entries. The header of each journal has their number, so that a session is resumed and verified
// by the rules that it was run under.
//
// A change that makes the same record lead to other entries raises Rules: other keys, another order
// within a branch, an entry more or less, other data that the engine compares, another text of a
// message, another request. A new kind of entry for something that could not be asked for before,
// an optional field that is absent without it, and other times raise nothing.
//
// Who raises Rules keeps the rules before: where the two differ a switch of this file decides, and
// OldestRules becomes the number before Rules. What is older goes.
const (
	Rules       = 1 // of sessions that begin
	OldestRules = 1 // that can still be replayed
)

// RulesError says that a session was begun under rules that this engine does not have.
type RulesError struct {
	Rules int // of the session
}

func (e *RulesError) Error() string {
	have := fmt.Sprintf("rules %d", Rules)
	if OldestRules < Rules {
		have = fmt.Sprintf("rules %d to %d", OldestRules, Rules)
	}
	try := "use the windlass that began the session, or begin it again"
	if e.Rules > Rules {
		try = "a newer windlass began the session: use that one"
	}
	return fmt.Sprintf("the session was begun under rules %d of the engine, and this windlass replays %s: %s", e.Rules, have, try)
}

// CheckRules returns a [*RulesError] when a session that was begun under these rules cannot be
// resumed or verified. It can still be read.
func CheckRules(rules int) error {
	if rules < OldestRules || rules > Rules {
		return &RulesError{Rules: rules}
	}
	return nil
}
