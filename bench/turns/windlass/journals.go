//go:build !journals_alone

package main

import (
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
)

// openJournals returns the journals below a home.
func openJournals(home string) *journal.Store {
	return journal.NewStore(config.SessionsDir(home), config.CommitDir(home))
}
