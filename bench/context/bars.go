package main

import (
	"fmt"

	"github.com/windlass-run/windlass/internal/simulate"
)

// bar is a figure that must be reached.
type bar struct {
	name   string
	found  string
	passed bool
}

// The bars. Shares are of 1.
const (
	savedFile  = "swe-mini-public.jsonl"
	leastSaved = 0.45 // of its tokens without caching
	leastKept  = 0.94 // of its references, at the same time
	mostOfBest = 1.07 // cached at a tenth: the default's cost, of the best schedule's, on every file
	mostOfFull = 1.20 // cached at a tenth: one conversation's cost, of full history's
	mostAtHalf = 1.03 // cached at a half: the default's cost, of the best schedule's, on every file
)

// barsOf holds a report to the bars.
func barsOf(r *simulate.Report) []bar {
	bars := []bar{noneInvalid(r)}
	saved := bar{name: fmt.Sprintf("nothing cached, %s: at least %.0f %% fewer tokens at %.0f %% of the references", savedFile, leastSaved*100, leastKept*100), found: "the file is not there"}
	for _, g := range r.Groups {
		s := policyOf(g, simulate.PolicyDefault)
		switch g.Prices.Name {
		case "1":
			if g.File == savedFile && s.KeptShare != nil {
				saved.found = fmt.Sprintf("%.1f %% fewer, %.1f %% kept", s.Saved*100, *s.KeptShare*100)
				saved.passed = s.Saved >= leastSaved && *s.KeptShare >= leastKept
			}
		case "0.1":
			bars = append(bars, ofBest(g, s, mostOfBest), bar{
				name:   fmt.Sprintf("cached at 0.1, %s: no conversation above %.2f of full history", g.File, mostOfFull),
				found:  fmt.Sprintf("%.3f in line %d", s.Worst, s.WorstAt),
				passed: s.Worst <= mostOfFull,
			})
		case "0.5":
			bars = append(bars, ofBest(g, s, mostAtHalf))
		}
	}
	return append(bars, saved)
}

func noneInvalid(r *simulate.Report) bar {
	invalid, first, requests := 0, "", 0
	for _, g := range r.Groups {
		for _, s := range g.Policies {
			requests += g.Calls
			if invalid += s.Invalid; first == "" {
				first = s.FirstInvalid
			}
		}
	}
	b := bar{name: "no invalid request", found: fmt.Sprintf("%d of %d", invalid, requests), passed: invalid == 0 && requests > 0}
	if first != "" {
		b.found += ", the first: " + first
	}
	return b
}

func ofBest(g *simulate.Group, s *simulate.Summary, most float64) bar {
	b := bar{name: fmt.Sprintf("cached at %s, %s: the default costs at most %.2f of the best in hindsight", g.Prices.Name, g.File, most)}
	if s.OfBest != nil {
		b.found, b.passed = fmt.Sprintf("%.3f", *s.OfBest), *s.OfBest <= most
	}
	return b
}

// policyOf returns the summary of a policy, an empty one when it is not there: that reaches no bar.
func policyOf(g *simulate.Group, name string) *simulate.Summary {
	for _, s := range g.Policies {
		if s.Policy == name {
			return s
		}
	}
	return &simulate.Summary{Worst: mostOfFull + 1}
}
