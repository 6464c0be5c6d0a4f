package budget

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Estimate is what a model call is expected to take, before it is made.
type Estimate struct {
	In     int64    // tokens of the request
	Cached int64    // of In: what the provider has seen before in this phase
	Out    int64    // tokens of the answer
	Basis  string   // where Out is from, as a person would say it
	USD    *float64 // nil: what the model costs is not known

	PriceAs string // the model whose prices are pretended; "": what a call costs is paid
}

// Tokens returns what counts against max_tokens.
func (e Estimate) Tokens() int64 { return e.In + e.Out }

func (e Estimate) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tokens (%d in", e.Tokens(), e.In)
	if e.Cached > 0 {
		fmt.Fprintf(&b, ", %d of them cached", e.Cached)
	}
	fmt.Fprintf(&b, "; %d out, %s)", e.Out, e.Basis)
	if e.USD == nil {
		return b.String() + ", at a cost that is not known"
	}
	return b.String() + " and " + dollars(*e.USD)
}

// firstAnswer is how many tokens an answer is taken to have when nothing says how long it will be.
const firstAnswer = 500

// expectAnswer estimates an answer by what is asked for or allowed, averages, or an assumption.
func expectAnswer(req *effect.ModelRequest, kind, model tally, longest int64) Estimate {
	switch {
	case req.AnswerLength > 0:
		return Estimate{Out: int64(req.AnswerLength), Basis: "as asked for"}
	case req.MaxOutputTokens > 0:
		return Estimate{Out: int64(req.MaxOutputTokens), Basis: "its max_output_tokens"}
	case kind.calls > 0:
		return Estimate{Out: kind.average(), Basis: "the average of " + quantity.Of(kind.calls, "answer")}
	case model.calls > 0:
		return Estimate{Out: model.average(), Basis: "the average of " + quantity.Of(model.calls, "answer") + " of the model"}
	case longest > 0 && longest < firstAnswer:
		return Estimate{Out: longest, Basis: "the model's longest answer"}
	default:
		return Estimate{Out: firstAnswer, Basis: "assumed, as nothing was answered yet"}
	}
}

// estimate completes an estimate. Without a tariff, tokens cost what the model's did so far.
func estimate(sent Size, e Estimate, tariff *echo.Tariff, model tally) Estimate {
	e.In, e.Cached = sent.In, min(max(sent.Cached, 0), sent.In)
	switch {
	case tariff != nil:
		v := tariff.Cost(echo.Usage{In: e.In, Cached: e.Cached, Out: e.Out})
		e.USD = &v
	case model.tokens > 0 && !model.unknown:
		v := model.usd / float64(model.tokens) * float64(e.Tokens())
		e.USD = &v
	}
	return e
}

type tally struct {
	calls   int
	out     int64 // tokens of the answers
	tokens  int64 // in and out
	usd     float64
	unknown bool // what one of them cost is not known
}

// average returns the tokens of an answer, rounded up.
func (t tally) average() int64 { return (t.out + int64(t.calls) - 1) / int64(t.calls) }

func (t tally) plus(r *effect.ModelResponse) tally {
	t.calls++
	t.out += r.Usage.Out
	t.tokens += r.Usage.In + r.Usage.Out
	if r.CostUSD == nil {
		t.unknown = true
		return t
	}
	t.usd += *r.CostUSD
	return t
}

type answerKind struct {
	phase, validator, model string
	purpose                 echo.Purpose
}

func kindOf(req *effect.ModelRequest) answerKind {
	return answerKind{phase: req.Site.Phase, validator: req.Site.Validator, purpose: req.Site.Purpose, model: req.Model}
}

// kindOfEntry is kindOf for a call that is recorded.
func kindOfEntry(e *echo.Entry) answerKind {
	k := answerKind{phase: e.Phase, validator: e.Key.Validator(), purpose: e.Key.Purpose(), model: e.Model}
	if k.validator != "" {
		k.purpose = "" // as the sites of such calls have it
	}
	return k
}
