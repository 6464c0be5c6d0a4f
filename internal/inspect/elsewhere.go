package inspect

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// WithoutCalls says that it is of no call of the session recorded what was sent, and where those of the
// candidates of a whole cascade are.
func (r *Record) WithoutCalls() string {
	text := fmt.Sprintf("session %s has no model call of which it is recorded what was sent", r.ID)
	candidates := r.wholeCandidates()
	if len(candidates) == 0 {
		return text
	}
	places := make([]string, len(candidates))
	for i := range candidates {
		x := &candidates[i]
		places[i] = fmt.Sprintf("%s (%s)", x.Session, x.Label())
	}
	return text + ": each candidate of its cascade is a session: " + strings.Join(places, ", ")
}

// CallsIn returns the session of a candidate of a whole cascade, of which it is recorded what it was sent: of
// the one that is kept, else of the first; "" for none.
func (r *Record) CallsIn() string {
	candidates := r.wholeCandidates()
	for i := range candidates {
		if candidates[i].Kept {
			return candidates[i].Session
		}
	}
	if len(candidates) > 0 {
		return candidates[0].Session
	}
	return ""
}

// wholeCandidates returns the candidates of the whole cascade that have begun.
func (r *Record) wholeCandidates() (out []Candidate) {
	all, err := r.AllSoundings()
	if err != nil {
		return nil // the record says so itself to whoever asks for what is in it
	}
	for i := range all {
		for _, step := range all[i].Steps {
			for j := range step.Candidates {
				if x := step.Candidates[j]; all[i].Phase == "" && x.Session != "" {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// Label names a candidate: "candidate 2, kept", or "step 1 of refinement, candidate 2".
func (c *Candidate) Label() string {
	text := fmt.Sprintf("candidate %d", c.Number)
	path := c.Key.Path()
	for _, part := range path.Parts() {
		if part.Kind == echo.StepReforge {
			text = fmt.Sprintf("step %d of refinement, %s", part.Number, text)
		}
	}
	if c.Kept {
		text += ", kept"
	}
	return text
}
