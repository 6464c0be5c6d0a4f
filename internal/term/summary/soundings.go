package summary

import (
	"cmp"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
)

// mostSoundings is of how many soundings the end of a run tells.
const mostSoundings = 5

// parts counts what the run was made of: phases, or candidates of the whole cascade.
func (r *Run) parts() string {
	n := 0
	for i := range r.Soundings {
		for _, step := range r.Soundings[i].Steps {
			if r.Soundings[i].Key == echo.RunKey() {
				n += len(step.Candidates)
			}
		}
	}
	if n > 0 {
		return term.Plural(n, "candidate") + " of the whole cascade"
	}
	return term.Plural(len(r.Result.Phases), "phase")
}

// tried says what the candidates of phases came to, a line for each of the first ones.
func (r *Run) tried() []string {
	var out []string
	for i := range r.Soundings {
		s := &r.Soundings[i]
		text := chosen.Sum(s.Choices())
		if text == "" {
			continue
		}
		of := s.Key.String()
		if s.Phase == "" {
			of = "the whole cascade"
		}
		for _, frontier := range chosen.Frontiers(s.Choices()) {
			text += "\n  frontier: " + frontier
		}
		out = append(out, fmt.Sprintf("Soundings of %s: %s", term.Clean(of), text))
	}
	if n := len(out); n > mostSoundings {
		out = append(out[:mostSoundings], fmt.Sprintf("and those of %d more", n-mostSoundings))
	}
	return out
}

// soundingJSON is what the candidates of one thing came to. The steps of refinement follow the first ones.
type soundingJSON struct {
	Key        echo.Key        `json:"key"`                // of the visit, the element or the run
	Winner     *int            `json:"winner"`             // the number of the candidate that is kept; null: none is, or none yet
	Step       int             `json:"step,omitempty"`     // of refinement, which the winner is of
	How        echo.ChoiceHow  `json:"how,omitempty"`      // it was chosen
	Tie        bool            `json:"tie,omitempty"`      // no candidate of that step had enough confidence
	Person     *echo.Chooser   `json:"person,omitempty"`   // who was asked to choose, and what was said
	Waits      string          `json:"waits_id,omitempty"` // the wait by which a person is to choose; "": none does now
	Judging    *float64        `json:"judging_usd"`        // null: not known
	Candidates []candidateJSON `json:"candidates"`
}

// candidateJSON is a candidate in figures. The whole is in windlass soundings --json.
type candidateJSON struct {
	Key     echo.Key   `json:"key"`
	Step    int        `json:"step,omitempty"` // of refinement
	Number  int        `json:"number"`
	Model   string     `json:"model,omitempty"`
	State   string     `json:"state"` // an [echo.CandidateState]; before the choice how its execution stands
	Calls   int        `json:"model_calls"`
	Usage   echo.Usage `json:"usage"`
	CostUSD *float64   `json:"cost_usd"`
	Session string     `json:"session_id,omitempty"` // of a candidate of a whole cascade
}

// soundingsOf returns those of a visit or of the run.
func (r *Run) soundingsOf(visit echo.Key) []soundingJSON {
	var out []soundingJSON
	for i := range r.Soundings {
		if s := &r.Soundings[i]; s.Key.VisitKey() == visit {
			out = append(out, soundingOf(s))
		}
	}
	return out
}

func soundingOf(s *inspect.Sounding) soundingJSON {
	out := soundingJSON{Key: s.Key, Judging: new(float64)}
	for i := range s.Steps {
		st := &s.Steps[i]
		if c := st.Choice; c != nil {
			out.judged(c)
		}
		out.Waits = cmp.Or(st.Waits, out.Waits)
		for j := range st.Candidates {
			x := &st.Candidates[j]
			state := x.Status.String()
			if x.Standing != nil {
				state = string(x.Standing.State)
			}
			out.Candidates = append(out.Candidates, candidateJSON{
				Key: x.Key, Step: st.Step, Number: x.Number, Model: x.Model, State: state, Calls: x.Calls, Usage: x.Usage, CostUSD: x.CostUSD, Session: x.Session,
			})
			if x.Kept {
				out.Winner = &x.Number
			}
		}
	}
	return out
}

// judged takes a choice: the newest that keeps a candidate says how.
func (s *soundingJSON) judged(c *echo.Choice) {
	if c.CostUSD == nil || s.Judging == nil {
		s.Judging = nil
	} else {
		sum := record.RoundUSD(*s.Judging + *c.CostUSD)
		s.Judging = &sum
	}
	if c.Winner != 0 {
		s.Person = c.Person
		s.Step, s.How, s.Tie = c.Step, c.How, c.Tie
	}
}
