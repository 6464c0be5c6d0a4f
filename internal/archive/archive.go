// Package archive finds, lists, sums up, follows, delivers and rebuilds sessions: those with a
// journal on this machine, by that, and those that only a ClickHouse has. It opens no ClickHouse
// itself. Errors have a kind, see package failure, or are what [Database] returns.
package archive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/names"
)

// Database gives do an open ClickHouse, and again when it was lost. Its errors have a kind.
type Database func(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error

// Archive is the sessions of one home folder and of one ClickHouse. It is safe for concurrent use.
type Archive struct {
	Home     string
	Database Database               // nil: only the sessions of this machine
	Address  func() (string, error) // of the database; nil: nothing is delivered or rebuilt
	Engines  Engines                // nil: this process runs none
	Scope    names.Scope            // of the names that sessions are asked for by

	mu   sync.Mutex
	seen map[string]seenJournal // for lists: what was read of journals that did not change since
}

// Engines are the runs of this process.
type Engines interface {
	// Runs reports whether the engine of a session runs in this process.
	Runs(id string) bool
	// Refusal returns why a session could not be resumed when last tried; "" when it could.
	Refusal(id string) string
}

// JournalPath returns the path of a session's journal.
func JournalPath(home, id string) string {
	return filepath.Join(config.SessionDir(home, id), journal.File)
}

func (a *Archive) refusal(id string) string {
	if a.Engines == nil {
		return ""
	}
	return a.Engines.Refusal(id)
}

// ReadError gives the error of a journal that could not be read its kind.
func ReadError(err error) error {
	var damage *journal.DamageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &damage):
		return failure.New(failure.Damaged, err, damage.Try())
	case IsOtherVersion(err):
		return failure.New(failure.OtherVersion, err, "")
	}
	return failure.New(failure.StorageFailed, err, "")
}

// IsOtherVersion reports whether an error says that a journal has another version.
func IsOtherVersion(err error) bool {
	var version *journal.VersionError
	return errors.As(err, &version)
}

// Unreadable is one error for the reasons why journals cannot be read; nil when there is none.
func Unreadable(found []error) error {
	switch len(found) {
	case 0:
		return nil
	case 1:
		return found[0]
	}
	return fmt.Errorf("%d journals cannot be read, the first: %w", len(found), found[0])
}

// Local lists the ids of the sessions that have a journal on this machine.
func Local(home string) ([]string, error) {
	return localWith(home, func(string) bool { return true })
}
