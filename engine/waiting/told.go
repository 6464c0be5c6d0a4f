package waiting

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// Told returns what a model is told of how its wait ended. Nobody having answered is a failure of the call.
func Told(w *echo.Wait, a *echo.Answer) (text string, failed bool) {
	switch {
	case a.TimedOut && w.Kind == echo.WaitSignal:
		return fmt.Sprintf(`{"_route": "timeout", "signal_name": %s}`, quoted(w.Signal)), false
	case a.TimedOut:
		return "Nobody has answered in time. Go on with what you know, and say what you have assumed.", true
	case w.Kind == echo.WaitSignal:
		return fmt.Sprintf(`{"_route": "fired", "signal_name": %s, "payload": %s}`, quoted(w.Signal), asJSON(a.Value)), false
	}
	return echo.AsText(a.Value), false
}

// Denied is the result of a call that was not allowed.
func Denied(tool, reason string) string {
	return fmt.Sprintf("%s did not run: a person has not allowed it. %s", tool, cmp.Or(strings.TrimSpace(reason), "No reason was given."))
}

// Edited tells a model that a call has run with other arguments than its own.
func Edited(tool, args string) string {
	return fmt.Sprintf("A person has changed the arguments of %s before it ran: %s", tool, args)
}

func quoted(s string) string { return string(echo.AppendString(nil, s)) }

func asJSON(v any) string {
	switch s := v.(type) {
	case nil:
		return "null"
	case string:
		return quoted(s)
	}
	return echo.AsText(v)
}

// TimeoutError is a wait that nobody has answered in time, where the phase fails then.
type TimeoutError struct {
	Asked   string  // the question
	Seconds float64 // that were given
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("nobody has answered %q within %g seconds, and on_timeout is fail", excerpt.Line(e.Asked, 80), e.Seconds)
}

// Settled returns what a phase takes of how its human_input ended, and what stands in its history. The error is
// a [*TimeoutError].
func Settled(w *echo.Wait, a *echo.Answer) (value any, told string, err error) {
	switch {
	case !a.TimedOut:
		return a.Value, fmt.Sprintf("A person was asked: %s\nThe answer: %s", w.Form.Question, echo.AsText(a.Value)), nil
	case w.Expiry == echo.TimeoutFail:
		return nil, "", &TimeoutError{Asked: w.Form.Question, Seconds: w.Timeout}
	case w.Expiry == echo.TimeoutDefault:
		return w.Default, fmt.Sprintf("A person was asked: %s\nNobody has answered in time. The default is taken: %s", w.Form.Question, echo.AsText(w.Default)), nil
	}
	return nil, fmt.Sprintf("A person was asked: %s\nNobody has answered in time.", w.Form.Question), nil
}
