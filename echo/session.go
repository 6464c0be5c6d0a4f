package echo

import (
	"encoding/json"
	"maps"
	"slices"
)

// Item is one message of a phase's history, with the place where it entered.
type Item struct {
	Message *Message
	Attempt int
	Turn    int     // 0 before the first turn of an attempt
	Pinned  bool    // always sent in full, as callouts are
	Foreign Foreign // why its calls and results are sent as text; "": they are not
	Kept    bool    // brought in by a selection: its age does nothing to it, only the guard does
	Reduced bool    // the last request of its phase did not have the whole of it
	Element int     // of a list, from 1, whose message it is; 0: it is that of none
	Order   int     // its running number in the session, from 1; 0: it was brought in from another phase
	Origin  *Spot   // of what was brought in: the message that it shows; nil: that is not known

	Instead   *Message  // is sent in its place, as it quotes what a person has taken out; nil: it is sent itself
	Withdrawn Withdrawn // how a person has taken it out of views, see [Withdrawals.Mark]
}

// Foreign says why calls and results of an earlier phase are sent to a model as text.
type Foreign string

// The reasons.
const (
	ForeignModel   Foreign = "other_model"   // its provider refuses the calls of the model that made them
	ForeignDialect Foreign = "other_dialect" // it calls tools in its text, or the model that made them did
	ForeignNoTools Foreign = "no_tools"      // its requests declare no tools
)

// PhaseRecord is what a session knows of one visit to a phase. Its history only ever grows.
type PhaseRecord struct {
	Name      string
	Visit     int      // from 1
	Element   int      // of a list, from 1, that it is the visit of; 0: it is the whole visit
	Model     string   // that it was run with; empty for a deterministic phase
	Before    []string // models that it asked before Model, which could not be reached any more
	Prompted  bool     // tools were called in the prompt, not by the provider's protocol
	History   []Item
	Output    any      // a string, or the parsed value of a structured answer; nil until the phase has ended
	StateKeys []string // state that the phase set, in order, each once
	Done      bool     // the phase ended well
}

// ForgetThoughts drops what models reasoned: no other model and no other phase is sent it.
func (p *PhaseRecord) ForgetThoughts() {
	for i := range p.History {
		p.History[i].Message = WithThought(p.History[i].Message, nil)
	}
}

// Text returns the output as text: a string as it is, anything else as JSON.
func (p *PhaseRecord) Text() string { return AsText(p.Output) }

// Callout is a message that was marked as important, by name.
type Callout struct {
	Name  string `json:"name"`
	Phase string `json:"phase"`
	Hash  Hash   `json:"content_hash"`
}

// Session is the state of a run: the history of each phase in the order of their visits, the shared
// state, and the callouts. It is owned by the goroutine that runs the engine; nothing is locked.
type Session struct {
	ID       string
	Phases   []*PhaseRecord
	State    map[string]any
	Callouts []Callout
	Changed  []string // names of the state that were set since the fork, in order, each once

	// Withdrawals are the messages that persons have taken out of its views; nil: none.
	Withdrawals *Withdrawals
	KeepsValues bool // texts for models have the values of withdrawn answers still: it began under rules that had it so

	copied int // callouts that it had when it was forked
}

// Fork returns a session that begins as this one is. What enters it does not enter this one. The
// records of earlier visits are shared, and only read.
func (s *Session) Fork() *Session {
	return &Session{
		ID: s.ID, Phases: slices.Clip(s.Phases), State: maps.Clone(s.State), Callouts: slices.Clip(s.Callouts), copied: len(s.Callouts),
		Withdrawals: s.Withdrawals, KeepsValues: s.KeepsValues,
	}
}

// Left returns what a fork that has ended leaves: the records of its visits, the state that was set and
// the callouts that were made since.
func (s *Session) Left(visits []*PhaseRecord) *Session {
	left := &Session{
		ID: s.ID, Phases: slices.Clone(visits), State: make(map[string]any, len(s.Changed)), Callouts: slices.Clone(s.OwnCallouts()), Changed: s.Changed,
	}
	for _, name := range s.Changed {
		left.State[name] = s.State[name]
	}
	return left
}

// Carry gives a session that begins a state that others have set.
func (s *Session) Carry(state map[string]any) { maps.Copy(s.State, state) }

// Settled has what is set from now on be the own of a fork, and nothing before.
func (s *Session) Settled() { s.Changed, s.copied = nil, len(s.Callouts) }

// OwnCallouts returns those that were made since the fork.
func (s *Session) OwnCallouts() []Callout { return s.Callouts[s.copied:] }

// IsCallout reports whether the message with a hash was marked as important.
func (s *Session) IsCallout(h Hash) bool {
	return slices.ContainsFunc(s.Callouts, func(c Callout) bool { return c.Hash == h })
}

// NewSession returns an empty session.
func NewSession(id string) *Session {
	return &Session{ID: id, State: map[string]any{}}
}

// Begin records that a phase begins and returns its record.
func (s *Session) Begin(name string) *PhaseRecord { return s.BeginVisit(name, s.Visits(name)+1) }

// BeginVisit is [Session.Begin] for a visit whose number, from 1, is known.
func (s *Session) BeginVisit(name string, visit int) *PhaseRecord {
	p := &PhaseRecord{Name: name, Visit: visit}
	s.Phases = append(s.Phases, p)
	return p
}

// Visits returns how many times a phase has begun.
func (s *Session) Visits(name string) int {
	n := 0
	for _, p := range s.Phases {
		if p.Name == name {
			n++
		}
	}
	return n
}

// Last returns the newest finished record of a phase, or nil.
func (s *Session) Last(name string) *PhaseRecord {
	for _, p := range slices.Backward(s.Phases) {
		if p.Name == name && p.Done {
			return p
		}
	}
	return nil
}

// Finished returns the finished phases in the order of their newest visits, each once.
func (s *Session) Finished() []*PhaseRecord {
	var out []*PhaseRecord
	for _, p := range s.Phases {
		if s.Last(p.Name) == p {
			out = append(out, p)
		}
	}
	return out
}

// Set sets a value of the shared state, which the phase by did; nil is the engine itself.
func (s *Session) Set(by *PhaseRecord, key string, value any) {
	s.State[key] = value
	if !slices.Contains(s.Changed, key) {
		s.Changed = append(s.Changed, key)
	}
	if by != nil && !slices.Contains(by.StateKeys, key) {
		by.StateKeys = append(by.StateKeys, key)
	}
}

// AsText returns a value as text: a string as it is, nothing for nil, anything else as JSON.
func AsText(v any) string {
	switch t := v.(type) {
	case nil:
		return ""
	case string:
		return t
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "" // values come from JSON, which can always be written again
	}
	return string(b)
}
