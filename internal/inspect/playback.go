package inspect

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// longestPause bounds how long a playback pauses, before its speed: nobody ran a session between two
// of its parts.
const longestPause = time.Minute

// PlayBack yields entries with the pauses between them at a speed: how many times as fast as they
// were recorded, 0 for no pauses. It ends early when the context ends.
func PlayBack(ctx context.Context, entries []*echo.Entry, speed float64) iter.Seq[*echo.Entry] {
	steps := make([]Step, len(entries))
	for i, e := range entries {
		steps[i] = Step{Entry: e, At: e.At}
	}
	return func(yield func(*echo.Entry) bool) {
		for step := range play(ctx, steps, speed) {
			if !yield(step.Entry) {
				return
			}
		}
	}
}

// Step is a part of a playback: an entry, or the beginning of the call whose end an entry records.
type Step struct {
	Entry  *echo.Entry
	Begins bool
	At     time.Time
}

// Play is [PlayBack] with the beginnings of calls of models and tools.
func Play(ctx context.Context, entries []*echo.Entry, speed float64) iter.Seq[Step] {
	return play(ctx, steps(entries), speed)
}

func play(ctx context.Context, steps []Step, speed float64) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		for i, s := range steps {
			if speed > 0 && i > 0 {
				pause := min(s.At.Sub(steps[i-1].At), longestPause)
				select {
				case <-time.After(time.Duration(float64(pause) / speed)):
				case <-ctx.Done():
					return
				}
			}
			if !yield(s) {
				return
			}
		}
	}
}

// steps puts the beginnings of calls among entries. Calls that took no time have none: a tool that
// was refused did not run. A tool begins after the answer that it follows, and beside other tools.
func steps(entries []*echo.Entry) []Step {
	out := make([]Step, 0, 2*len(entries))
	for _, e := range entries {
		isCall := e.NodeType == echo.NodeModelCall || e.NodeType == echo.NodeToolCall
		if isCall && e.DurationMS > 0 && !e.Background() {
			began := Step{Entry: e, Begins: true, At: e.At.Add(-time.Duration(e.DurationMS * float64(time.Millisecond)))}
			at := len(out)
			for at > 0 && out[at-1].At.After(began.At) && isOfTool(out[at-1].Entry) {
				at--
			}
			if at > 0 && out[at-1].At.After(began.At) {
				began.At = out[at-1].At
			}
			out = slices.Insert(out, at, began)
		}
		out = append(out, Step{Entry: e, At: e.At})
	}
	return out
}

func isOfTool(e *echo.Entry) bool {
	return e.NodeType == echo.NodeToolCall || e.NodeType == echo.NodeToolStart
}

// Clock is the clock of a playback: the time of its last step, and from there at its speed. It is
// safe for concurrent use.
type Clock struct {
	mu    sync.Mutex // guards at and set
	speed float64
	at    time.Time
	set   time.Time
}

// NewClock returns a clock that stands at the first entry.
func NewClock(entries []*echo.Entry, speed float64) *Clock {
	c := &Clock{speed: speed}
	if len(entries) > 0 {
		c.Set(entries[0].At)
	}
	return c
}

// Set has the clock go on from the time of a step.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.set = at, time.Now()
}

// Now returns the time of the run.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at.Add(time.Duration(float64(time.Since(c.set)) * c.speed))
}
