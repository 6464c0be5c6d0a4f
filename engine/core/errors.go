package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
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
	Cause   error // of a tool that is a cascade: how that ended; nil: of another tool
}

// Unwrap returns the cause: where a model could not be reached the run can be resumed.
func (e *ToolError) Unwrap() error { return e.Cause }

func (e *ToolError) Error() string {
	if e.Tool == waiting.ToolAny { // which no author has named
		return "wait failed: " + e.Message
	}
	return fmt.Sprintf("tool %s failed: %s", e.Tool, e.Message)
}

// VerdictError is an answer that no attempt got past the checks.
type VerdictError struct {
	Check    string // output_schema or the validator
	Attempts int
	Reason   string // of the last verdict
	Cause    error  // why the validator of the last verdict could not run; nil: it could
}

// Unwrap returns the cause: where a model could not be reached the run can be resumed.
func (e *VerdictError) Unwrap() error { return e.Cause }

func (e *VerdictError) Error() string {
	return fmt.Sprintf("no answer passed %s in %s: %s", e.Check, quantity.Of(e.Attempts, "attempt"), excerpt.Of(e.Reason))
}

// WardError is a ward that has rejected what it saw.
type WardError struct {
	Validator string
	Moment    string // pre, turn or post
	Subject   string // what it saw: input, answer or output
	Times     int    // how often it has rejected that: more than once where it was given further attempts
	Reason    string
	Cause     error // why it could not run; nil: it could
}

func (e *WardError) Error() string {
	times := ""
	if e.Times > 1 {
		times = fmt.Sprintf(" %d times", e.Times)
	}
	return fmt.Sprintf("ward %s (%s) rejected the %s%s: %s", e.Validator, e.Moment, e.Subject, times, excerpt.End(e.Reason))
}

// Unwrap returns the cause: where a model could not be reached the run can be resumed.
func (e *WardError) Unwrap() error { return e.Cause }

// EmptyAnswerError is an answer without text, to a phase or an aggregator that was asked for one once more
// already.
type EmptyAnswerError struct {
	Why    string // of the second one
	Remedy string // what can be done about it; "": what can be done in a phase
}

func (e *EmptyAnswerError) Error() string {
	return "the answer is empty in 2 attempts: " + e.Why
}

// Try says what can be done about it.
func (e *EmptyAnswerError) Try() string {
	return cmp.Or(e.Remedy, "a model that answers in text, or more output tokens if it was cut off; "+
		`"rules": {"allow_empty": true} takes an empty answer`)
}

// Classify maps an error that ended a phase or run. A failure outranks the end of the context.
func Classify(err error) (echo.Status, echo.StopReason) {
	var phase *PhaseError
	switch {
	case err == nil:
		return echo.StatusCompleted, echo.StopEndOfCascade
	case OverBudget(err):
		return echo.StatusOverBudget, echo.StopBudget
	case EndedByContext(err):
		return echo.StatusInterrupted, echo.StopInterrupted
	case effect.IsWaiting(err):
		return echo.StatusWaiting, echo.StopWaiting
	case errors.As(err, &phase):
		return echo.StatusFailed, phase.Reason
	default:
		return echo.StatusFailed, echo.StopError
	}
}

// EndedByContext reports whether a context's end is the cause, not a model call's own timeout.
func EndedByContext(err error) bool {
	var me *effect.ModelError
	return !errors.As(err, &me) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// Recoverable reports whether a run can go on after an error: on_error applies.
func Recoverable(err error) bool {
	return !effect.IsRecordError(err) && !OverBudget(err) && !EndedByContext(err) && !effect.IsWaiting(err)
}

// OverBudget reports whether a limit is why a run ends.
func OverBudget(err error) bool { return errors.As(err, new(*budget.Error)) }

// CandidatesError is a phase all of whose candidates have failed.
type CandidatesError struct {
	Errs []error // by the numbers of the candidates
}

// Error says each reason once, with the candidates that failed for it.
func (e *CandidatesError) Error() string {
	var reasons []string
	numbers := map[string][]string{}
	for i, err := range e.Errs {
		why := reasonOf(err)
		if numbers[why] == nil {
			reasons = append(reasons, why)
		}
		numbers[why] = append(numbers[why], strconv.Itoa(i+1))
	}
	for i, why := range reasons {
		switch of := numbers[why]; {
		case len(of) == 1:
			reasons[i] = fmt.Sprintf("%s (candidate %s)", why, of[0])
		case len(reasons) == 1:
			reasons[i] = fmt.Sprintf("%s (%d times)", why, len(of))
		default:
			reasons[i] = fmt.Sprintf("%s (candidates %s)", why, strings.Join(of, ", "))
		}
	}
	return fmt.Sprintf("all %s failed: %s", quantity.Of(len(e.Errs), "candidate"), strings.Join(reasons, "; "))
}

// reasonOf says why a candidate failed, without its place.
func reasonOf(err error) string {
	var phase *PhaseError
	var cascade interface{ Ended() string }
	switch {
	case errors.As(err, &phase):
		return phase.Err.Error()
	case errors.As(err, &cascade):
		return "the cascade " + cascade.Ended()
	}
	return err.Error()
}

// Unwrap returns why each has failed: where a model could not be reached the run can be resumed.
func (e *CandidatesError) Unwrap() []error { return e.Errs }
