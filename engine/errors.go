package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// PhaseError is a phase that ended badly, with its place in the run.
type PhaseError struct {
	Site   effect.Site
	Reason echo.StopReason
	Err    error
}

func (e *PhaseError) Error() string { return e.Site.String() + ": " + e.Err.Error() }

func (e *PhaseError) Unwrap() error { return e.Err }

// ToolError is a deterministic phase's tool that failed, or a tool that could not be run at all.
type ToolError struct {
	Tool    string
	Kind    string
	Message string
}

func (e *ToolError) Error() string { return fmt.Sprintf("tool %s failed: %s", e.Tool, e.Message) }

// VerdictError is an answer that no attempt got past the checks.
type VerdictError struct {
	Check    string // output_schema or the validator
	Attempts int
	Reason   string // of the last verdict
}

func (e *VerdictError) Error() string {
	return fmt.Sprintf("no answer passed %s in %s: %s", e.Check, quantity.Of(e.Attempts, "attempt"), excerpt.Of(e.Reason))
}

// EmptyAnswerError is an answer without text to a phase that was asked for one once more already.
type EmptyAnswerError struct {
	Why string // of the second one
}

func (e *EmptyAnswerError) Error() string {
	return "the answer is empty in 2 attempts: " + e.Why
}

// Try says what can be done about it.
func (e *EmptyAnswerError) Try() string {
	return "a model that answers in text, or more output tokens if it was cut off; " +
		`"rules": {"allow_empty": true} takes an empty answer`
}

// classify maps an error that ended a phase or run. A failure outranks the end of the context.
func classify(err error) (echo.Status, echo.StopReason) {
	var over *budget.Error
	var phase *PhaseError
	switch {
	case err == nil:
		return echo.StatusCompleted, echo.StopEndOfCascade
	case errors.As(err, &over):
		return echo.StatusOverBudget, echo.StopBudget
	case endedByContext(err):
		return echo.StatusInterrupted, echo.StopInterrupted
	case errors.As(err, &phase):
		return echo.StatusFailed, phase.Reason
	default:
		return echo.StatusFailed, echo.StopError
	}
}

// endedByContext reports whether a context's end is the cause, not a model call's own timeout.
func endedByContext(err error) bool {
	var me *effect.ModelError
	return !errors.As(err, &me) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
