package record

import (
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Choice is a choice among candidates, and where it was made.
type Choice struct {
	echo.Choice
	Key echo.Key
	At  time.Time
}

// Choices returns the choices of a visit and of its parts, in their order.
func (f *Fold) Choices(visit echo.Key) []Choice {
	var out []Choice
	for _, c := range f.now.choices {
		if c.Key.Under(visit) {
			out = append(out, c)
		}
	}
	return out
}

// isTry reports whether a branch is one of several candidates, or a step of refinement: what it leaves
// counts when it is chosen.
func (b *branch) isTry() bool {
	return b != nil && (b.Step.Kind == echo.StepSounding || b.Step.Kind == echo.StepReforge)
}

// inTry returns the candidate, or step of refinement, that a branch is or is part of, the outermost one;
// nil for none.
func (b *branch) inTry() (outermost *branch) {
	for ; b != nil; b = b.parent {
		if b.isTry() {
			outermost = b
		}
	}
	return outermost
}

// addChoice takes which candidate of a visit, or of a part of it, is kept; its messages, state and
// callouts are those of the visit from now on. With the end of the visit they are settled.
func (s *state) addChoice(e *echo.Entry, p *echo.Path) {
	place := conversation(e.Key, p)
	switch e.NodeType { //nolint:exhaustive // the others choose nothing
	case echo.NodeChoice:
		d, err := echo.Read[echo.Choice](e)
		if err != nil {
			return
		}
		s.choices = append(s.choices, Choice{Choice: d, Key: e.Key, At: e.At})
		of := place
		if b := s.at[place]; b.isTry() {
			b.Status, b.EndedAt = echo.StatusCompleted, e.At
			above := echo.Path{Scope: p.Scope, Phase: p.Phase, Visit: p.Visit, Branches: p.Branches[:len(p.Branches)-1]}
			of = above.Key()
		}
		if d.Winner > 0 {
			s.choose(of, s.at[place.Numbered(echo.StepSounding, d.Winner)])
		} else if d.Winner < 0 {
			s.choose(of, nil)
		}
	case echo.NodePhaseEnd:
		b := s.chosen[place]
		in := s.scopeOf(s.at[place])
		if b == nil || !slices.Contains(in.open, b) {
			return
		}
		if d, err := echo.Read[echo.PhaseEnd](e); err == nil && d.Status == echo.StatusCompleted {
			in.join(b)
			return
		}
		in.leave(b)
	}
}

// choose keeps a candidate of a visit or branch, nil for none, in place of the one before.
func (s *state) choose(of echo.Key, b *branch) {
	in := s.scopeOf(s.at[of])
	if was := s.chosen[of]; was != nil {
		in.leave(was)
		delete(s.histories, of)
	}
	delete(s.chosen, of)
	if b == nil {
		return
	}
	s.chosen[of] = b
	if of == echo.RunKey() {
		s.output = b.Output
	}
	in.open = append(in.open, b)
	if h := s.histories[b.Key]; h != nil {
		s.histories[of] = &history{entries: slices.Clip(h.entries), open: len(h.entries)}
	}
}

// keeps reports whether a branch is a candidate that is kept.
func (s *state) keeps(b *branch) bool {
	for a := b.parent; b.Step.Kind == echo.StepSounding; a = a.parent {
		if a == nil {
			return s.chosen[b.Key.VisitKey()] == b
		}
		if !a.isTry() {
			return s.chosen[a.Key] == b
		}
	}
	return false
}

// stateOf returns the names of the shared state that a visit or branch has set, with those of the
// candidate that is kept of it.
func (s *state) stateOf(v *Visit) []string {
	names := slices.Clip(v.State)
	if b := s.chosen[v.Key]; b != nil {
		for _, name := range b.State {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// addWhole takes an entry of a try of the whole cascade, which is a session of its own, or of the choice
// among them: the output and the state of the one that is kept are those of the run.
func (s *state) addWhole(b *branch, e *echo.Entry, p *echo.Path) {
	switch e.NodeType { //nolint:exhaustive // the others say nothing of it
	case echo.NodeChoice:
		s.addChoice(e, p)
		return
	case echo.NodeRunEnd:
		if d, err := echo.Read[echo.RunEnd](e); err == nil && d.Status == echo.StatusCompleted && s.output == nil {
			s.output = d.Output // one answer was written from all
		}
	}
	if b == nil || b.Step.Kind != echo.StepSounding {
		if b != nil {
			b.addCall(e, p)
		}
		return
	}
	switch e.NodeType { //nolint:exhaustive // the others say nothing of it
	case echo.NodeCandidate:
		if d, err := echo.Read[echo.Candidate](e); err == nil {
			b.Candidate, b.Model, b.Status, b.StartedAt = &d, d.Model, echo.StatusRunning, e.At
		}
	case echo.NodeVerdict:
		b.addOwn(e, p)
	case echo.NodeChildEnd:
		d, err := echo.Read[echo.ChildEnd](e)
		if err != nil {
			return
		}
		b.Status, b.Reason, b.Output, b.EndedAt, b.Error = d.Status, d.Reason, d.Output, e.At, ""
		b.Totals = childTotals(e, &d)
		if e.Error != nil {
			b.Error = e.Error.Message
		}
		for name, v := range d.State {
			b.set(name, v)
		}
	}
}
