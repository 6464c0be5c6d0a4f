package app

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/waits"
)

// After implements [engine.Changes].
func (p *postbox) After(_ context.Context, number int) (*echo.ViewChange, error) {
	return changesOf(p.desk.Home, p.run.ID()).After(number)
}

func changesOf(home, session string) mailbox.Changes {
	return mailbox.Changes{Box: waits.Box(home, session)}
}

// copyChanges has a fork take what persons have taken out of the views of the session that it comes from, of messages that it has:
// what it says anew is another message, also where the words are the same.
func copyChanges(home, from string, entries []*echo.Entry, to string) error {
	all, err := changesOf(home, from).All()
	if err != nil {
		return failure.New(failure.Damaged, fmt.Errorf("session %s: what persons have taken out of its context: %w", from, err), "")
	}
	had := spotsOf(entries)
	for _, c := range all {
		mine := *c
		mine.Messages = nil
		for _, at := range c.Messages {
			if had[at] {
				mine.Messages = append(mine.Messages, at)
			}
		}
		if err := changesOf(home, to).Change(&mine); err != nil {
			return diskError(err)
		}
	}
	return nil
}

// spotsOf returns the messages of a session.
func spotsOf(entries []*echo.Entry) map[echo.Spot]bool {
	out := map[echo.Spot]bool{}
	for _, visit := range record.Records(record.Of(entries)) {
		spots := echo.Spots(visit.Name, visit.Visit, visit.History)
		for _, at := range append(spots, echo.SpotsBefore(visit.Name, visit.Visit, visit.History)...) {
			out[at] = true
		}
	}
	return out
}
