package soundings

import (
	"cmp"
	"iter"
	"slices"
)

// Count returns the number of candidates: of an adaptive number the most. Without a factor it is what the
// models come to, each of which counts once unless it says how often. It is 0 when the file does not say it.
func (s *Soundings) Count() int {
	switch {
	case s == nil:
		return 0
	case s.Adaptive != nil && s.Adaptive.Max > 0:
		return s.Adaptive.Max
	case s.Factor != nil:
		return *s.Factor
	}
	n := 0
	for _, m := range s.Models {
		n += max(m.Factor, 1)
	}
	return n
}

// Active reports whether there is more than one candidate. With one, or none, nothing is chosen and the
// phase, or the cascade, runs as if it had no soundings.
func (s *Soundings) Active() bool { return s.Count() >= MinFactor }

// Bounds returns with how many candidates a step begins, and how many it has at most.
func (s *Soundings) Bounds() (first, most int) {
	most = s.Count()
	if s == nil || s.Adaptive == nil {
		return most, most
	}
	return min(cmp.Or(s.Adaptive.Min, DefaultAdaptiveMin), most), most
}

// Aggregates reports whether one answer is written from all, so that no candidate is chosen.
func (s *Soundings) Aggregates() bool { return s.Mode == Aggregate }

// Tie returns which candidate is kept when no candidate has enough confidence.
func (s *Soundings) Tie() OnTie { return cmp.Or(s.OnTie, TieCheapest) }

// Parallel returns how many candidates run at a time.
func (s *Soundings) Parallel() int { return cmp.Or(s.MaxParallel, DefaultMaxParallel) }

// Winners returns how many earlier rewrites that have won a rewrite is shown.
func (s *Soundings) Winners() int {
	if s.WinnerHistory == nil {
		return DefaultWinnerHistory
	}
	return *s.WinnerHistory
}

// Confidence returns the confidence that a winner needs.
func (s *Soundings) Confidence() float64 {
	if s.Ballots == nil {
		return DefaultConfidence
	}
	return cmp.Or(s.Ballots.Confidence, DefaultConfidence)
}

// Pairs returns how many pairs of ballots are held at least and at most. A bound that is given moves the
// other one when that is not.
func (s *Soundings) Pairs() (least, most int) {
	least, most = DefaultMinPairs, DefaultMaxPairs
	if s.Ballots != nil {
		least, most = cmp.Or(s.Ballots.Min, least), cmp.Or(s.Ballots.Max, max(most, s.Ballots.Min))
	}
	return min(least, most), most
}

// Weights returns how much quality and cost count. Only their proportion matters.
func (c *CostAware) Weights() (quality, cost float64) {
	quality, cost = DefaultQualityWeight, DefaultCostWeight
	if c.QualityWeight != nil {
		quality = *c.QualityWeight
	}
	if c.CostWeight != nil {
		cost = *c.CostWeight
	}
	return quality, cost
}

// Normalized returns how costs become numbers.
func (c *CostAware) Normalized() Normalization { return cmp.Or(c.CostNormalization, MinMax) }

// Prefers returns which candidate of the frontier is kept.
func (p *Pareto) Prefers() Policy { return cmp.Or(p.Policy, Balanced) }

// MaxSteps returns how many steps of refinement there are at most.
func (r *Reforge) MaxSteps() int { return cmp.Or(r.Steps, DefaultSteps) }

// PerStep returns how many candidates a step makes.
func (r *Reforge) PerStep() int { return cmp.Or(r.FactorPerStep, DefaultPerStep) }

// MaxMisses returns after how many steps in a row without a better answer the refinement ends.
func (r *Reforge) MaxMisses() int { return cmp.Or(r.Patience, DefaultPatience) }

// Asks returns the models that may be asked beside those of the phase, each once. The model of the run, "" when there
// is none, judges, rewrites and writes the one answer where no other one is named for that.
func (s *Soundings) Asks(run string) []string {
	var out []string
	add := func(name string, is bool) {
		if is && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if !s.Active() {
		return nil
	}
	for _, m := range s.Models {
		add(m.Name, true)
	}
	add(cmp.Or(s.RewriteModel, run), s.MutatesBy() == Rewrite && (s.Mutates() || s.Reforge != nil && s.Reforge.Mutate))
	add(cmp.Or(s.AggregatorModel, run), s.Aggregates() && s.AggregatorInstructions != "")
	add(cmp.Or(s.EvaluatorModel, run), s.Judges())
	return out
}

// Validators yields the validators as they are written, each with the key that has it.
func (s *Soundings) Validators() iter.Seq2[string, string] {
	return func(yield func(key, validator string) bool) {
		if s == nil || s.Validator != "" && !yield("soundings.validator", s.Validator) {
			return
		}
		if until := s.Reforge.Until(); until != "" {
			yield("soundings.reforge.threshold", until)
		}
	}
}
