package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/waits"
)

// postbox is what a run has of the mailboxes: the answers to its waits, and where its signals go. It implements
// [effect.Mailbox], [desk.Signals], [engine.Audibles] and [engine.Changes].
type postbox struct {
	desk waits.Desk
	run  *Run
	warn func(text string)
}

// deskOf returns what waits in the home of the app, by its clock.
func deskOf(a *App) waits.Desk { return waits.Desk{Home: a.home, Now: a.options.Now} }

// Answer implements [effect.Mailbox]. Of a signal and an answer the earlier one counts.
func (p *postbox) Answer(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	if a, err := p.taken(req); a != nil || err != nil {
		return a, err
	}
	// The signals come first: where the deadline has passed, a wait that a signal ends is not one that nobody has answered.
	first, err := waits.Box(p.desk.Home, p.run.ID()).Answered(echo.WaitID(p.run.ID(), req.Key))
	if err != nil {
		return nil, err
	}
	if a, err := p.take(req, timeOf(first)); a != nil || err != nil {
		return a, err
	}
	answer, err := p.answered(ctx, req)
	if err != nil {
		return nil, err
	}
	if a, err := p.take(req, timeOf(answer)); a != nil || err != nil {
		return a, err
	}
	return answer, nil
}

// timeOf returns when an answer was given, zero for none.
func timeOf(a *echo.Answer) time.Time {
	if a == nil {
		return time.Time{}
	}
	return a.At
}

// answered returns the answer that was left for a wait, nil when none was in time.
func (p *postbox) answered(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	session := p.run.ID()
	id := echo.WaitID(session, req.Key)
	a, err := p.left(waits.Box(p.desk.Home, session), id, req.Deadline())
	if err != nil {
		return nil, err
	}
	if at := req.Deadline(); a == nil || !at.IsZero() && !a.At.Before(at) { // none, or it came too late
		return p.granted(req), nil
	}
	w := &waits.Wait{ID: id, Place: waits.Place{Session: session, Cascade: req.Site.Cascade}, Kind: req.Wait.Kind, Form: req.Wait.Form, Call: req.Wait.Call}
	if _, err = waits.Check(w, a.Value); err == nil {
		err = waits.CheckGrant(w, a)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer that was left for wait %s does not answer it: %w", id, err)
	}
	if why := waits.CheckSecrets(p.desk, w, a.Value); why != nil {
		p.warn(fmt.Sprintf("Warning: the answer of %s to wait %s is not taken, and the wait is open again: %s", a.By, id, why))
		return nil, waits.Refuse(ctx, p.desk, w, a, why)
	}
	return a, waits.Give(p.desk.Home, w, a) // before the answer is recorded: what it counts for is not lost
}

// granted returns the answer that an earlier approval gives to a wait, nil where none counts for it.
func (p *postbox) granted(req *effect.WaitRequest) *echo.Answer {
	g := waits.Granted(p.desk.Home, p.run.ID(), &req.Wait)
	if g == nil {
		return nil
	}
	return &echo.Answer{
		Value: map[string]any{"decision": string(waiting.Allow)}, By: g.By, Via: echo.ViaGrant, At: p.desk.Clock(),
		Shown: req.Wait.Shown, Grant: &echo.Granted{Scope: g.Scope, ID: g.ID},
	}
}

// left returns the answer that a box has to a wait. When its deadline has passed nobody can leave one any more: whoever
// began before the deadline and comes now is told, and has no answer that would be lost.
func (p *postbox) left(box mailbox.Box, id string, deadline time.Time) (*echo.Answer, error) {
	if deadline.IsZero() || p.desk.Clock().Before(deadline) { // there is nothing to end
		return box.Answered(id)
	}
	var first *mailbox.TakenError
	err := box.Answer(id, echo.Answer{TimedOut: true, Via: echo.ViaClock, At: deadline.UTC()})
	if errors.As(err, &first) {
		return &first.Answer, nil
	}
	return nil, err
}

// Fire implements [desk.Signals].
func (p *postbox) Fire(ctx context.Context, s echo.Fired) error {
	if err := p.run.log.Wait(ctx); err != nil {
		return err
	}
	return p.desk.Signal(s.Session, s.Signal, echo.Answer{
		Letter: s.Letter, Value: s.Payload, By: p.run.ID(), Via: echo.ViaTool, At: p.desk.Clock(),
	})
}

// Take implements [engine.Audibles].
func (p *postbox) Take(_ context.Context, key echo.Key, phase string) (*echo.Audible, error) {
	a, err := mailbox.Audibles{Box: waits.Box(p.desk.Home, p.run.ID())}.Hear(phase, key.String())
	if a == nil || err != nil {
		return nil, err
	}
	return &a.Audible, nil
}

// checkAnswered returns an error of the kind [failure.Waiting] for a session that waits where nothing is new:
// no answer, no signal and no deadline that has passed, of it and of its children. Where a person is asked, a wait that
// they can answer is no reason.
func checkAnswered(ctx context.Context, desk waits.Desk, rec *journal.Recording, asks bool) error {
	if record.EndOf(rec.Entries).Status != echo.StatusWaiting {
		return nil
	}
	open, err := desk.List(ctx, rec.Header.SessionID)
	if err != nil {
		return err
	}
	for _, w := range open {
		ready := w.IsReady(desk.Clock()) || asks && w.IsAnswered()
		if !ready {
			if ready, err = desk.HasSignal(w); err != nil {
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
