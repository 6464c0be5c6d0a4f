package app

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/waits"
)

// asking is the mailbox of a run that somebody watches: a wait without an answer is asked there, until it is
// answered, from wherever, or is left as it is. It implements [effect.Mailbox].
type asking struct {
	effect.Mailbox
	home string
	run  *Run
	ask  func(context.Context, waits.Desk, *waits.Wait) // nil: nobody is asked
	left *sync.Map                                      // the ids of waits that were left as they are: nobody is asked again
}

// lookEvery is how often the mailbox is looked at for what others leave while somebody is asked.
const lookEvery = 200 * time.Millisecond

// Answer implements [effect.Mailbox].
func (a *asking) Answer(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	found, err := a.Mailbox.Answer(ctx, req)
	if found != nil || err != nil || a.ask == nil || hasEnded(req) {
		return found, err
	}
	desk, w := waits.Desk{Home: a.home, Secrets: a.run.secrets}, a.wait(req)
	if _, left := a.left.Load(w.ID); left {
		return nil, nil //nolint:nilnil // see the interface
	}
	if err := desk.WithOutput(w); err != nil {
		return nil, err
	}
	asked, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.ask(asked, desk, w)
	}()
	defer func() { stop(); <-done }()
	found, err = a.watch(ctx, req, done)
	if found == nil && err == nil {
		a.left.Store(w.ID, true)
	}
	return found, err
}

// watch looks for the answer until it is there, the deadline passes, or nobody is asked any more.
func (a *asking) watch(ctx context.Context, req *effect.WaitRequest, done <-chan struct{}) (*echo.Answer, error) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for asked := true; ; {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-done:
			asked = false
		case <-look.C:
		}
		if found, err := a.Mailbox.Answer(ctx, req); found != nil || err != nil || !asked || hasEnded(req) {
			return found, err
		}
	}
}

// hasEnded reports whether the deadline of a wait has passed.
func hasEnded(req *effect.WaitRequest) bool {
	at := req.Deadline()
	return !at.IsZero() && !time.Now().Before(at)
}

func (a *asking) wait(req *effect.WaitRequest) *waits.Wait {
	h := a.run.header
	return waits.Of(&req.Wait, waits.Place{
		Session: h.SessionID, Root: cmp.Or(h.Root, h.SessionID), Cascade: a.run.cascade.CascadeID, Phase: req.Site.Phase, Key: req.Key,
	}, req.Since)
}
