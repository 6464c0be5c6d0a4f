package frozen

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/snapshot"
)

// NotEndedError says that a session did not come to an end of its own.
type NotEndedError struct {
	SessionID string
	Status    echo.Status
}

func (e *NotEndedError) Error() string {
	if e.Status == echo.StatusRunning {
		return fmt.Sprintf("session %s has not ended: it runs, or its process died. There is nothing to freeze yet", e.SessionID)
	}
	return fmt.Sprintf("session %s is %s: what it would have come to is not known", e.SessionID, e.Status)
}

// ExistsError says that there is a test of this name.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return fmt.Sprintf("there is a test %s already", e.Path) }

func existsError(path string) error {
	return failure.New(failure.InvalidRequest, &ExistsError{path}, "")
}

// WriteError says that the test cannot be written to its folder.
type WriteError struct{ error }

func (e *WriteError) Unwrap() error { return e.error }

// OriginError says that what the session came from cannot be run by this windlass.
type OriginError struct{ error }

func (e *OriginError) Unwrap() error { return e.error }

// VariableError says why the value of a variable cannot be kept.
type VariableError struct {
	Name    string
	Granted bool // the run was granted it, and it is not set now
}

func (e *VariableError) Error() string {
	if e.Granted {
		return e.Name + ": it is not set"
	}
	return e.Name + ": the run was not granted a variable of this name"
}

// CascadeProblem is what is wrong with the file of a test's cascade.
type CascadeProblem int

// The problems.
const (
	NoCascadeFile      CascadeProblem = iota // the cascade came from standard input
	UnreadableCascade                        // it is not where it was, or cannot be read
	UnreachableCascade                       // no relative path leads to it from the test
)

// CascadeError says what is wrong with the file of a test's cascade.
type CascadeError struct {
	error
	Problem CascadeProblem
}

func (e *CascadeError) Unwrap() error { return e.error }

func cascadeError(p CascadeProblem, format string, args ...any) error {
	return failure.New(failure.InvalidRequest, &CascadeError{fmt.Errorf(format, args...), p}, "")
}

// RedactedError says that a session does not come to what is recorded without what was taken out of it.
type RedactedError struct {
	SessionID  string
	Judges     bool // replies of judges are redacted
	Unfaithful *snapshot.UnfaithfulError
}

func (e *RedactedError) Error() string {
	why := "without what was taken out it does not come to what is recorded"
	if e.Judges {
		why = "its judging cannot be played again without the replies of judges that were taken out"
	}
	return fmt.Sprintf("session %s cannot be frozen: it is redacted, and %s:\n%s", e.SessionID, why, e.Unfaithful)
}

func (e *RedactedError) Unwrap() error { return e.Unfaithful }

// unfaithfulError says of a session why it cannot be frozen.
func unfaithfulError(rec *journal.Recording, found *snapshot.UnfaithfulError) error {
	id := rec.Header.SessionID
	if len(rec.Header.Redactions) == 0 {
		return fmt.Errorf("session %s cannot be frozen: run again with its answers it does not come to what is recorded:\n%w", id, found)
	}
	return failure.New(failure.Failed, &RedactedError{id, slices.ContainsFunc(record.Counted(rec.Entries), isRedactedReply), found},
		"run the cascade again, and freeze the new session before anything of it is redacted")
}

// isRedactedReply reports whether an entry is a reply of a judge that something was taken out of.
func isRedactedReply(e *echo.Entry) bool {
	return e.NodeType == echo.NodeModelCall && e.Key.Purpose() == echo.PurposeJudge && e.Message != nil && e.Message.Redacted() != nil
}
