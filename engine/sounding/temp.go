package sounding

import (
	"cmp"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
)

// Factor is temporary: the language has it.
func Factor(s *soundings.Soundings) int {
	if s.Factor != nil {
		return *s.Factor
	}
	n := 0
	for _, m := range s.Models {
		n += max(m.Factor, 1)
	}
	return n
}

// Plans is temporary: the language has it.
func Plans(s *soundings.Soundings, seed string, from, n int) []Plan {
	var out []Plan
	for i := range n {
		p := Plan{Index: i, Factor: n}
		if len(s.Models) > 0 {
			p.Model = s.Models[i%len(s.Models)]
		}
		if i > 0 && len(s.Mutations) > 0 {
			p.Mutation = &echo.Mutation{Mode: cmp.Or(string(s.MutationMode), "rewrite"), Entry: s.Mutations[(i-1)%len(s.Mutations)]}
		}
		out = append(out, p)
	}
	return out[from:]
}
