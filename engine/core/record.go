package core

import (
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Recorder is what all parts of a run, or of a branch of it, record and see the world through.
type Recorder struct {
	*effect.Recorder
	Branch   echo.Key // whose time it has; the zero Key is the trunk
	Cascade  string   // its id
	Rules    Ruleset
	Mask     effect.Mask
	Observer *Watcher
}

// Watcher tells whoever watches of one event after the other, whatever branch they are from.
type Watcher struct {
	mu sync.Mutex
	To Observer // nil: nobody watches
}

// Observe tells whoever watches, unless what happens is recorded already.
func (r *Recorder) Observe(e Event) {
	if r.Observer.To == nil || r.Replaying() {
		return
	}
	r.Observer.mu.Lock()
	defer r.Observer.mu.Unlock()
	r.Observer.To.Observe(e)
}

// In returns the recorder of a branch.
func (r *Recorder) In(branch echo.Key) *Recorder {
	b := *r
	b.Branch = branch
	return &b
}

// base returns the place of what a run, or a branch of it, reads for itself.
func (r *Recorder) base() echo.Key {
	if r.Branch.IsZero() {
		return echo.RunKey()
	}
	return r.Branch
}

// Use has a tool called, see [effect.Effects].
func (r *Recorder) Use(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
	arguments := effect.MaskedArguments(r.Mask, string(req.Arguments))
	r.Observe(Event{Kind: EventToolCall, Key: key, Site: req.Site, Tool: req.Name, Arguments: arguments})
	return r.Tool(ctx, key, spec, req)
}

// Add records something that follows from what is recorded already.
func (r *Recorder) Add(key echo.Key, p echo.Payload) error { return r.Append(r.Entry(key, p)) }

// Entry returns an entry of the run.
func (r *Recorder) Entry(key echo.Key, p echo.Payload) *echo.Entry {
	e := echo.NewEntry(key, p)
	e.CascadeID = r.Cascade
	return e
}

// Message records a message that enters a history, or stands for a part of one.
func (r *Recorder) Message(key echo.Key, m *echo.Message) error {
	return r.Append(&echo.Entry{NodeType: echo.NodeMessage, Key: key, CascadeID: r.Cascade, Message: m})
}

// Warn records something that a person should know and that does not stop the run.
func (r *Recorder) Warn(key echo.Key, message string) error {
	return r.Add(key.Step(echo.StepWarning), echo.Warning{Message: message})
}

// End returns the entry of the end of a phase or of the run.
func (r *Recorder) End(key echo.Key, p echo.Payload, t effect.Totals, ms float64, err error) *echo.Entry {
	e := r.Entry(key, p)
	e.Usage, e.DurationMS, e.Scripted, e.CostUSD, e.Pretend = &t.Usage, ms, t.Scripted, t.Cost(), t.Pretend()
	if err != nil {
		_, reason := Classify(err)
		e.Error = &echo.Failure{Kind: string(reason), Message: err.Error()}
	}
	return e
}

// Now returns the time; within the recording, when the entry that was used last was recorded.
func (r *Recorder) Now() time.Time {
	at, _ := r.Time(r.Branch)
	return at
}

// Active returns the time on a clock that stands still while nobody runs the session.
func (r *Recorder) Active() time.Time {
	at, away := r.Time(r.Branch)
	return at.Add(-away)
}

// Lived returns the time on the same clock when the session was run last, also where the branch has
// not come to that in the recording.
func (r *Recorder) Lived() time.Time {
	at, away := effect.Newest(r.Recorder)
	return at.Add(-away)
}

// Replaying reports whether more of the recording is to come in the branch.
func (r *Recorder) Replaying() bool { return r.Pending(r.Branch) != nil }

// Place is where a visit is, and what all its parts work with. The visit moves it on.
type Place struct {
	effect.Site
	Key     echo.Key
	Rec     *Recorder
	Def     *cascade.Phase
	Record  *echo.PhaseRecord
	Session *echo.Session // that the visit is one of
	Ward    echo.Key      // of the ward at work; zero: none is
}

// Present returns the messages of the visit that no person has taken out of views.
func (p *Place) Present() []echo.Item {
	if p.Session == nil { // of what is no visit: nobody takes anything out of it
		return echo.Present(p.Record.History)
	}
	return p.Session.Present(p.Record)
}

// Stand puts a message that stands, by a name, at the end of the request that comes behind the history, and records it.
func (p *Place) Stand(name string, m *echo.Message) error {
	key := p.Here().Named(echo.StepStands, name)
	m = p.Rec.Kept(key, m, false)
	p.Record.History = append(p.Record.History, echo.Item{Message: m, Attempt: p.Attempt, Turn: p.Turn})
	return p.Rec.Message(key, m)
}

// Here returns the key of the place.
func (p *Place) Here() echo.Key {
	switch {
	case !p.Ward.IsZero():
		return p.Ward
	case p.Attempt == 0:
		return p.Key
	}
	return p.Key.Attempt(p.Attempt).Turn(p.Turn)
}

// At returns the key of something that is done at the place.
func (p *Place) At(kind echo.StepKind) echo.Key { return p.Here().Step(kind) }
