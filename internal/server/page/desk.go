package page

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/waits"
)

// Desk is what the page has of the waits of a home. It is safe for concurrent use.
type Desk interface {
	// List returns the open waits, the oldest first, and what of them cannot be read.
	List(ctx context.Context) (list []*waits.Wait, unread []string, err error)
	// Find returns an open wait by its whole id. The error has the kind UnknownWait, or AlreadyAnswered for one that has ended.
	Find(ctx context.Context, id string) (*waits.Wait, error)
	// Answer leaves an answer. The error has the kind InvalidAnswer, or AlreadyAnswered.
	Answer(ctx context.Context, w *waits.Wait, g Given) error
	// Image returns an image of a wait by its number, from 1. The error is a [*waits.NoImageError] when there is none.
	Image(ctx context.Context, w *waits.Wait, n int) (*waits.Picture, error)
	// Earlier returns what was decided in cases like this one, the newest first.
	Earlier(ctx context.Context, w *waits.Wait) ([]Decided, error)
}

// Given is an answer as a person gives it on the page.
type Given struct {
	Value any
	Shown echo.Hash       // of an approval: of what the page has shown
	Scope echo.GrantScope // of an approval that allows; "": for this call alone
	By    string
}

// Decided is a decision of an earlier case.
type Decided struct {
	Answer  string // in one line
	By      string
	Via     echo.Via
	At      time.Time
	Session string
}

// mostEarlier is how many earlier decisions a page shows.
const mostEarlier = 5

// OfHome returns the desk of a home. ready is called when something was left for a run; it does not block.
func OfHome(d waits.Desk, ready func()) Desk { return homeDesk{d, ready} }

type homeDesk struct {
	desk  waits.Desk
	ready func()
}

func (h homeDesk) List(ctx context.Context) (list []*waits.Wait, unread []string, err error) {
	s, err := h.desk.Survey(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	for _, d := range s.Damaged {
		unread = append(unread, d.Error())
	}
	return s.Open, unread, nil
}

func (h homeDesk) Find(ctx context.Context, id string) (*waits.Wait, error) {
	return h.desk.Find(ctx, id)
}

func (h homeDesk) Image(_ context.Context, w *waits.Wait, n int) (*waits.Picture, error) {
	return h.desk.Image(w, n)
}

func (h homeDesk) Answer(_ context.Context, w *waits.Wait, g Given) error {
	err := h.desk.Answer(w, waits.Given{Value: g.Value, Shown: g.Shown, Grant: g.Scope, By: g.By, Via: echo.ViaPage})
	if err == nil {
		h.ready()
	}
	return err
}

func (h homeDesk) Earlier(ctx context.Context, w *waits.Wait) ([]Decided, error) {
	list, err := h.desk.Earlier(ctx, w, mostEarlier)
	if err != nil {
		return nil, err
	}
	out := make([]Decided, len(list))
	for i := range list {
		a := &list[i].Answer
		out[i] = Decided{Answer: oneline.Cut(oneline.Of(clean(list[i].Text())), 400), By: a.By, Via: a.Via, At: a.At, Session: list[i].Session}
	}
	return out, nil
}
