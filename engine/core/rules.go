package core

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/engine/withheld"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// The rules of the engine lead from a cascade, an input and outcomes of effects to entries. A
// journal's header has their number, by which its session is resumed and verified. A change that
// makes the same record lead to other entries (keys, order within a branch, compared data, texts,
// requests) raises Rules. New entries and optional fields for what could not be asked for before,
// and other times, do not. Who raises Rules keeps the rules before, by a switch in this file, and
// sets OldestRules to them.
const (
	Rules       = 7 // of sessions that begin
	OldestRules = 1 // that can still be replayed
)

// Ruleset is the number of the rules that a run follows. Each of its methods is a decision that
// differs between rules, and says since which it is made so.
type Ruleset int

// assumesWindow: a model whose window nobody knows is given one, and a warning says so; an endpoint
// on this machine is asked for its own before. Without, the window stays unknown. Since rules 2.
func (r Ruleset) assumesWindow() bool { return r >= 2 }

// ChecksEveryTurn reports whether loop_until is also asked after turns that do not end the attempt.
// Since rules 2 only where the phase says so.
func (r Ruleset) ChecksEveryTurn(c *cascade.Rules) bool {
	return r < 2 || c.Check == cascade.CheckEveryTurn
}

// CorrectsInAttempt reports whether an answer that loop_until has rejected is corrected in a further
// turn of the attempt. Since rules 2, with turns left of a max_turns that the file writes.
func (r Ruleset) CorrectsInAttempt(c *cascade.Rules, turn int) bool {
	return r >= 2 && turn < c.MaxTurns
}

// SoundHints reports whether a missing variable is told without hints that would be refused. Since
// rules 2: the text is recorded.
func (r Ruleset) SoundHints() bool { return r >= 2 }

// RefusesEmpty decides: an answer without text is asked for again once, and then fails the phase.
func (r Ruleset) RefusesEmpty() bool { return r >= 2 }

// Selects returns how phases get what they need of earlier ones; in another way since rules 2.
func (r Ruleset) Selects() phasecontext.Rules {
	if r < 2 {
		return phasecontext.Rules{}
	}
	return phasecontext.Newest()
}

// NamesText reports whether what is written as text has a form of its own in views; since rules 2.
func (r Ruleset) NamesText() bool { return r >= 2 }

// OwnIDs decides: a call whose id an earlier call of the request has is sent with an id of its own, and is no
// text. Since rules 3.
func (r Ruleset) OwnIDs() bool { return r >= 3 }

// FindsFailures decides: preserve_errors also keeps what the text of a result tells of a failure, and
// dedupe is a setting. Since rules 2.
func (r Ruleset) FindsFailures() bool { return r >= 2 }

// Dedupes decides whether dedupe is a setting. Since rules 2.
func (r Ruleset) Dedupes() bool { return r >= 2 }

// CountsCopied reports whether the budget of a fork counts what was copied, which the session that it
// comes from has paid for. Not since rules 3.
func (r Ruleset) CountsCopied() bool { return r < 3 }

// Reason returns what a model is told of the output of a command or tool that has rejected an answer.
// Since rules 3 the last lines, where it is long.
func (r Ruleset) Reason(output string) string {
	if r < 3 {
		return output
	}
	return excerpt.Verdict(output)
}

// Ending returns what an error has of the reason for which a check has failed; excerpt.Of makes it
// shorter. Since rules 3 loop_until's is the last lines.
func (r Ruleset) Ending(check, reason string) string {
	if r < 3 || !strings.HasPrefix(check, LoopUntilCheck) {
		return reason
	}
	return excerpt.End(reason)
}

// FindsVerdicts decides: a verdict is the first object of an answer that has "valid"; without one the text is the
// reason for which the validator rejects, and so is the error of a validator that fails. Since rules 4.
func (r Ruleset) FindsVerdicts() bool { return r >= 4 }

// ShowsTurn decides: a validator also sees the results of the turn's tools and the newest images. Since rules 4.
func (r Ruleset) ShowsTurn() bool { return r >= 4 }

// LabelsResults decides: routing takes the result of a phase without a model that has neither _route nor
// status as success, and a failure as error. Since rules 4.
func (r Ruleset) LabelsResults() bool { return r >= 4 }

// AsksWithImages decides: ask_human_custom is offered with images. Since rules 5.
func (r Ruleset) AsksWithImages() bool { return r >= 5 }

// NamesLookups decides: a summary of older messages names the tools that find what is not in it, and sql_query says of the view
// messages what it has. Since rules 6.
func (r Ruleset) NamesLookups() bool { return r >= 6 }

// ChecksNotes decides: a scratchpad or state block that nobody sees whole is refused, and one that an answer writes in another
// form is no part of what stands, stays in the answer, and is warned of; so is a project file of which nothing is shown.
// Since rules 7.
func (r Ruleset) ChecksNotes() bool { return r >= 7 }

// RoomAboveWhatStays decides: where what cannot be left out of requests is too large for compact_at_tokens, room is made above
// that. Since rules 7.
func (r Ruleset) RoomAboveWhatStays() bool { return r >= 7 }

// KeepsOrder decides: calls of one answer to a bank of memory and to memos run one after the other. Since rules 7.
func (r Ruleset) KeepsOrder() bool { return r >= 7 }

// KeepsValues decides: texts for models have values that come from answers which persons have taken out. Not since rules 7.
func (r Ruleset) KeepsValues() bool { return r < withheld.Rules }

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

// CheckRules returns a [*RulesError] when a session under these rules can only be read.
func CheckRules(rules int) error {
	if rules < OldestRules || rules > Rules {
		return &RulesError{Rules: rules}
	}
	return nil
}

// LoopUntilCheck is what a check is called that a validator decides, before its name.
const LoopUntilCheck = "loop_until "
