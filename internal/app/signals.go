package app

import (
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/waits"
)

// boxes are the mailboxes in which signals for a session may be: its own, and that of whoever waits first.
func (p *postbox) boxes() []mailbox.Box {
	return []mailbox.Box{waits.Box(p.desk.Home, p.run.ID()), waits.HomeBox(p.desk.Home)}
}

// taken returns the signal that a wait has taken, before its process died; nil when it has none.
func (p *postbox) taken(req *effect.WaitRequest) (*echo.Answer, error) {
	for _, box := range p.boxes() {
		for _, name := range waits.Signals(&req.Wait) {
			a, err := box.Taken(name, waits.Claimant(p.run.ID(), req.Key))
			if a != nil || err != nil {
				return ofAny(req, name, a), err
			}
		}
	}
	return nil, nil //nolint:nilnil // see above
}

// take returns the oldest signal for a wait and takes it, nil where there is none, or none that was sent before a
// time that is not zero.
func (p *postbox) take(req *effect.WaitRequest, before time.Time) (*echo.Answer, error) {
	for {
		name, box, oldest, err := p.oldest(req)
		if oldest == nil || err != nil || !before.IsZero() && !oldest.At.Before(before) {
			return nil, err
		}
		a, err := box.Take(name, waits.Claimant(p.run.ID(), req.Key), req.Deadline())
		if a != nil || err != nil {
			return ofAny(req, name, a), err
		}
		// Another wait was faster: there may be a next one.
	}
}

// oldest returns the oldest signal that a wait could take, and where it is.
func (p *postbox) oldest(req *effect.WaitRequest) (name string, box mailbox.Box, oldest *echo.Answer, err error) {
	for _, b := range p.boxes() {
		for _, n := range waits.Signals(&req.Wait) {
			a, err := b.Oldest(n, waits.Claimant(p.run.ID(), req.Key), req.Deadline())
			if err != nil {
				return "", b, nil, err
			}
			if a != nil && (oldest == nil || a.At.Before(oldest.At)) {
				name, box, oldest = n, b, a
			}
		}
	}
	return name, box, oldest, nil
}

// ofAny says in an answer which of several signals it is.
func ofAny(req *effect.WaitRequest, name string, a *echo.Answer) *echo.Answer {
	if a != nil && req.Wait.Kind == echo.WaitAny {
		a.Signal = name
	}
	return a
}
