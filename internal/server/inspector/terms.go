package inspector

import (
	"math"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/selected"
)

// explain adds to the scores of a selection the terms that they are the sums of, by the settings of its phase in the cascade as the
// session began with it. It reports whether they add up: the record has the sums, and settings, rules or groups may have been others.
func (o *opened) explain(f *found, scores []phasecontext.Explained) bool {
	c, p := o.phase(f.visit.Path().Phase)
	if p == nil {
		return false
	}
	settings := selection.SettingsOf(c.EffectiveInter(p).Selection)
	settings.Strategy = f.Strategy
	groups := make([]selection.Group, len(f.Scores))
	for i := range f.Scores {
		s, g := &f.Scores[i], &groups[i]
		g.ID, g.Phase, g.Tokens, g.Callout = s.ID, s.Phase, s.Tokens, s.Callout
		if g.Embedded = s.Similarity != nil; g.Embedded {
			g.Similarity = *s.Similarity
		}
		if i > 0 {
			if g.Segment = groups[i-1].Segment; g.Phase != groups[i-1].Phase {
				g.Segment++
			}
		}
	}
	for i, terms := range selection.Explain(&f.Selected, groups, settings) {
		sum := 0.0
		for _, t := range terms {
			sum += t.Weight * t.Value
		}
		if math.Abs(sum-f.Scores[i].Total) > 1e-6 {
			return false
		}
		scores[i].Terms = terms
	}
	return true
}

// termParts are the columns of terms that scores have, and what fills them.
func termParts(scores []phasecontext.Explained) (heads []string, parts func(*phasecontext.Explained) []string) {
	names := selected.TermsIn(scores)
	for _, name := range names {
		heads = append(heads, strings.ToUpper(name[:1])+name[1:])
	}
	digits := selected.Digits(scores)
	return heads, func(e *phasecontext.Explained) (out []string) {
		for _, name := range names {
			out = append(out, selected.Term(e.Terms, name, digits))
		}
		return out
	}
}

// measured are the parts of scores as they were measured, without weights.
func measured() (heads []string, parts func(*phasecontext.Explained) []string) {
	two := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	return []string{"Words", "Recency", "Meaning", "Callout"}, func(e *phasecontext.Explained) []string {
		meaning, callout := "", ""
		if e.Similarity != nil {
			meaning = two(*e.Similarity)
		}
		if e.Callout {
			callout = "yes"
		}
		return []string{two(e.Keyword), two(e.Recency), meaning, callout}
	}
}
