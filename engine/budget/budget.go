// Package budget decides whether a run can afford its next model call: budget.go compares with the
// limits, estimate.go says what a call is expected to take, error.go which limit does not allow it.
package budget

import (
	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Ledger is what a run has taken so far, and its limits. It belongs to the run's goroutine.
type Ledger struct {
	Limits     cascade.Budget // the zero value limits nothing
	Background effect.Totals  // calls in the background of the run

	kinds  map[answerKind]tally // answers of the run, for estimates of the next one
	models map[string]tally
}

// NewLedger returns the ledger of a run that begins.
func NewLedger(limits cascade.Budget) *Ledger {
	return &Ledger{Limits: limits, kinds: map[answerKind]tally{}, models: map[string]tally{}}
}

// Unlimited reports whether there is no limit.
func (l *Ledger) Unlimited() bool { return l.Limits == (cascade.Budget{}) }

// Answered adds a call of the run that was answered.
func (l *Ledger) Answered(req *effect.ModelRequest, resp *effect.ModelResponse) {
	kind := kindOf(req)
	l.kinds[kind] = l.kinds[kind].plus(resp)
	l.models[req.Model] = l.models[req.Model].plus(resp)
}

func (l *Ledger) estimate(req *effect.ModelRequest, sent Size, f effect.ModelFacts) Estimate {
	model := l.models[req.Model]
	e := estimate(sent, expectAnswer(req, l.kinds[kindOf(req)], model, f.MaxOutput), f.Tariff, model)
	if f.Price != nil {
		e.PriceAs = f.Price.As
	}
	return e
}

// Afford returns an [*Error] when the next call would exceed a limit. used is what the run's calls
// took, elapsed its active seconds, nil when not known.
func (l *Ledger) Afford(req *effect.ModelRequest, sent Size, f effect.ModelFacts, used effect.Totals, elapsed *float64) error {
	next := l.estimate(req, sent, f)
	return overLimit(l.Limits, used, l.Background, elapsed, &next)
}

// overLimit compares a run and its next call with the limits. Background calls count as far as
// their cost is known, as the run does not depend on them. Pretend prices count as if they were paid.
func overLimit(b cascade.Budget, used, background effect.Totals, elapsed *float64, next *Estimate) error {
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
