package fetch

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Large is the size from which on a download does not begin unannounced: more than 10 MB.
const Large = 10_000_000

// Offer is a download that has not begun.
type Offer struct {
	Name string       // what "windlass fetch" calls it
	What string       // in messages, as in "the engine"
	Size int64        // bytes to download; 0: unknown
	Dir  string       // the cache folder that it goes into
	Kind failure.Kind // of the error when it is refused
}

// Amount returns the size as a person reads it.
func (o Offer) Amount() string {
	if o.Size == 0 {
		return "an unknown number of MB"
	}
	return quantity.MB(o.Size)
}

// isLarge reports whether the download is announced or asked for. An unknown size counts as large.
func (o Offer) isLarge() bool { return o.Size == 0 || o.Size > Large }

// Policy says what becomes of large downloads.
type Policy int

// The policies. The zero value is for commands that nobody expects to download.
const (
	PolicyAsk      Policy = iota // somebody is asked; where nobody can be, they are refused
	PolicyBegin                  // somebody is asked; where nobody can be, they are announced and begin
	PolicyAnnounce               // they are announced and begin: they were asked for
	PolicyNone                   // every download is refused, whatever its size
)

// Gate decides which downloads of a process begin. All of windlass's downloads pass one; nil lets all
// of them begin. A decision holds for the process: nobody is asked twice. It is safe for concurrent
// use.
type Gate struct {
	Policy   Policy
	Ask      func(context.Context, Offer) (bool, error) // nil: nobody can be asked. An error: there was no answer
	Announce func(Offer)                                // is told before a large download that nobody was asked for

	mu      sync.Mutex // guards decided, and is held while somebody is asked
	decided map[string]error
}

// RefusedError says that a download did not begin, and why.
type RefusedError struct {
	Offer Offer
	Why   string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: not on this machine, and %s", e.Offer.What, e.Why)
}

// IsRefused reports whether an error is that of a download that did not begin.
func IsRefused(err error) bool { return errors.As(err, new(*RefusedError)) }

// Allow returns nil when a download may begin. The error is a [*failure.Error] with a
// [*RefusedError], or that of ctx.
func (g *Gate) Allow(ctx context.Context, o Offer) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err, ok := g.decided[o.Name]; ok {
		return err
	}
	why := g.decide(ctx, o)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var err error
	if why != "" {
		err = failure.New(o.Kind, &RefusedError{o, why}, "windlass fetch "+o.Name)
	}
	if g.decided == nil {
		g.decided = map[string]error{}
	}
	g.decided[o.Name] = err
	return err
}

// decide returns why a download does not begin; "": it does.
func (g *Gate) decide(ctx context.Context, o Offer) (why string) {
	switch {
	case g.Policy == PolicyNone:
		return "no download is allowed (" + o.Amount() + ")"
	case !o.isLarge():
		return ""
	case g.Policy != PolicyAnnounce && g.Ask != nil:
		return g.ask(ctx, o)
	case g.Policy == PolicyAsk:
		return "without a terminal nobody can be asked whether to download " + o.Amount()
	}
	if g.Announce != nil {
		g.Announce(o)
	}
	return ""
}

func (g *Gate) ask(ctx context.Context, o Offer) (why string) {
	yes, err := g.Ask(ctx, o)
	switch {
	case err != nil:
		return "the question whether to download " + o.Amount() + " was not answered"
	case !yes:
		return "the download of " + o.Amount() + " was declined"
	}
	return ""
}
