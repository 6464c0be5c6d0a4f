package core

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Account is what the model calls of a run, or of a branch of it, took, and may take.
type Account struct {
	Ledger     *budget.Ledger
	Models     *Models
	Totals     *effect.Totals       // of the run or branch
	Copied     copiedPart           // of a fork: what does not count in its budget
	Background func() effect.Totals // see Spec.Background
	Start      time.Time            // of the run, by the clock of active
	reported   bool                 // that a cost of the background is unknown
}

// Took returns for how many seconds the run has been active at a time by the clock of active, without
// those that it has copied.
func (a *Account) Took(at time.Time) float64 { return a.own(at.Sub(a.Start).Seconds()) }

// own returns what is left of seconds without those that the run has copied.
func (a *Account) own(seconds float64) float64 { return max(seconds-a.Copied.seconds, 0) }

// Calls makes the model calls of one visit.
type Calls struct {
	*Account
	*Place
	Visited *effect.Totals      // of the visit
	held    *budget.Reservation // for the next call; nil: that is recorded
}

type sizing func(*effect.ModelRequest, effect.ModelFacts) budget.Size

// Begin checks a call against the budget. The phase's own requests are checked with their views.
func (c *Calls) Begin(ctx context.Context, key echo.Key, req *effect.ModelRequest) error {
	if err := c.Afford(ctx, key, req, budget.SizeOf); err != nil {
		return err
	}
	c.Rec.Observe(Event{Kind: EventModelCall, Key: key, Site: req.Site, Model: req.Model})
	return nil
}

// Try makes a call that the phase can do without: a failed call is a problem, and only the end of
// the run, its budget or its record an error.
func (c *Calls) Try(ctx context.Context, key echo.Key, req *effect.ModelRequest) (resp *effect.ModelResponse, problem string, err error) {
	if err := c.Begin(ctx, key, req); err != nil {
		return nil, "", err
	}
	resp, err = c.Ask(ctx, key, req)
	if err != nil && !effect.IsRecordError(err) && !EndedByContext(err) {
		return nil, excerpt.FirstLine(err.Error()), nil
	}
	return resp, "", err
}

// EmptyAnswer says that an answer has no text.
func EmptyAnswer(resp *effect.ModelResponse) string {
	return fmt.Sprintf("the answer is empty (finish reason %q)", resp.FinishReason)
}

// WhyEmpty says why an answer has no text; "" when it has some.
func WhyEmpty(resp *effect.ModelResponse) string {
	if strings.TrimSpace(resp.Message.Text()) != "" {
		return ""
	}
	reasoned := resp.Usage.Reasoning > 0
	switch {
	case resp.FinishReason == "length" && reasoned:
		return "it was cut off at the limit of output tokens while the model was still reasoning"
	case resp.FinishReason == "length":
		return "it was cut off at the limit of output tokens before any text"
	case resp.FinishReason == "content_filter":
		return "the provider's content filter withheld it"
	case len(resp.Message.ToolCalls()) > 0:
		return "the model called tools where none can be called"
	case reasoned:
		return "the model only reasoned"
	}
	return "the model said nothing"
}

// Ask makes a model call and counts what it took, also when it failed: one that broke off may have
// been paid for.
func (c *Calls) Ask(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	held := c.held
	c.held = nil
	if held == nil && c.Rec.Peek(echo.NodeModelCall, key) == nil {
		var err error
		if held, err = c.Ledger.Hold(req); err != nil { // its selection is recorded: it was decided before the run stopped
			return nil, err
		}
	}
	resp, err := c.Rec.Model(ctx, key, req)
	if err != nil && notAsked(err) {
		held.Settle(nil, nil)
	} else {
		held.Settle(resp, err)
	}
	c.Visited.Count(resp, err)
	c.Totals.Count(resp, err)
	return resp, err
}

// notAsked reports whether an error is that of a call that was not made.
func notAsked(err error) bool { return effect.IsRecordError(err) || EndedByContext(err) }

// Afford returns a [*budget.Error] when the call would exceed a limit; one that is recorded was
// decided then. Facts and readings are taken whatever the limits are, so that a run that resumes
// under others finds what is recorded.
func (c *Calls) Afford(ctx context.Context, key echo.Key, req *effect.ModelRequest, size sizing) error {
	f, err := c.Models.Of(ctx, req.Model)
	if err != nil {
		return err
	}
	if err := c.countBackground(ctx, key.Step(echo.StepBackground)); err != nil {
		return err
	}
	elapsed, err := c.readClock(ctx, key.Step(echo.StepClock))
	if err != nil || c.Rec.Replaying() {
		return err
	}
	if elapsed != nil {
		elapsed = new(c.own(*elapsed))
	}
	c.held.Settle(nil, nil) // of a call that was not made
	c.held, err = c.Ledger.Reserve(ctx, req, size(req, f), f, elapsed)
	return err
}

// countBackground reads what calls in the background have taken. An unknown cost is reported once
// and does not end the run, which depends on none of them.
func (c *Calls) countBackground(ctx context.Context, key echo.Key) error {
	recorded := c.Rec.Peek(echo.NodeValue, key) != nil
	usd, tokens := c.Ledger.Limited()
	d, known, err := effect.Reading[echo.BackgroundTotals](ctx, c.Rec, key, c.Site, func() echo.Payload {
		if c.Background == nil || !usd && !tokens {
			return nil
		}
		if t := c.Background(); t != (effect.Totals{}) {
			return echo.BackgroundTotals{
				Calls: t.Calls, Usage: t.Usage, CostUSD: t.CostUSD, UnknownCosts: t.UnknownCosts, Scripted: t.Scripted, Limited: usd,
			}
		}
		return nil
	})
	if err != nil || !known {
		return err
	}
	if !recorded {
		c.Ledger.Background(effect.BackgroundOf(d))
	}
	if c.reported || d.UnknownCosts == 0 || !d.Limited {
		return nil
	}
	c.reported = true
	return c.Rec.Warn(key, "max_usd counts what cards cost as far as that is known: the cost of "+quantity.Of(d.UnknownCosts, "call")+" for them is unknown")
}

// readClock returns the run's active seconds, nil when they are neither limited nor recorded.
func (c *Calls) readClock(ctx context.Context, key echo.Key) (*float64, error) {
	elapsed, known, err := effect.Reading[echo.Clock](ctx, c.Rec, key, c.Site, func() echo.Payload {
		if c.Ledger.Limits().MaxSeconds <= 0 {
			return nil
		}
		return echo.Clock(c.Rec.Active().Sub(c.Start).Seconds())
	})
	if err != nil || !known {
		return nil, err
	}
	return (*float64)(&elapsed), nil
}

// copiedPart is what a fork has of the session that it comes from, which paid for it. The zero value
// has nothing.
type copiedPart struct {
	echo.Origin
	seconds float64 // for which the run had been active
}

// CopiedOf returns the part of a recording that was copied.
func CopiedOf(recording []*echo.Entry) copiedPart {
	if len(recording) == 0 {
		return copiedPart{}
	}
	c := copiedPart{Origin: echo.OriginOf(recording[0])}
	var away time.Duration
	for i, e := range recording {
		if !c.Has(e) {
			break
		}
		if e.NodeType == echo.NodeResume && i > 0 {
			away += max(e.At.Sub(recording[i-1].At), 0)
		}
		c.seconds = (e.At.Sub(recording[0].At) - away).Seconds()
	}
	return c
}
