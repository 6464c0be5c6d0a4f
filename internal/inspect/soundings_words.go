package inspect

import (
	"cmp"
	"strconv"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/chosen"
)

// State says what became of a candidate, or what it does, and what a person has said of it.
func (c *Candidate) State() string {
	if c.Standing == nil {
		return c.Status.String()
	}
	return chosen.State(c.Standing)
}

// Why says which candidate is kept, and why, or why there is no choice.
func (st *SoundingStep) Why() string {
	if st.Choice == nil {
		return st.Unchosen()
	}
	return chosen.Why(st.Choice)
}

// Outcome says which candidate both ballots name.
func (p *BallotPair) Outcome() string {
	if n, ok := p.Vote(); ok {
		return strconv.Itoa(n)
	}
	if p.Flipped() {
		return "none: flipped"
	}
	return "none"
}

// Said returns who has judged, and in its words why, or why there is no verdict.
func (p *BallotPair) Said() (judge, why string) {
	for _, b := range []*echo.Ballot{p.Second, p.First} {
		if b != nil {
			judge, why = b.Judge, cmp.Or(why, b.Problem, b.Why)
		}
	}
	return judge, why
}
