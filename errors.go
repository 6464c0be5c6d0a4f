package windlass

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/schema"
)

// Error is an error with its kind. It has these fields:
//
//	Kind Kind   // what is wrong
//	Err  error  // what failed, where and why; Error returns its text, Unwrap returns it
//	Try  string // the next step; "": there is none that would be right for everyone
type Error = failure.Error

// Kind says what is wrong. Kinds are stable strings: the HTTP API has the same ones.
type Kind = failure.Kind

// The kinds of errors.
const (
	Failed           = failure.Failed           // the cascade failed: a phase, a validator; also what has no other kind
	InvalidRequest   = failure.InvalidRequest   // what was asked for makes no sense
	InvalidCascade   = failure.InvalidCascade   // the cascade has errors: a *cascade.InvalidError has their places
	InvalidInput     = failure.InvalidInput     // the input does not fit the cascade: an *InputError says where, but for lists of for_each
	InvalidConfig    = failure.InvalidConfig    // windlass.json, or what the environment says, cannot be used
	UnknownSession   = failure.UnknownSession   // no such session, or more than one
	UnknownCall      = failure.UnknownCall      // the session has no such model call
	UnknownMessage   = failure.UnknownMessage   // the session has no such message, or more than one
	NoHandoff        = failure.NoHandoff        // the session has not begun yet
	SessionExists    = failure.SessionExists    // the id is taken
	SessionBusy      = failure.SessionBusy      // the session runs already, here or in another process
	NotResumable     = failure.NotResumable     // the session cannot be resumed
	Diverged         = failure.Diverged         // the run does not follow from its record
	OtherVersion     = failure.OtherVersion     // another windlass reads this journal or database
	Damaged          = failure.Damaged          // a journal is not what was written
	StorageFailed    = failure.StorageFailed    // a disk, a journal, ClickHouse
	EngineMissing    = failure.EngineMissing    // the embedded ClickHouse is not on this machine, or cannot be run
	ModelUnavailable = failure.ModelUnavailable // a model cannot be asked: no key, no endpoint, it failed
	OverBudget       = failure.OverBudget       // a limit of the budget was reached
	Interrupted      = failure.Interrupted      // the run was interrupted, or the context of what was asked ended
)

// KindOf returns the kind of an error of this package; [Failed] for another error, "" for nil.
func KindOf(err error) Kind { return failure.KindOf(err) }

// InputError says what of an input does not fit the cascade.
type InputError struct {
	File       string             // of the cascade
	Violations []schema.Violation // at least one
}

// Error lists the violations.
func (e *InputError) Error() string {
	lines := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		lines[i] = v.String()
	}
	return fmt.Sprintf("the input does not fit %s: %s", e.File, strings.Join(lines, "; "))
}

func engineMissing(err error) error {
	return failure.New(EngineMissing, err,
		"Options.Fetch downloads the engine, Options.Executable names the command windlass; or Options.DSN for a server, Options.NoClickHouse for journals only")
}

// dsnError gives what is wrong with a DSN its kind.
func dsnError(err error, given bool) error {
	kind := InvalidConfig
	if given {
		kind = InvalidRequest
	}
	if err == nil {
		return nil
	}
	return failure.New(kind, err, "a DSN as clickhouse://user:password@host:9000/database")
}

func invalid(format string, args ...any) error { return failure.Newf(InvalidRequest, format, args...) }

// explain gives an error a kind, and the next step in the words of this package.
func explain(err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return failure.New(Interrupted, err, "")
	default:
		return failure.New(Failed, err, "")
	}
	if try := next(err); e.Try == "" && try != "" {
		return failure.New(e.Kind, err, try)
	}
	return err
}

// next returns what a program can do about an error; "": there is nothing that would be right for
// every program.
func next(err error) string {
	var (
		model  *app.NoModelError
		script *app.NoScriptError
		folder *tool.FolderError
		taken  *tool.TakenError
		tools  *app.ToolsError
		lacks  *app.MissingToolsError
		resume *app.ResumeError
		header *app.HeaderError
	)
	switch {
	case errors.As(err, &model):
		return "WithModel names a model, WithProvider gives one, WithOffline has the script beside the file answer"
	case errors.As(err, &script):
		return "write the script, which docs/models.md describes, or leave WithOffline out"
	case errors.As(err, &folder):
		return "WithRoots with a folder that exists"
	case errors.As(err, &taken):
		return "give the tool a name of its own"
	case errors.As(err, &tools):
		return "docs/tools.md describes what tools need"
	case errors.As(err, &lacks):
		return "give it with WithTool, as the program did that began the session"
	case errors.As(err, &resume):
		return "Fork continues from an entry of it, in a new session"
	case errors.As(err, &header):
		return "the version of windlass that began the session"
	}
	switch KindOf(err) {
	case SessionExists:
		return "another WithSessionID, or none for a new one"
	case SessionBusy:
		return "wait for its end"
	case ModelUnavailable:
		return "docs/models.md says how models are reached"
	}
	return ""
}
