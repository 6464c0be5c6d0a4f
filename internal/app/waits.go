package app

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/waits"
)

// postbox is what a run has of the mailboxes: the answers to its waits, and where its signals go. It implements
// [effect.Mailbox] and [engine.Signals].
type postbox struct {
	home string
	run  *Run
}

// Answer implements [effect.Mailbox].
func (p *postbox) Answer(_ context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	session := p.run.ID()
	if req.Wait.Kind == echo.WaitSignal {
		claimant := waits.Claimant(session, req.Key)
		boxes := []mailbox.Box{waits.Box(p.home, session), waits.HomeBox(p.home)}
		for _, box := range boxes { // one that a process took before it died comes first, wherever it is
			a, err := box.Taken(req.Wait.Signal, claimant)
			if a != nil || err != nil {
				return a, err
			}
		}
		for _, box := range boxes {
			a, err := box.Take(req.Wait.Signal, claimant, req.Deadline())
			if a != nil || err != nil {
				return a, err
			}
		}
		return nil, nil //nolint:nilnil // see the interface
	}
	a, err := waits.Box(p.home, session).Answered(echo.WaitID(session, req.Key))
	if a == nil || err != nil {
		return nil, err
	}
	if at := req.Deadline(); !at.IsZero() && !a.At.Before(at) {
		return nil, nil //nolint:nilnil // it came too late
	}
	w := &waits.Wait{Kind: req.Wait.Kind, Form: req.Wait.Form, Call: req.Wait.Call}
	if _, err := waits.Check(w, a.Value); err != nil {
		return nil, fmt.Errorf("the answer that was left for wait %s does not answer it: %w", echo.WaitID(session, req.Key), err)
	}
	return a, nil
}

// Fire implements [engine.Signals].
func (p *postbox) Fire(ctx context.Context, s echo.Fired) error {
	if err := p.run.log.Wait(ctx); err != nil {
		return err
	}
	return waits.Desk{Home: p.home}.Signal(s.Session, s.Signal, echo.Answer{
		Letter: s.Letter, Value: s.Payload, By: p.run.ID(), Via: echo.ViaTool, At: time.Now().UTC(),
	})
}

// checkAnswered returns an error of the kind [failure.Waiting] for a session that waits where nothing is new:
// no answer, no signal and no deadline that has passed, of it and of its children.
func checkAnswered(ctx context.Context, home string, rec *journal.Recording) error {
	if record.EndOf(rec.Entries).Status != echo.StatusWaiting {
		return nil
	}
	open, err := waits.Desk{Home: home}.List(ctx, rec.Header.SessionID)
	if err != nil {
		return err
	}
	for _, w := range open {
		ready := w.IsReady(time.Now())
		if !ready && w.Kind == echo.WaitSignal {
			if ready, err = (waits.Desk{Home: home}).HasSignal(w); err != nil {
				return failure.New(failure.Damaged, err, "")
			}
		}
		if ready {
			return nil
		}
	}
	if len(open) == 0 { // what it waits for is not here: the run itself will say so
		return nil
	}
	return failure.New(failure.Waiting, &WaitsError{Session: rec.Header.SessionID, Waits: open}, "")
}

// WaitsError says that a session waits, and for what.
type WaitsError struct {
	Session string
	Waits   []*waits.Wait
}

func (e *WaitsError) Error() string {
	if len(e.Waits) == 1 {
		return fmt.Sprintf("session %s still waits for %s, and nothing is written", e.Session, e.Waits[0].For())
	}
	return fmt.Sprintf("session %s still waits for %d answers, and nothing is written", e.Session, len(e.Waits))
}
