package app

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
)

// SessionIDError says that a text cannot be the id of a session.
type SessionIDError struct{ ID string }

func (e *SessionIDError) Error() string {
	return fmt.Sprintf("session id %q: use up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit", e.ID)
}

// ReservedIDError says that a text cannot be the id of a session because commands take it for
// another one.
type ReservedIDError struct{ ID string }

func (e *ReservedIDError) Error() string {
	return fmt.Sprintf("session id %q: commands use this name for the newest session", e.ID)
}

// NoModelError says that nothing names a model for a phase.
type NoModelError struct{ File string }

func (e *NoModelError) Error() string {
	return fmt.Sprintf("no model: %s names none, and neither WINDLASS_MODEL nor windlass.json does", e.File)
}

// UnknownPhaseError says that a model is named for a phase that the cascade does not have.
type UnknownPhaseError struct{ Phase, Model, File string }

func (e *UnknownPhaseError) Error() string {
	return fmt.Sprintf("model %q is named for the phase %q, and the cascade has no phase %q", e.Model, e.Phase, e.Phase)
}

// NoScriptError says that an offline run has no script to answer from, and where it was looked for.
type NoScriptError struct{ failure.Cause }

// ToolsError says that the tools of a run cannot be made: a folder that is not there, or a declared
// tool that cannot be used.
type ToolsError struct{ failure.Cause }

// ResumeError says that a session cannot be resumed, see [engine.NotResumableError].
type ResumeError struct {
	SessionID string
	Err       error
}

func (e *ResumeError) Error() string { return fmt.Sprintf("session %s: %v", e.SessionID, e.Err) }
func (e *ResumeError) Unwrap() error { return e.Err }

// HalfForkError says that a fork cannot be resumed because it does not have all that it was to have
// of its parent.
type HalfForkError struct {
	SessionID, Parent string
	ParentSeq         uint64
	Missing           int
}

func (e *HalfForkError) Error() string {
	return fmt.Sprintf("session %s: its process died before the fork of %s was whole: %s of %d are missing",
		e.SessionID, e.Parent, quantity.Of(e.Missing, "entry"), e.ParentSeq)
}

// ForkPointError says that a session cannot be forked after an entry: there is no such entry, or
// nothing follows from there.
type ForkPointError struct {
	Parent  string
	Seq     uint64
	Entries int   // of the parent
	Err     error // nil: there is no such entry
}

func (e *ForkPointError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("session %s has no entry %d: it has %d", e.Parent, e.Seq, e.Entries)
	}
	return fmt.Sprintf("entry %d of session %s: %v", e.Seq, e.Parent, e.Err)
}

func (e *ForkPointError) Unwrap() error { return e.Err }

// MissingToolsError says that a session cannot be run again without tools that a program gave it.
type MissingToolsError struct {
	SessionID string
	Tools     []string // at least one
}

func (e *MissingToolsError) Error() string {
	list := make([]string, len(e.Tools))
	for i, name := range e.Tools {
		list[i] = strconv.Quote(name)
	}
	what := "tool " + list[0] + ", which is"
	if len(list) > 1 {
		what = "tools " + strings.Join(list, ", ") + ", which are"
	}
	return fmt.Sprintf("session %s: its cascade names the %s neither built in, nor declared, nor given", e.SessionID, what)
}

// HeaderError says that a session cannot be run again, because this windlass cannot use what its
// header says.
type HeaderError struct{ failure.Cause }

func headerError(format string, args ...any) error {
	return failure.New(failure.OtherVersion, &HeaderError{failure.Cause{Err: fmt.Errorf(format, args...)}}, "")
}

// tryDisk is the next step when a session's folder cannot be written.
const tryDisk = "free space, or set WINDLASS_HOME to a folder on another disk"

func diskError(err error) error { return failure.New(failure.StorageFailed, err, tryDisk) }

// storeError is the error of a store that could not restore sessions, or not begin.
func storeError(err error) error {
	var folder *journal.CommitFolderError
	if errors.As(err, &folder) {
		return failure.New(failure.StorageFailed, err, folder.Try())
	}
	return diskError(err)
}

// JournalError gives the error of a session's journal, which could not be opened or read, its kind.
func JournalError(id string, err error) error {
	var damage *journal.DamageError
	var version *journal.VersionError
	var folder *journal.CommitFolderError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return failure.Newf(failure.UnknownSession, "no session %q on this machine", id)
	case errors.Is(err, journal.ErrBusy):
		return failure.New(failure.SessionBusy, err, "")
	case errors.As(err, &damage):
		return failure.New(failure.Damaged, err, damage.Try())
	case errors.As(err, &version):
		return failure.New(failure.OtherVersion, err, "") // it says itself what to do
	case errors.As(err, &folder):
		return failure.New(failure.StorageFailed, err, folder.Try())
	}
	return failure.New(failure.StorageFailed, err, "")
}

// endError gives the error that ended a run its kind. A run that failed of a child which could not ask
// a model has failed of that, too.
func endError(res *engine.Result, c *children, err error) error {
	var model *effect.ModelError
	var child *engine.ChildError
	var over *budget.Error
	var differs *effect.DivergenceError
	var record *effect.RecordError
	kind := failure.Failed
	switch {
	case err == nil:
		return nil
	case errors.As(err, &differs):
		kind = failure.Diverged
	case errors.As(err, &record):
		kind = failure.StorageFailed
	case res.Status == echo.StatusInterrupted:
		kind = failure.Interrupted
	case res.Status == echo.StatusWaiting:
		kind = failure.Waiting
	case errors.As(err, &over):
		kind = failure.OverBudget
	case errors.As(err, &model):
		return cards.ModelError(err)
	case errors.As(err, &child):
		kind, try := c.failedOf(child.Session)
		return failure.New(kind, err, try)
	}
	return failure.New(kind, err, "")
}
