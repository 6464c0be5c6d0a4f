// Package exit ends the command: the exit code of each kind of error, what went wrong in the words of the
// command line, and what a person can try next.
package exit

import (
	"cmp"
	"errors"

	"github.com/windlass-run/windlass/internal/failure"
)

// The exit codes. They are part of the command's contract: docs/cli.md lists them.
const (
	OK          = 0
	Failed      = 1 // the cascade failed: a phase, a validator
	Usage       = 2 // wrong usage
	Invalid     = 3 // the cascade file is invalid
	Provider    = 4 // the provider failed
	Budget      = 5 // a budget was reached
	Storage     = 6 // storage or engine not available where it was asked for
	Waiting     = 7 // the run waits for an answer
	Interrupted = 130
)

// codes gives each kind of failure its exit code.
var codes = map[failure.Kind]int{
	failure.Failed:           Failed,
	failure.InvalidRequest:   Usage,
	failure.InvalidCascade:   Invalid,
	failure.InvalidInput:     Usage,
	failure.InvalidConfig:    Usage,
	failure.UnknownSession:   Usage,
	failure.UnknownCall:      Usage,
	failure.UnknownMessage:   Usage,
	failure.NoHandoff:        Usage,
	failure.SessionExists:    Usage,
	failure.SessionBusy:      Usage,
	failure.NotResumable:     Usage,
	failure.Diverged:         Failed,
	failure.OtherVersion:     Storage,
	failure.Damaged:          Storage,
	failure.StorageFailed:    Storage,
	failure.EngineMissing:    Storage,
	failure.ModelUnavailable: Provider,
	failure.OverBudget:       Budget,
	failure.Interrupted:      Interrupted,
	failure.Waiting:          Waiting,
	failure.UnknownWait:      Usage,
	failure.InvalidAnswer:    Usage,
	failure.AlreadyAnswered:  Failed,
	failure.LetterTaken:      Failed,
}

// Of gives an error that has no exit code yet that of its kind.
func Of(err error) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	if f, ok := errors.AsType[*failure.Error](err); ok {
		return With(codes[f.Kind], inFlags(err), cmp.Or(hintFor(err), f.Try, hints[f.Kind]))
	}
	return With(Failed, err, "")
}

// Error is an error with the exit code it ends the process with and, mostly, what to try next.
type Error struct {
	Code   int
	Err    error
	Hint   string
	Silent bool // already shown
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its exit code.
func (e *Error) Unwrap() error { return e.Err }

// With gives err an exit code and what to try next; "" for nothing.
func With(code int, err error, hint string) error {
	return &Error{Code: code, Err: err, Hint: hint}
}

// UsageError is an error of who typed the command line, with what to type instead.
func UsageError(err error, hint string) error { return With(Usage, err, hint) }

// Shown gives an error that has been shown already its exit code.
func Shown(code int, err error) error { return &Error{Code: code, Err: err, Silent: true} }

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = errors.New("interrupted")
