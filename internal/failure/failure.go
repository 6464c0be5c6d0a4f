// Package failure says what kind of error something is, for whoever chooses an exit code, an HTTP
// status or a next step by it.
//
// Packages below the command and the server return an [*Error] where the kind is known. They name
// neither flags nor requests: the command and the server do, each in a table over the same kinds.
package failure

import (
	"errors"
	"fmt"
)

// Kind says what is wrong. Kinds are stable: clients of the HTTP API and of the library rely on
// them.
type Kind string

// The kinds.
const (
	Failed           Kind = "failed"            // the cascade failed: a phase, a validator; also what has no other kind
	InvalidRequest   Kind = "invalid_request"   // what was asked for makes no sense
	InvalidCascade   Kind = "invalid_cascade"   // the cascade has errors, with their places
	InvalidInput     Kind = "invalid_input"     // the input does not fit the cascade
	InvalidConfig    Kind = "invalid_config"    // windlass.json cannot be used
	UnknownSession   Kind = "unknown_session"   // no such session, or more than one
	UnknownCall      Kind = "unknown_call"      // the session has no such model call
	UnknownMessage   Kind = "unknown_message"   // the session has no such message, or more than one
	NoHandoff        Kind = "no_handoff"        // the session has not begun yet
	SessionExists    Kind = "session_exists"    // the id is taken
	SessionBusy      Kind = "session_busy"      // another process runs the session
	NotResumable     Kind = "not_resumable"     // the session cannot be resumed
	Diverged         Kind = "diverged"          // the run does not follow from its record
	OtherVersion     Kind = "other_version"     // another windlass reads this journal or database
	Damaged          Kind = "damaged"           // a journal is not what was written
	StorageFailed    Kind = "storage_failed"    // a disk, a journal, ClickHouse
	EngineMissing    Kind = "engine_missing"    // the embedded ClickHouse is not installed, and may not be downloaded
	ModelUnavailable Kind = "model_unavailable" // a model cannot be asked: no key, no endpoint, it failed
	OverBudget       Kind = "over_budget"       // a limit of the budget was reached
	Interrupted      Kind = "interrupted"       // the run was interrupted
	Waiting          Kind = "waiting"           // the run waits for an answer that is not there
	UnknownWait      Kind = "unknown_wait"      // no such open wait, or more than one
	LetterTaken      Kind = "letter_taken"      // the id that a client gave a letter is that of another one
	InvalidAnswer    Kind = "invalid_answer"    // the answer does not fit what is asked
	AlreadyAnswered  Kind = "already_answered"  // the wait has an answer, or has ended, or shows something else by now
)

// Error is an error with its kind. It says what its cause says.
type Error struct {
	Kind Kind
	Err  error  // what failed, where and why
	Try  string // the next step, when it is the same for everyone; "": it depends on who asks
}

// Cause is embedded by errors that say what their cause says, and are told apart by their type.
type Cause struct{ Err error } //nolint:errname // a part of errors

// Error returns the text of the cause.
func (c Cause) Error() string { return c.Err.Error() }
func (c Cause) Unwrap() error { return c.Err }

// New returns err with a kind, and with the next step when that does not depend on who asks.
func New(k Kind, err error, try string) *Error { return &Error{Kind: k, Err: err, Try: try} }

// Newf returns an error of a kind with a text.
func Newf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Err: fmt.Errorf(format, args...)}
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost [*Error] in err; [Failed] when there is none, "" for
// nil.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	}
	return Failed
}

// Is reports whether err is of a kind.
func Is(err error, k Kind) bool { return err != nil && KindOf(err) == k }
