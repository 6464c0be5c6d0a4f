package waits

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
)

// Answer leaves the answer to a wait, and a line of the audit. The error has the kind InvalidAnswer when the value does
// not answer it, and AlreadyAnswered when somebody was faster, with a [*mailbox.TakenError].
func (d Desk) Answer(w *Wait, g Given) error {
	l := lineOf(d, w.ID, g)
	l.Session = w.Session
	return audit.Do(context.Background(), d.Home, l, func() error { return d.answer(w, g) })
}

// Missed adds the line of an answer to a wait that was not found, and returns why it was not.
func Missed(ctx context.Context, d Desk, id string, g Given, err error) error {
	if written := audit.Add(ctx, d.Home, lineOf(d, id, g).Ended(err)); written != nil {
		return errors.Join(err, written)
	}
	return err
}

// Refuse takes out an answer that was left for a wait and that no run can take: the wait is open again.
func Refuse(ctx context.Context, d Desk, w *Wait, a *echo.Answer, why error) error {
	if err := ForgetAnswers(d.Home, w.Session, []string{w.ID}); err != nil {
		return stored(err)
	}
	l := lineOf(d, w.ID, Given{By: a.By, Via: a.Via})
	l.Session = w.Session
	return audit.Add(ctx, d.Home, l.Ended(failure.New(failure.InvalidAnswer, why, "")))
}

// Signal leaves a signal for a session of this machine, by its whole id, or for whichever waits for it first where that
// is "". One with the same letter is left once. What a run sends is in its record and not in the audit.
func (d Desk) Signal(session, name string, a echo.Answer) error {
	if a.Via == echo.ViaTool {
		return d.signal(session, name, a)
	}
	l := audit.Line{At: d.Clock(), By: a.By, Via: string(a.Via), What: audit.Signal, Target: a.Letter, Session: session}
	return audit.Do(context.Background(), d.Home, l, func() error { return d.signal(session, name, a) })
}

// Revoke revokes the grant with an id, or with the only one that begins so. It never counts again. Each attempt is in the audit.
func (d Desk) Revoke(id, by string, via echo.Via) (g *mailbox.Grant, err error) {
	l := audit.Line{At: d.Clock(), By: by, Via: string(via), What: audit.GrantRevoke, Target: id}
	err = audit.Do(context.Background(), d.Home, l, func() error {
		g, err = d.revoke(id, by)
		return err
	})
	return g, err
}

// AnswerExactly is [Desk.Answer] for those who have seen a wait elsewhere and some time ago: id is the whole id, and an approval is
// answered only with the hash of what was shown. Each attempt is in the audit. The wait is nil when it is not open.
func (d Desk) AnswerExactly(ctx context.Context, id string, g Given) (*Wait, error) {
	w, err := d.Get(ctx, id)
	if err == nil && w.Kind == echo.WaitApproval && g.Shown == "" {
		err = failure.New(failure.InvalidRequest, fmt.Errorf("the wait %s is for an approval, and the answer does not say what was shown", id),
			`send "shown" of the wait, as it was when the call was looked at`)
	}
	if err != nil {
		return nil, Missed(ctx, d, id, g, err)
	}
	return w, d.Answer(w, g)
}

// Get returns the open wait with this whole id.
func (d Desk) Get(ctx context.Context, id string) (*Wait, error) {
	if !echo.IsWaitID(id) {
		return nil, failure.New(failure.UnknownWait, &UnknownError{Given: id}, "")
	}
	return d.Find(ctx, id)
}

func lineOf(d Desk, id string, g Given) audit.Line {
	return audit.Line{At: d.Clock(), By: g.By, Via: string(g.Via), What: audit.Answer, Target: id}
}
