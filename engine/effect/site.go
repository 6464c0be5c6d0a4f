package effect

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// Site is a place in a run, for errors, events and scripts; it is never sent to a model.
type Site struct {
	Cascade   string
	Phase     string
	Visit     int // from 1: how often the phase has begun
	Item      int // of a list, from 1; 0: none
	Try       Try // of several candidates
	Attempt   int
	Turn      int
	Validator string       // of a call that a validator makes
	Purpose   echo.Purpose // of a call that is not the next answer of the phase; of validators only Validator says it
}

// Try is one of several candidates. The zero value is none.
type Try struct {
	Number int // from 1; 0: of a step of refinement itself
	Step   int // of refinement, from 1; 0: of the first ones
}

func (s Site) String() string {
	var b strings.Builder
	b.WriteString(s.Cascade)
	if s.Phase != "" {
		b.WriteString("/" + s.Phase)
	}
	if s.Item > 0 {
		fmt.Fprintf(&b, " (element %d)", s.Item)
	}
	switch {
	case s.Try.Step > 0 && s.Try.Number == 0:
		fmt.Fprintf(&b, " (refinement %d)", s.Try.Step)
	case s.Try.Step > 0:
		fmt.Fprintf(&b, " (refinement %d, candidate %d)", s.Try.Step, s.Try.Number)
	case s.Try.Number > 0:
		fmt.Fprintf(&b, " (candidate %d)", s.Try.Number)
	}
	if s.Attempt > 0 {
		fmt.Fprintf(&b, " (attempt %d", s.Attempt)
		if s.Turn > 0 {
			fmt.Fprintf(&b, ", turn %d", s.Turn)
		}
		b.WriteByte(')')
	}
	if s.Validator != "" {
		fmt.Fprintf(&b, " validator %s", s.Validator)
	}
	if s.Purpose != "" {
		b.WriteString(" " + string(s.Purpose))
	}
	return b.String()
}
