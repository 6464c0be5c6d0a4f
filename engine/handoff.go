package engine

import (
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/artifact"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/handoff"
)

// lookLimit is how long reading the files may take, also after the run's context.
const lookLimit = time.Second

// ownRecord is the run's record as it folds it. Any goroutine may add entries, and any branch may ask
// for the fold: one at a time.
type ownRecord struct {
	mu  sync.Mutex
	new []*echo.Entry // that are not folded yet

	folding sync.Mutex // guards fold
	fold    *record.Fold

	shelf artifact.Shelf
	notes memory.Notes
	memos memo.Notes
}

func (o *ownRecord) add(e *echo.Entry) {
	o.shelf.Add(e)
	o.notes.Add(e)
	o.memos.Add(e)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.new = append(o.new, e)
}

// with calls do with the fold of everything recorded so far.
func (o *ownRecord) with(do func(*record.Fold)) {
	o.folding.Lock()
	defer o.folding.Unlock()
	o.mu.Lock()
	entries := o.new
	o.new = nil
	o.mu.Unlock()
	for _, e := range entries {
		o.fold.Add(e)
	}
	do(o.fold)
}

// handoff returns how far the run has come, with entries that are about to be recorded.
func (o *ownRecord) handoff(c *cascade.Cascade, files *echo.Workspace, more ...*echo.Entry) (h *echo.Handoff) {
	o.with(func(f *record.Fold) { h = handoff.FromFold(f, c, files, more...) })
	return h
}

// handOff records how far the run has come at the end of a visit, before the entry of that end: a
// run that resumes sets both aside.
func (v *visit) handOff(ctx context.Context, end *echo.Entry, err error) error {
	key := v.At(echo.StepHandoff)
	_, _, failed := effect.Reading[echo.Handoff](ctx, v.Rec, key, v.Site, func() echo.Payload {
		var files *echo.Workspace
		if err != nil || v.tools.touched {
			files = v.run.readFiles(ctx)
		}
		return *v.run.own.handoff(v.run.spec.Cascade, files, &echo.Entry{NodeType: echo.NodeHandoff, Key: key}, end)
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
	resumedHead = echo.ResumedHead + " and is taken up again now: what is outside of it may have changed meanwhile. " +
		"Older messages of it are only summed up.\n\n"
	resumedTail = "\n\nGo on from there."
)

// noticeResume tells a model that is no longer sent older messages how far the work has come, at
// the first turn after the resumption. It is recorded, so a replay has the same.
func (c *conversation) noticeResume(ctx context.Context) error {
	what := echo.StepResumed
	if e := c.Rec.Next(echo.NodeMessage, c.At(what)); e != nil {
		c.enter(e.Message)
		c.told = c.Turn
		return nil
	}
	if !c.resumes || c.run.opened || c.Rec.IsReplay() || c.Rec.Replaying() {
		return nil
	}
	c.run.opened = true
	if c.views.Carry.Summary == nil || !c.Session.Withdrawals.Whole() || c.told > 0 && c.told == c.Turn-1 {
		return nil
	}
	if err := c.Rec.Resume(); err != nil { // what is set aside does not count from here on
		return err
	}
	h := c.run.own.handoff(c.run.spec.Cascade, c.run.readFiles(ctx), &echo.Entry{NodeType: echo.NodeMessage, Key: c.At(what)})
	return c.say(what, echo.NewText(echo.RoleUser, echo.KindNotice, resumedHead+h.Continuation+resumedTail))
}
