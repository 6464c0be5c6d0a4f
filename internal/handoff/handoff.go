// Package handoff reports how far a run has come: a [echo.Handoff] and its text, computed from the
// record alone.
//
// handoff.go is what others call. progress.go collects what there is to say, checklist.go finds
// checklists and decisions in what models wrote, fit.go cuts everything to the size of a handoff,
// markdown.go writes the text.
package handoff

import (
	"encoding/json"
	"errors"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
)

// MaxSize is how many bytes the text of a handoff may have.
const MaxSize = 8000

// Of reports how far a recorded run has come, as a handoff recorded at that point does.
func Of(entries []*echo.Entry) (*echo.Handoff, error) {
	if len(entries) == 0 {
		return nil, errors.New("the session has no entries yet")
	}
	f := record.Of(entries)
	return FromFold(f, recordedCascade(f), nil), nil
}

// Without is [Of] without what persons have taken out of the context, also what no run has taken yet.
func Without(entries []*echo.Entry, taken *echo.Withdrawals) (*echo.Handoff, error) {
	if len(entries) == 0 {
		return Of(entries)
	}
	f := record.Of(entries)
	record.Withdraw(f, taken)
	return FromFold(f, recordedCascade(f), nil), nil
}

// FromFold reports how far a run has come, with entries about to be recorded. files nil: the
// newest recorded; c nil: what follows is not known.
func FromFold(f *record.Fold, c *cascade.Cascade, files *echo.Workspace, soon ...*echo.Entry) *echo.Handoff {
	p := progressOf(f, c, soon...)
	if files != nil {
		p.files = files
	}
	return p.handoff()
}

// recordedCascade returns the cascade that a run was begun with, nil when it is not recorded.
func recordedCascade(f *record.Fold) *cascade.Cascade {
	start := f.Start()
	if start == nil {
		return nil
	}
	h, err := journal.HeaderOf(start)
	var c cascade.Cascade
	if err != nil || json.Unmarshal(h.Cascade, &c) != nil || len(c.Phases) == 0 {
		return nil
	}
	return &c
}
