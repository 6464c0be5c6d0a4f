//go:build journals_alone

package main

import (
	"context"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
)

// alone are the journals of revisions without a commit log, which `make bench BEFORE=REVISION` builds with the tag journals_alone.
type alone struct{ home string }

func openJournals(home string) alone { return alone{home} }

// Create makes the journal of a session.
func (a alone) Create(_ context.Context, h journal.Header) (*journal.Journal, error) {
	return journal.Create(config.SessionDir(a.home, h.SessionID), h)
}

// Close has nothing to close.
func (alone) Close() error { return nil }
