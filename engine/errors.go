package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/quantity"
)

// PhaseError is a phase that ended badly, with its place in the run.
type PhaseError struct {
	Site   effect.Site
	Reason echo.StopReason
	Err    error
}

// Error names the place and the cause.
func (e *PhaseError) Error() string { return e.Site.String() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *PhaseError) Unwrap() error { return e.Err }

// The limits of a budget.
const (
	LimitUSD     = "max_usd"
	LimitTokens  = "max_tokens"
	LimitSeconds = "max_seconds"
)

// BudgetError is a limit that was reached, or that the next call would exceed.
type BudgetError struct {
	Limit string // LimitUSD, LimitTokens or LimitSeconds
	Used  float64
	Max   float64
	Next  *Estimate // what the next call would take
	Cause string    // instead of a comparison: why the limit cannot be kept
}

// Error says which limit was reached, what was used, and what the next call would take.
func (e *BudgetError) Error() string {
	if e.Cause != "" {
		return fmt.Sprintf("budget %s %s cannot be kept: %s", e.Limit, amount(e.Limit, e.Max), e.Cause)
	}
	figures := fmt.Sprintf("%s is %s, used %s", e.Limit, amount(e.Limit, e.Max), amount(e.Limit, e.Used))
	switch {
	case e.Next == nil:
		return "budget reached: " + figures
	case e.Used < e.Max:
		return fmt.Sprintf("the next call would exceed the budget: %s; the call is estimated at %s", figures, e.Next)
	default:
		return fmt.Sprintf("budget reached: %s; the next call is estimated at %s", figures, e.Next)
	}
}

// Enough returns a limit, as it is written, under which the run can go on for a while: twice as high, or twice what is used
// with the next call if that is more. "0", which is no limit, when it cannot be kept at any height.
func (e *BudgetError) Enough() string {
	if e.Cause != "" {
		return "0"
	}
	return roundUp(2 * max(e.Max, e.Used+e.nextTakes()))
}

// nextTakes returns what the next call would take of what is limited, as far as that is known.
func (e *BudgetError) nextTakes() float64 {
	switch {
	case e.Next == nil:
		return 0
	case e.Limit == LimitUSD && e.Next.USD != nil:
		return *e.Next.USD
	case e.Limit == LimitTokens:
		return float64(e.Next.Tokens())
	default:
		return 0
	}
}

func amount(limit string, v float64) string {
	switch limit {
	case LimitUSD:
		return dollars(v)
	case LimitSeconds:
		return fmt.Sprintf("%.1f s", v)
	default:
		return fmt.Sprintf("%.0f tokens", v)
	}
}

// ToolError is a deterministic phase's tool that failed, or a tool that could not be run at all.
type ToolError struct {
	Tool    string
	Kind    string
	Message string
}

// Error says which tool failed and what it said.
func (e *ToolError) Error() string { return fmt.Sprintf("tool %s failed: %s", e.Tool, e.Message) }

// VerdictError is an answer that no attempt got past the checks.
type VerdictError struct {
	Check    string // output_schema or the validator
	Attempts int
	Reason   string // of the last verdict
}

// Error says what did not pass and why.
func (e *VerdictError) Error() string {
	return fmt.Sprintf("no answer passed %s in %s: %s", e.Check, plural(e.Attempts, "attempt"), excerpt(e.Reason))
}

func plural(n int, noun string) string { return quantity.Of(n, noun) }

// classify maps the error that ended a phase or a run to a status and a reason. A failure of its own outranks the
// context that ended at the same time.
func classify(err error) (echo.Status, echo.StopReason) {
	var budget *BudgetError
	var phase *PhaseError
	switch {
	case err == nil:
		return echo.StatusCompleted, echo.StopEndOfCascade
	case errors.As(err, &budget):
		return echo.StatusOverBudget, echo.StopBudget
	case endedByContext(err):
		return echo.StatusInterrupted, echo.StopInterrupted
	case errors.As(err, &phase):
		return echo.StatusFailed, phase.Reason
	default:
		return echo.StatusFailed, echo.StopError
	}
}

// endedByContext reports whether the end of a context is the cause. A model call that timed out on its own is not.
func endedByContext(err error) bool {
	var me *effect.ModelError
	return !errors.As(err, &me) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
