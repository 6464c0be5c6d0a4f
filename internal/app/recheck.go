package app

import (
	"context"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/waits"
)

// recheck looks once more for what a run waits for when nothing else in it can go on: an answer may have come while other
// branches worked. The run continues then as one that is resumed, in the same process and without an end on its record.
// The goroutine of [Run.Do] alone uses what is not safe for concurrent use.
type recheck struct {
	history
	left sync.Map // the ids of waits that a person has left as they are, of the run and of its children

	run   *Run
	desk  waits.Desk
	tried map[string]bool // the ids of waits for which the run has continued: once for each, so that it ends
	found bool
}

// Ready is [engine.Others.Ready]. A child leaves it to the run above all others, unless that does not wait for it.
func (g *recheck) Ready(ctx context.Context) bool {
	if of := g.run.children.of; of != nil && !of.Detach {
		return false
	}
	if g.run.log.Wait(ctx) != nil || !g.isReady(ctx) {
		return false
	}
	g.run.children.forgetWaiting()
	rec, err := g.run.children.op.app.ReadJournal(g.run.ID())
	if err != nil {
		return false
	}
	g.set(rec.Entries)
	g.found = true
	return true
}

// isReady reports whether something is there for a wait of the run, or of a child, for which it has not continued yet.
func (g *recheck) isReady(ctx context.Context) (found bool) {
	open, err := g.desk.List(ctx, g.run.ID())
	if err != nil {
		return false
	}
	for _, w := range open {
		if ready, _, err := g.desk.Ready(w, g.desk.Clock()); err != nil || !ready || g.tried[w.ID] {
			continue
		}
		g.tried[w.ID], found = true, true
	}
	return found
}

// take reports whether the run continues, once for each time that it was found to.
func (g *recheck) take() bool {
	found := g.found
	g.found = false
	return found
}

// forgetWaiting has children begin again that have ended as they wait.
func (c *children) forgetWaiting() {
	c.mu.Lock()
	var waiting []*childRun
	for id, r := range c.begun {
		select {
		case <-r.done:
			if effect.IsWaiting(r.err) {
				waiting = append(waiting, r)
				delete(c.begun, id)
			}
		default:
		}
	}
	c.mu.Unlock()
	for _, r := range waiting {
		<-r.closed
	}
}

// history is what is recorded of a run before it was resumed, or continues. It is safe for concurrent use.
type history struct {
	mu   sync.Mutex // guards list
	list []*echo.Entry
}

func (h *history) entries() []*echo.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list
}

func (h *history) set(list []*echo.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = list
}
