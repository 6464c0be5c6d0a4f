package live

import (
	"context"
	"sync"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
)

// Tree finds the views of the runs that a run has begun. It is safe for concurrent use.
type Tree struct {
	mu    sync.Mutex
	views map[string]View // by session
}

// NewTree returns the views of a run and of those that it begins.
func NewTree(session string, v View) *Tree {
	return &Tree{views: map[string]View{session: v}}
}

// Child returns the view of a run that another one has begun, as a part of that one's. A child of a run
// that is not shown is not shown.
func (t *Tree) Child(parent, session string, c *cascade.Cascade) View {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := t.views[session]; v != nil {
		return v
	}
	v := View(hidden{})
	switch of := t.views[parent].(type) {
	case *InPlace:
		v = following{of.progress.Child(session, c)}
	case following:
		v = following{of.progress.Child(session, c)}
	case *Plain:
		v = of.child(session, c)
	case *Quiet:
		v = &Quiet{out: of.out, prefix: of.prefix + c.CascadeID + "/"}
	}
	t.views[session] = v
	return v
}

// phaseNames are those that the run itself goes through: none where candidates do.
func phaseNames(c *cascade.Cascade) []string {
	if c.Soundings.Active() {
		return nil
	}
	var names []string
	for i := range c.Phases {
		names = append(names, c.Phases[i].Name)
	}
	return names
}

// following is a run whose state is drawn within that of another.
type following struct{ progress *Progress }

// Observe implements engine.Observer.
func (v following) Observe(ev engine.Event) { v.progress.Event(ev) }

// Write implements echo.Sink.
func (v following) Write(e *echo.Entry) error { v.progress.Entry(e); return nil }

// Resume implements [View].
func (v following) Resume(entries []*echo.Entry) { v.progress.Resume(entries) }

// Close implements echo.Sink.
func (v following) Close(context.Context) error { return nil }

// hidden shows nothing.
type hidden struct{}

// Observe implements engine.Observer.
func (hidden) Observe(engine.Event) {}

// Write implements echo.Sink.
func (hidden) Write(*echo.Entry) error { return nil }

// Resume implements [View].
func (hidden) Resume([]*echo.Entry) {}

// Close implements echo.Sink.
func (hidden) Close(context.Context) error { return nil }
