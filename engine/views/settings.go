package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// Asked is what a cascade asks for of contexts, and what somebody has switched off of that.
type Asked struct {
	Cascade *cascade.Cascade
	Off     cascade.SwitchedOff
}

// Room is how many tokens a request may have, and why.
type Room struct {
	Limit   int64 // 0: unknown
	ceiling int64 // of request and answer together
	Assumed bool  // the ceiling is not known, but taken for it
	Reserve int64 // for the answer
	from    string
}

// RoomFor returns the model's window or max_total, less what is kept for the answer: the budget's
// reserve, else max_output_tokens, else the longest answer but at most a quarter. A max_total counts
// more than a window that is only assumed, and such a window never says that there is no room.
func RoomFor(f effect.ModelFacts, b *cascade.TokenBudget, maxOutput int) Room {
	r := Room{ceiling: f.Window, Assumed: f.Assumed}
	if b != nil && b.MaxTotal > 0 && (r.ceiling == 0 || r.Assumed || b.MaxTotal < r.ceiling) {
		r.ceiling, r.Assumed = b.MaxTotal, false
	}
	if r.ceiling == 0 {
		return Room{}
	}
	switch {
	case b != nil && b.ReserveForOutput > 0:
		r.Reserve, r.from = b.ReserveForOutput, "token_budget.reserve_for_output"
	case maxOutput > 0:
		r.Reserve, r.from = int64(maxOutput), "max_output_tokens"
	default:
		r.Reserve = r.ceiling / 4
		if f.MaxOutput > 0 {
			r.Reserve = min(r.Reserve, f.MaxOutput)
		}
	}
	if r.Limit = max(r.ceiling-r.Reserve, 0); r.Limit == 0 && r.Assumed {
		return Room{}
	}
	return r
}

// Check says why nothing could be sent at all.
func (r Room) Check(model string) error {
	if r.ceiling == 0 || r.Limit > 0 {
		return nil
	}
	return fmt.Errorf("%s keeps %d tokens for the answer, and %s takes only %d in all: nothing is left to send; lower %s, "+
		"or set context_window of the model in windlass.json if it takes more", r.from, r.Reserve, model, r.ceiling, r.from)
}

// SettingsFor returns the settings of the views of a phase, and the room that its requests have.
func SettingsFor(a Asked, rules core.Ruleset, p *cascade.Phase, f effect.ModelFacts, d dialect.Dialect) (autocontext.Settings, Room) {
	c := a.Cascade
	budget := c.EffectiveTokenBudget(p)
	r := RoomFor(f, budget, p.MaxOutputTokens)
	s := autocontext.Settings{
		Policy: a.Off.Intra(c.EffectiveIntra(p)), FailuresInText: rules.FindsFailures(), NameText: rules.NamesText(), OwnIDs: rules.OwnIDs(),
		SwitchedOff: c.EffectiveIntra(p).Enabled && a.Off.IntraPhase, Dialect: d, Price: f.Price, Limit: r.Limit, Assumed: r.Assumed,
		Count: f.Count, Exact: f.Exact, Groups: cascade.ContinuityOf(c, p).Groups,
	}
	s.Summary.AboveWhatStays = rules.RoomAboveWhatStays()
	s.Policy.Dedupe = s.Policy.Dedupe && rules.Dedupes()
	if tool := cascade.RecallToolOf(c, p); tool != "" { // as the memory tool, which has one name for all banks
		s.Policy.ExcludeTools = append(slices.Clip(s.Policy.ExcludeTools), tool)
	}
	if budget != nil {
		s.Strategy = budget.Strategy
		if sum := budget.Summarizer; sum != nil {
			s.Summary.Tokens = sum.TargetSize
			s.Policy.Guard.SummarizerModel = cmp.Or(s.Policy.Guard.SummarizerModel, sum.Model)
		}
		if budget.WarningThreshold > 0 {
			s.Policy.Guard.WarnPercent = int(math.Round(100 * budget.WarningThreshold))
		}
	}
	return s, r
}
