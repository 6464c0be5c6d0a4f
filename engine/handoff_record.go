package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
)

// lookLimit is how long reading the files may take. It holds also when the run's context has ended.
const lookLimit = time.Second

// ownRecord is the record of a run as the run itself folds it. Any goroutine may add an entry; the run's goroutine folds them
// when it needs the result. The mutex guards new.
type ownRecord struct {
	mu   sync.Mutex
	new  []*echo.Entry // that are not folded yet
	fold *record.Fold  // owned by the run's goroutine
}

func newOwnRecord(past []*echo.Entry) *ownRecord {
	return &ownRecord{new: slices.Clip(past), fold: record.New()}
}

func (o *ownRecord) add(e *echo.Entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.new = append(o.new, e)
}

// now returns the fold of all that is recorded.
func (o *ownRecord) now() *record.Fold {
	o.mu.Lock()
	entries := o.new
	o.new = nil
	o.mu.Unlock()
	for _, e := range entries {
		o.fold.Add(e)
	}
	return o.fold
}

// handOff records how far the run has come at the end of a visit. end is the entry of that end, which is recorded next: a run
// that resumes sets aside a handoff and the ends after it.
func (v *visit) handOff(ctx context.Context, end *echo.Entry, err error) error {
	key := v.at(echo.StepHandoff)
	_, _, failed := reading[echo.Handoff](ctx, v.rec, key, v.place(), func() echo.Payload {
		p := progressOf(v.own.now(), v.cascade, &echo.Entry{NodeType: echo.NodeHandoff, Key: key}, end)
		if err != nil || v.touched {
			p.read(ctx, v.run)
		}
		return *p.handoff()
	})
	return failed
}

// read takes a new reading of the files, if there is one.
func (p *progress) read(ctx context.Context, r *run) {
	if r.Workspace == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
	defer cancel()
	if files := r.Workspace(ctx); files != nil {
		p.files = files
	}
}

// HandoffOf says how far a recorded run has come. It needs no recorded handoff, so there is one for a process that died, too.
// What it says of the files is what was read last. A handoff that is recorded is what this returns for the record up to the
// end of its phase.
func HandoffOf(entries []*echo.Entry) (*echo.Handoff, error) {
	if len(entries) == 0 {
		return nil, errors.New("the session has no entries yet")
	}
	f := record.Of(entries)
	return progressOf(f, recordedCascade(f)).handoff(), nil
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
