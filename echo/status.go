package echo

import (
	"errors"
	"fmt"
	"slices"
)

// Status is how far a run or a phase has come. It is recorded by name; zero is "untouched".
type Status int

// The states; from StatusCompleted on nothing more will happen.
const (
	StatusPending     Status = iota // not begun; set by nobody
	StatusRunning                   // set when it begins
	StatusCompleted                 // it ended well
	StatusFailed                    // it ended badly: a phase, a validator, a tool, the provider
	StatusInterrupted               // the context ended: Ctrl-C, a deadline of the caller
	StatusOverBudget                // a limit of the budget was reached
	StatusWaiting                   // it waits for a person or a signal, and nothing else could go on
)

var statusNames = [...]string{"pending", "running", "completed", "failed", "interrupted", "over_budget", "waiting"}

// String returns the name that is recorded.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return "unknown"
	}
	return statusNames[s]
}

// MarshalText writes the name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *Status) UnmarshalText(text []byte) error {
	i := slices.Index(statusNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("there is no status %q", text)
	}
	*s = Status(i)
	return nil
}

// IsDone reports whether nothing more will happen.
func (s Status) IsDone() bool { return s >= StatusCompleted }

// IsSuccess reports whether it ended well.
func (s Status) IsSuccess() bool { return s == StatusCompleted }

// ended is the check of what records an end.
func (s Status) ended() error {
	switch {
	case s == StatusPending:
		return errors.New("it has no status")
	case !s.IsDone():
		return fmt.Errorf("the status %s is no end", s)
	}
	return nil
}

// StopReason says why a loop ended. Every loop of the engine ends for one of these.
type StopReason string

// The reasons.
const (
	StopAnswered     StopReason = "answered"           // the model answered without calling tools
	StopMaxTurns     StopReason = "max_turns"          // the last turn was used, for an answer without tools
	StopLoopUntil    StopReason = "loop_until"         // the validator passed before the turns were used up
	StopToolResult   StopReason = "tool_result"        // a deterministic phase's tool answered
	StopExhausted    StopReason = "attempts_exhausted" // no attempt passed
	StopEmptyAnswer  StopReason = "empty_answer"       // the model answered without text, and again when it was asked once more
	StopError        StopReason = "error"              // a model call, a tool or a template failed
	StopBudget       StopReason = "budget"             // a limit of the budget was reached
	StopInterrupted  StopReason = "interrupted"        // the context ended
	StopWaiting      StopReason = "waiting"            // an answer is awaited
	StopEndOfCascade StopReason = "end_of_cascade"     // no phase is left to run
	StopVisitLimit   StopReason = "visit_limit"        // a route led to the same phase too often
	StopWard         StopReason = "ward"               // a ward rejected what it saw
	StopItems        StopReason = "items"              // every element of a list has ended
	StopInput        StopReason = "input"              // of a child: its input does not fit its cascade, and it did not begin
)
