// Package budget decides whether a run can afford its next model call: ledger.go has what runs took
// and what their calls in flight are expected to take, budget.go compares with the limits,
// estimate.go says what a call is expected to take, error.go which limit does not allow it.
package budget

import (
	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/quantity"
)

// overLimit compares a run and its next call with the limits. Background calls count as far as
// their cost is known, as the run does not depend on them. Pretend prices count as if they were paid.
func overLimit(b cascade.Budget, used, background effect.Totals, elapsed *float64, next *Estimate) *Error {
	if b.MaxUSD > 0 && used.UnknownCosts > 0 {
		return &Error{Limit: LimitUSD, Max: b.MaxUSD, Cause: "the cost of " + quantity.Of(used.UnknownCosts, "call") + " is unknown"}
	}
	sum := used.Plus(background)
	figures := []Error{
		{Limit: LimitUSD, Max: b.MaxUSD, Used: sum.CostUSD + sum.PretendUSD, PriceAs: next.PriceAs},
		{Limit: LimitTokens, Max: float64(b.MaxTokens), Used: float64(sum.Usage.In + sum.Usage.Out)},
	}
	if elapsed != nil {
		figures = append(figures, Error{Limit: LimitSeconds, Max: b.MaxSeconds, Used: *elapsed})
	}
	for _, f := range figures {
		if f.Next = next; f.Max > 0 && (f.Used >= f.Max || f.Used+f.nextTakes() > f.Max) {
			return &f
		}
	}
	return nil
}

// Size is how many tokens a request has, and how many of them the provider has seen before.
type Size struct{ In, Cached int64 }

// SizeOf counts a request by its model's tokenizer.
func SizeOf(req *effect.ModelRequest, f effect.ModelFacts) Size {
	s := Size{In: fixedSize(f, req.Tools)}
	for _, m := range req.Messages {
		s.In += messageSize(f, m)
	}
	return s
}

// SizeOfView returns the size of a phase's own request: as its view counted it, else as counted
// here and corrected by scale (thousandths). Its tools and a share of its messages are cached.
func SizeOfView(req *effect.ModelRequest, f effect.ModelFacts, view *echo.Selection, scale int64) Size {
	s := Size{In: view.RequestSize}
	if s.In == 0 {
		s = SizeOf(req, f)
		if scale > 0 {
			s.In = s.In * scale / 1000
		}
	}
	if fixed := min(fixedSize(f, req.Tools), s.In); view.SharedSize > 0 {
		s.Cached = fixed + (s.In-fixed)*view.SharedSize/view.ContextSize
	}
	return s
}

func fixedSize(f effect.ModelFacts, tools []effect.ToolSpec) int64 {
	if f.CountFixed == nil {
		return 0
	}
	return f.CountFixed(tools)
}

// messageSize returns the tokens of a message, by four bytes each where no tokenizer is known.
func messageSize(f effect.ModelFacts, m *echo.Message) int64 {
	if f.Count == nil {
		return autocontext.Tokens(m)
	}
	return f.Count(m)
}
