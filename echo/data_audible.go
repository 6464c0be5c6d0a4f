package echo

import (
	"errors"
	"slices"
	"time"
)

// Audible is what a person said to a phase while it ran. The message that says it to the model has the same key.
type Audible struct {
	Letter string    `json:"letter"` // its id
	Text   string    `json:"text"`
	Retry  bool      `json:"retry,omitempty"` // the newest answer is taken back
	By     string    `json:"by,omitempty"`    // who: a user of the system, the name of a token
	Via    Via       `json:"via,omitempty"`
	At     time.Time `json:"at"` // when it was said

	Problem string `json:"problem,omitempty"` // why what was said cannot be read; "": it can
	Unsaid  string `json:"unsaid,omitempty"`  // why the model is not told it; "": it is
}

func (Audible) kind() kind { return kind{NodeValue, StepAudible} }

func (a *Audible) check() error {
	if a.Problem == "" && (a.Letter == "" || a.Text == "") {
		return errors.New("it has no letter, or no text")
	}
	return nil
}

// Retracted reports of each message of a history whether a person has taken it back; nil when none was. See [Retracts].
func Retracted(history []Item) []bool {
	var gone []bool
	for at := range history {
		if history[at].Message.Kind() != KindRetract {
			continue
		}
		if gone == nil {
			gone = make([]bool, len(history))
		}
		for _, i := range Retracts(at, func(i int) (*Message, int) { return history[i].Message, history[i].Attempt }, func(i int) bool { return gone[i] }) {
			gone[i] = true
		}
	}
	return gone
}

// Retracts returns which messages of a history the one of the kind [KindRetract] at an index takes back: the newest answer of its
// attempt, unless that is gone, and what followed from it, the results of its calls and notices. What persons have said stays.
// message returns a message of the history and its attempt.
func Retracts(at int, message func(i int) (m *Message, attempt int), gone func(i int) bool) []int {
	_, attempt := message(at)
	var out []int
	for i := at - 1; i >= 0; i-- {
		m, of := message(i)
		if of != attempt || m.Role() == RoleAssistant && gone(i) { // two who say it at once mean the same answer
			break
		}
		if gone(i) || IsSaid(m) {
			continue
		}
		out = append(out, i)
		if m.Role() == RoleAssistant {
			return out
		}
	}
	return nil
}

// IsSaid reports whether a message is what a person said while the phase ran.
func IsSaid(m *Message) bool { return m.Kind() == KindAudible || m.Kind() == KindRetract }

// Present returns the messages of a history that are in views: none that a person has taken back ([Retracted]), and none that is
// withdrawn, as [Withdrawals.Mark] says. It is the history itself where all are.
func Present(history []Item) []Item {
	gone := Retracted(history)
	out := func(i int) bool { return gone != nil && gone[i] || history[i].Withdrawn != InView }
	for i := range history {
		if out(i) {
			rest := slices.Clone(history[:i])
			for ; i < len(history); i++ {
				if !out(i) {
					rest = append(rest, history[i])
				}
			}
			return slices.Clip(rest)
		}
	}
	return history
}
