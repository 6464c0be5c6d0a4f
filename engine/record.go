package engine

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// trunk is the branch of the run itself.
var trunk echo.Key

// recorder is what all parts of a run record and see the world through.
type recorder struct {
	*effect.Recorder
	cascade  string // its id
	rules    ruleset
	mask     effect.Mask
	observer Observer // nil: nobody watches
}

func (r *recorder) observe(e Event) {
	if r.observer != nil && !r.replaying() {
		r.observer.Observe(e)
	}
}

func (r *recorder) use(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
	arguments := effect.MaskedArguments(r.mask, string(req.Arguments))
	r.observe(Event{Kind: EventToolCall, Key: key, Site: req.Site, Tool: req.Name, Arguments: arguments})
	return r.Tool(ctx, key, spec, req)
}

// add records something that follows from what is recorded already.
func (r *recorder) add(key echo.Key, p echo.Payload) error { return r.Append(r.entry(key, p)) }

func (r *recorder) entry(key echo.Key, p echo.Payload) *echo.Entry {
	e := echo.NewEntry(key, p)
	e.CascadeID = r.cascade
	return e
}

// message records a message that enters a history, or stands for a part of one.
func (r *recorder) message(key echo.Key, m *echo.Message) error {
	return r.Append(&echo.Entry{NodeType: echo.NodeMessage, Key: key, CascadeID: r.cascade, Message: m})
}

// warn records something that a person should know and that does not stop the run.
func (r *recorder) warn(key echo.Key, message string) error {
	return r.add(key.Step(echo.StepWarning), echo.Warning{Message: message})
}

// end returns the entry of the end of a phase or of the run.
func (r *recorder) end(key echo.Key, p echo.Payload, t effect.Totals, ms float64, err error) *echo.Entry {
	e := r.entry(key, p)
	e.Usage, e.DurationMS, e.Scripted, e.CostUSD, e.Pretend = &t.Usage, ms, t.Scripted, t.Cost(), t.Pretend()
	if err != nil {
		_, reason := classify(err)
		e.Error = &echo.Failure{Kind: string(reason), Message: err.Error()}
	}
	return e
}

// now returns the time; within the recording, when the entry that was used last was recorded.
func (r *recorder) now() time.Time {
	at, _ := r.Time(trunk)
	return at
}

// active returns the time on a clock that stands still while nobody runs the session.
func (r *recorder) active() time.Time {
	at, away := r.Time(trunk)
	return at.Add(-away)
}

// replaying reports whether more of the recording is to come.
func (r *recorder) replaying() bool { return r.Pending(trunk) != nil }

// place is where a visit is, and what all its parts work with. The visit moves it on.
type place struct {
	effect.Site
	visit  echo.Key
	rec    *recorder
	phase  *cascade.Phase
	record *echo.PhaseRecord
}

// here returns the key of the place.
func (p *place) here() echo.Key {
	if p.Attempt == 0 {
		return p.visit
	}
	return p.visit.Attempt(p.Attempt).Turn(p.Turn)
}

// at returns the key of something that is done at the place.
func (p *place) at(kind echo.StepKind) echo.Key { return p.here().Step(kind) }
