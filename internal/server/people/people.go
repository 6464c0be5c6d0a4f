// Package people answers over the API what runs wait for. [Desk] implements [server.People].
package people

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audibles"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/waits"
)

// Desk has the waits of one home for clients. It is safe for concurrent use.
type Desk struct {
	Waits waits.Desk
	Ready func() // is called when something was left for a run; it does not block
}

// List implements [server.People].
func (d *Desk) List(ctx context.Context, session string) ([]*server.Wait, error) {
	if err := d.Waits.Has(session); err != nil {
		return nil, err
	}
	return d.Waits.List(ctx, session)
}

// Get implements [server.People].
func (d *Desk) Get(ctx context.Context, id string) (*server.Wait, error) {
	w, err := d.Waits.Get(ctx, id)
	return w, explain(err)
}

// Image implements [server.People].
func (d *Desk) Image(ctx context.Context, id string, n int) (*waits.Picture, error) {
	w, err := d.Waits.Get(ctx, id)
	if err != nil {
		return nil, explain(err)
	}
	return d.Waits.Image(w, n)
}

// Answer implements [server.People].
func (d *Desk) Answer(ctx context.Context, by *server.Caller, id string, r *server.AnswerRequest) (*server.AnsweredWait, error) {
	w, err := d.Waits.AnswerExactly(ctx, id, waits.Given{Value: r.Value, Shown: r.Shown, Grant: r.Grant, By: by.Name, Via: echo.ViaHTTP})
	if err != nil {
		return nil, explain(err)
	}
	d.Ready()
	return &server.AnsweredWait{Wait: w.ID, Session: w.Session, Resume: w.Root}, nil
}

// Signal implements [server.People].
func (d *Desk) Signal(_ context.Context, by *server.Caller, r *server.SignalRequest) (*server.SentSignal, error) {
	a := echo.Answer{Letter: cmp.Or(r.Letter, strings.ToLower(ulid.Make().String())), Value: r.Data, By: by.Name, Via: echo.ViaHTTP, At: d.Waits.Clock()}
	if err := d.Waits.Signal(r.Session, r.Name, a); err != nil {
		return nil, err
	}
	d.Ready()
	return &server.SentSignal{Signal: r.Name, Letter: a.Letter, Session: r.Session}, nil
}

// Say implements [server.People].
func (d *Desk) Say(ctx context.Context, by *server.Caller, session string, r *server.AudibleRequest) (*server.SaidAudible, error) {
	left, err := audibles.Say(ctx, d.Waits.Home, d.Waits.Clock(), audibles.Said{
		Session: session, Letter: cmp.Or(r.Letter, strings.ToLower(ulid.Make().String())), Text: r.Text, Retry: r.Retry, Phase: r.Phase, By: by.Name, Via: echo.ViaHTTP,
	})
	if err != nil {
		return nil, err
	}
	return &left, nil
}

// explain gives errors the next step of a client.
func explain(err error) error {
	var try string
	switch kind := failure.KindOf(err); {
	case kind == failure.InvalidAnswer:
		try = "GET /api/waits/ID has the form that an answer fits"
	case errors.As(err, new(*waits.ShownError)):
		try = "GET /api/waits/ID shows what the wait is for now"
	case kind == failure.AlreadyAnswered:
		try = "GET /api/waits lists what is still open"
	case errors.As(err, new(*mailbox.TooLongError)):
		return err
	case kind == failure.InvalidRequest:
		try = "GET /api/waits/ID shows the wait as it is now"
	default:
		return err
	}
	p := *server.ProblemOf(err)
	p.Try = try
	return &p
}
