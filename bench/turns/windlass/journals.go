//go:build !journals_alone

package main

import (
	"context"
	"errors"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
)

// journals are those below a home.
type journals struct{ *journal.Store }

func openJournals(home string) journals {
	return journals{journal.NewStore(config.SessionsDir(home), config.CommitDir(home))}
}

// Create makes the journal of a session, also with revisions whose store takes no context.
func (j journals) Create(ctx context.Context, h journal.Header) (*journal.Journal, error) {
	switch store := any(j.Store).(type) {
	case interface {
		Create(ctx context.Context, h journal.Header) (*journal.Journal, error)
	}:
		return store.Create(ctx, h)
	case interface {
		Create(h journal.Header) (*journal.Journal, error)
	}:
		return store.Create(h)
	}
	return nil, errors.ErrUnsupported
}
