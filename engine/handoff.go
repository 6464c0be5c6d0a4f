package engine

import (
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/handoff"
)

// lookLimit is how long reading the files may take, also after the run's context.
const lookLimit = time.Second

// ownRecord is the run's record as it folds it. Any goroutine may add entries; the mutex guards
// new.
type ownRecord struct {
	mu   sync.Mutex
	new  []*echo.Entry // that are not folded yet
	fold *record.Fold  // owned by the run's goroutine
}

func (o *ownRecord) add(e *echo.Entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.new = append(o.new, e)
}

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

// handOff records how far the run has come at the end of a visit, before the entry of that end: a
// run that resumes sets both aside.
func (v *visit) handOff(ctx context.Context, end *echo.Entry, err error) error {
	key := v.at(echo.StepHandoff)
	_, _, failed := effect.Reading[echo.Handoff](ctx, v.rec, key, v.Site, func() echo.Payload {
		var files *echo.Workspace
		if err != nil || v.tools.touched {
			files = v.run.readFiles(ctx)
		}
		return *handoff.FromFold(v.run.own.now(), v.run.spec.Cascade, files, &echo.Entry{NodeType: echo.NodeHandoff, Key: key}, end)
	})
	return failed
}

func (r *run) readFiles(ctx context.Context) *echo.Workspace {
	if r.Workspace == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
	defer cancel()
	return r.Workspace(ctx)
}

// What surrounds a continuation when a run is resumed.
const (
	resumedHead = "This run was stopped here and is taken up again now: what is outside of it may have changed meanwhile. " +
		"Older messages of it are only summed up.\n\n"
	resumedTail = "\n\nGo on from there."
)

// noticeResume tells a model that is no longer sent older messages how far the work has come, at
// the first turn after the resumption. It is recorded, so a replay has the same.
func (v *visit) noticeResume(ctx context.Context) error {
	what := echo.StepResumed
	if e := v.rec.Next(echo.NodeMessage, v.at(what)); e != nil {
		v.enter(e.Message)
		v.told = v.Turn
		return nil
	}
	if !v.resumes || v.run.opened || v.rec.IsReplay() || v.rec.replaying() {
		return nil
	}
	v.run.opened = true
	if v.views.carry.Summary == nil || v.told > 0 && v.told == v.Turn-1 {
		return nil
	}
	if err := v.rec.Resume(); err != nil { // what is set aside does not count from here on
		return err
	}
	h := handoff.FromFold(v.run.own.now(), v.run.spec.Cascade, v.run.readFiles(ctx), &echo.Entry{NodeType: echo.NodeMessage, Key: v.at(what)})
	return v.say(what, echo.NewText(echo.RoleUser, echo.KindNotice, resumedHead+h.Continuation+resumedTail))
}
