package engine

import (
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// trunk is the branch of the run itself.
var trunk echo.Key

// recorder is what all parts of a run record through, and see the world through.
type recorder struct {
	*effect.Recorder
	cascade  string // its id
	mask     effect.Mask
	observer Observer
}

// add records something that follows from what is recorded already.
func (r *recorder) add(key echo.Key, p echo.Payload) error { return r.Append(r.entry(key, p)) }

// entry returns the entry that says p.
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
	e.Usage, e.DurationMS, e.Scripted, e.CostUSD = &t.Usage, ms, t.Scripted, t.Cost()
	if err != nil {
		_, reason := classify(err)
		e.Error = &echo.Failure{Kind: string(reason), Message: err.Error()}
	}
	return e
}

// now returns the time; in the part of the run that is recorded, when the last of it that was used
// was recorded.
func (r *recorder) now() time.Time {
	at, _ := r.Time(trunk)
	return at
}

// active returns the time on a clock that stands still while nobody runs the session.
func (r *recorder) active() time.Time {
	at, away := r.Time(trunk)
	return at.Add(-away)
}

// replaying reports whether there is more of the recording to come.
func (r *recorder) replaying() bool { return r.Pending(trunk) != nil }

// place is where a visit is. The visit moves it on; the parts of the visit read it.
type place struct {
	effect.Site
	visit echo.Key
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
