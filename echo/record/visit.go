package record

import (
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Visit is what a visit came to so far; of the entries that count, unless a field says otherwise.
// Attempts, verdicts and the model that is asked are its own, without those of its parts, see [Branch].
type Visit struct {
	Key    echo.Key
	Phase  string
	Number int    // from 1: how often the phase has begun
	Node   int    // of a graph: the number of the phase, or of the failed one that it runs in place of; else 0
	Model  string // that it asks now; empty for a phase without a model

	Outcome
	Position

	Verdicts []Verdict // of the checks of its answers, in their order
	State    []string  // names of the shared state that it has set, in their order, each once

	Totals Totals // of its model calls
	Reads  Reads

	StartedAt time.Time
	EndedAt   time.Time // zero: it has not ended
	Spent     Spent     // also by what does not count any more
}

// Outcome is what a visit has come to.
type Outcome struct {
	Status echo.Status // StatusRunning: it has not ended
	Reason echo.StopReason
	Error  string // what ended a visit that did not complete
	Output any    // of one that completed: a string, or a value that came from JSON
}

// Position is how far a visit has come.
type Position struct {
	Attempt  int // of the newest entry, from 1
	Turn     int // of the newest entry, from 1; 0: before the first of the attempt
	Attempts int // that have begun
	Turns    int // that the model has answered, in all attempts and parts
}

// Verdict is what a check said of an answer.
type Verdict struct {
	echo.Verdict
	Attempt int // of the answer
}

// Reads say how much of what was left out was asked for again, at the end of a visit.
type Reads struct {
	Masked  int // tool results that were not sent in full at the end
	Recalls int // of such results
	Rereads int // calls that were made again for such results
}

// Spent sums up what is recorded, whether it counts or not. What was copied is in LastAt alone.
type Spent struct {
	Totals    Totals
	ToolCalls int
	LastAt    time.Time // of the newest entry
}

func (s *Spent) take(e *echo.Entry, own bool) {
	s.LastAt = e.At
	if !own {
		return
	}
	s.Totals.Add(e)
	if e.NodeType == echo.NodeToolCall {
		s.ToolCalls++
	}
}

func newVisit(e *echo.Entry, p *echo.Path) *Visit {
	return &Visit{
		Key: e.Key.VisitKey(), Phase: p.Phase, Number: p.Visit, Node: p.Node(), Model: e.Model,
		Outcome: Outcome{Status: echo.StatusRunning}, StartedAt: e.At,
	}
}

// After returns the visit as it is once e, an entry of it, is recorded and counts.
func (v Visit) After(e *echo.Entry) Visit {
	v.Verdicts, v.State = slices.Clip(v.Verdicts), slices.Clip(v.State)
	p := e.Key.Path()
	v.add(e, &p)
	return v
}

func (v *Visit) add(e *echo.Entry, p *echo.Path) {
	v.addCall(e, p)
	if len(p.Parts()) == 0 {
		v.addOwn(e, p)
	}
}

// addCall takes a model call of it or of a part of it.
func (v *Visit) addCall(e *echo.Entry, p *echo.Path) {
	if e.NodeType != echo.NodeModelCall {
		return
	}
	v.Totals.Add(e)
	if e.Message != nil && p.InTurn().Kind == echo.StepModel {
		v.Turns++
	}
}

// addOwn takes an entry that is not of a part of it.
func (v *Visit) addOwn(e *echo.Entry, p *echo.Path) {
	if p.Attempt > 0 {
		v.Attempt, v.Turn, v.Attempts = p.Attempt, p.Turn, max(v.Attempts, p.Attempt)
	}
	switch e.NodeType { //nolint:exhaustive // the others change nothing
	case echo.NodeVerdict:
		d, err := echo.Read[echo.Verdict](e)
		if err == nil {
			v.Verdicts = append(v.Verdicts, Verdict{Verdict: d, Attempt: p.Attempt})
		}
	case echo.NodeWarning:
		if f := FallbackOf(e); f != nil {
			v.Model = f.To
		}
	case echo.NodeCandidate:
		if d, err := echo.Read[echo.Candidate](e); err == nil {
			v.Model = d.Model
		}
	case echo.NodePhaseEnd:
		v.end(e)
	}
}

// FallbackOf returns which model an entry has asked from now on, nil when it is of something else.
func FallbackOf(e *echo.Entry) *echo.Fallback {
	if e.NodeType != echo.NodeWarning {
		return nil
	}
	d, err := echo.Read[echo.Warning](e)
	if err != nil || d.Fallback == nil || d.Fallback.Context == nil {
		return nil
	}
	return d.Fallback
}

// end takes how the visit ended. One whose end cannot be read has failed.
func (v *Visit) end(e *echo.Entry) {
	d, err := echo.Read[echo.PhaseEnd](e)
	if err != nil {
		d.Status = echo.StatusFailed
	}
	v.Status, v.Reason, v.Output, v.EndedAt = d.Status, d.Reason, d.Output, e.At
	v.Attempts = max(v.Attempts, d.Attempts)
	v.Reads = Reads{Masked: d.Masked, Recalls: d.Recalls, Rereads: d.Rereads}
	v.Error = ""
	if e.Error != nil {
		v.Error = e.Error.Message
	}
}

// set notes that the visit has set a name of the shared state.
func (v *Visit) set(name string) {
	if !slices.Contains(v.State, name) {
		v.State = append(v.State, name)
	}
}

// Refusal returns the newest verdict that is not only advice; ok when it was that something does not
// pass.
func (v *Visit) Refusal() (d Verdict, ok bool) {
	for _, d := range slices.Backward(v.Verdicts) {
		if !d.Advises() {
			return d, !d.Valid
		}
	}
	return Verdict{}, false
}
