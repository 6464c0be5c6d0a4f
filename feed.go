package windlass

import (
	"context"
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
)

// feed has the events of a run, for any number of readers. Who writes never waits for a reader.
// What it keeps is bounded by the record of the run: pieces of an answer go when the answer is
// recorded. It is an [echo.Sink] and an [engine.Observer].
type feed struct {
	mu      sync.Mutex // guards all
	changed sync.Cond
	events  []numbered // ascending
	last    uint64     // the number of the newest
	recent  int        // the index from which on there may be deltas
	ended   bool
	err     error // that the run ended with
}

type numbered struct {
	n uint64
	Event
}

func newFeed() *feed {
	f := &feed{}
	f.changed.L = &f.mu
	return f
}

func (f *feed) watch() app.Watch {
	var mu sync.Mutex
	feeds := map[*app.Run]*feed{} // of the runs that have children
	return app.Watch{
		Follow: func(r *app.Run) (engine.Observer, []echo.Sink) {
			mu.Lock()
			defer mu.Unlock()
			feeds[r] = f
			return f, []echo.Sink{f}
		},
		Child: func(parent, r *app.Run) (engine.Observer, []echo.Sink) {
			h, own := r.Header(), newFeed()
			mu.Lock()
			above := feeds[parent]
			feeds[r] = own
			mu.Unlock()
			above.add(&Child{ID: r.ID(), CascadeID: r.Cascade().CascadeID, Key: h.ChildKey, feed: own})
			return own, []echo.Sink{own, &ending{own}}
		},
		Notice: func(text string) { f.add(&Notice{text}) },
	}
}

// ending ends the feed of a child with its log.
type ending struct{ feed *feed }

func (*ending) Write(*echo.Entry) error { return nil }

func (e *ending) Close(context.Context) error {
	e.feed.end(nil)
	return nil
}

// children returns the children among the events so far.
func (f *feed) children() []*Child {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*Child
	for _, e := range f.events {
		if c, ok := e.Event.(*Child); ok {
			list = append(list, c)
		}
	}
	return list
}

// Write implements [echo.Sink].
func (f *feed) Write(e *echo.Entry) error {
	f.add(&Recorded{e})
	return nil
}

// Close implements [echo.Sink].
func (f *feed) Close(context.Context) error { return nil }

// Observe implements [engine.Observer].
func (f *feed) Observe(e engine.Event) {
	if event := eventOf(e); event != nil {
		f.add(event)
	}
}

func (f *feed) add(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := e.(*Recorded); ok && r.Entry.NodeType == echo.NodeModelCall && !r.Entry.Background() {
		f.forgetDeltas()
	}
	f.last++
	f.events = append(f.events, numbered{f.last, e})
	f.changed.Broadcast()
}

// forgetDeltas removes the pieces of an answer that is recorded now.
func (f *feed) forgetDeltas() {
	kept := slices.DeleteFunc(f.events[f.recent:], func(e numbered) bool {
		_, delta := e.Event.(*Delta)
		return delta
	})
	f.events = f.events[:f.recent+len(kept)]
	f.recent = len(f.events)
}

// end says that nothing follows.
func (f *feed) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.err = true, err
	f.changed.Broadcast()
}

// next waits for the first event after number n. It returns nil, and the error of the run, when
// there is none.
func (f *feed) next(n uint64) (numbered, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		i := sort.Search(len(f.events), func(i int) bool { return f.events[i].n > n })
		if i < len(f.events) {
			return f.events[i], nil
		}
		if f.ended {
			return numbered{}, f.err
		}
		f.changed.Wait()
	}
}

// all returns the events from the first on.
func (f *feed) all() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for at := uint64(0); ; {
			e, err := f.next(at)
			switch {
			case err != nil:
				yield(nil, err)
				return
			case e.Event == nil:
				return
			}
			if !yield(e.Event, nil) {
				return
			}
			at = e.n
		}
	}
}
