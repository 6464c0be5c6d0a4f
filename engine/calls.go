package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// account is what the model calls of a run took, and may take.
type account struct {
	ledger     *budget.Ledger
	models     *models
	totals     *effect.Totals       // of the run
	copied     copiedPart           // of a fork: what does not count in its budget
	counted    effect.Totals        // of totals, what does
	background func() effect.Totals // see Spec.Background
	start      time.Time            // of the run, by the clock of active
	reported   bool                 // that a cost of the background is unknown
}

// calls makes the model calls of one visit.
type calls struct {
	*account
	*place
	visited *effect.Totals // of the visit
}

type sizing func(*effect.ModelRequest, effect.ModelFacts) budget.Size

// begin checks a call against the budget. The phase's own requests are checked with their views.
func (c *calls) begin(ctx context.Context, key echo.Key, req *effect.ModelRequest) error {
	if err := c.afford(ctx, key, req, budget.SizeOf); err != nil {
		return err
	}
	c.rec.observe(Event{Kind: EventModelCall, Site: req.Site, Model: req.Model})
	return nil
}

// try makes a call that the phase can do without: a failed call is a problem, and only the end of
// the run, its budget or its record an error.
func (c *calls) try(ctx context.Context, key echo.Key, req *effect.ModelRequest) (resp *effect.ModelResponse, problem string, err error) {
	if err := c.begin(ctx, key, req); err != nil {
		return nil, "", err
	}
	resp, err = c.ask(ctx, key, req)
	if err != nil && !effect.IsRecordError(err) && !endedByContext(err) {
		return nil, excerpt.FirstLine(err.Error()), nil
	}
	return resp, "", err
}

func emptyAnswer(resp *effect.ModelResponse) string {
	return fmt.Sprintf("the answer is empty (finish reason %q)", resp.FinishReason)
}

// ask makes a model call and counts what it took, also when it failed: one that broke off may have
// been paid for.
func (c *calls) ask(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	copied := c.copied.has(c.rec.Peek(echo.NodeModelCall, key))
	resp, err := c.rec.Model(ctx, key, req)
	c.visited.Count(resp, err)
	c.totals.Count(resp, err)
	if !copied {
		c.counted.Count(resp, err)
	}
	if err == nil {
		c.ledger.Answered(req, resp)
	}
	return resp, err
}

// afford returns a [*budget.Error] when the call would exceed a limit; one that is recorded was
// decided then. Facts and readings are taken whatever the limits are, so that a run that resumes
// under others finds what is recorded.
func (c *calls) afford(ctx context.Context, key echo.Key, req *effect.ModelRequest, size sizing) error {
	f, err := c.models.of(ctx, req.Model)
	if err != nil {
		return err
	}
	if err := c.countBackground(ctx, key.Step(echo.StepBackground)); err != nil {
		return err
	}
	elapsed, err := c.readClock(ctx, key.Step(echo.StepClock))
	if err != nil || c.ledger.Unlimited() || c.rec.replaying() {
		return err
	}
	if elapsed != nil {
		elapsed = new(max(*elapsed-c.copied.seconds, 0))
	}
	return c.ledger.Afford(req, size(req, f), f, c.counted, elapsed)
}

// countBackground reads what calls in the background have taken. An unknown cost is reported once
// and does not end the run, which depends on none of them.
func (c *calls) countBackground(ctx context.Context, key echo.Key) error {
	limits := &c.ledger.Limits
	copied := c.copied.has(c.rec.Peek(echo.NodeValue, key))
	d, known, err := effect.Reading[echo.BackgroundTotals](ctx, c.rec, key, c.Site, func() echo.Payload {
		if c.background == nil || limits.MaxUSD <= 0 && limits.MaxTokens <= 0 {
			return nil
		}
		if t := c.background(); t != (effect.Totals{}) {
			return echo.BackgroundTotals{
				Calls: t.Calls, Usage: t.Usage, CostUSD: t.CostUSD, UnknownCosts: t.UnknownCosts, Scripted: t.Scripted, Limited: limits.MaxUSD > 0,
			}
		}
		return nil
	})
	if err != nil || !known {
		return err
	}
	if !copied {
		c.ledger.Background = c.ledger.Background.Plus(effect.Totals{
			Calls: d.Calls, Usage: d.Usage, CostUSD: d.CostUSD, UnknownCosts: d.UnknownCosts, Scripted: d.Scripted,
		})
	}
	if c.reported || d.UnknownCosts == 0 || !d.Limited {
		return nil
	}
	c.reported = true
	return c.rec.warn(key, "max_usd counts what cards cost as far as that is known: the cost of "+quantity.Of(d.UnknownCosts, "call")+" for them is unknown")
}

// readClock returns the run's active seconds, nil when they are neither limited nor recorded.
func (c *calls) readClock(ctx context.Context, key echo.Key) (*float64, error) {
	elapsed, known, err := effect.Reading[echo.Clock](ctx, c.rec, key, c.Site, func() echo.Payload {
		if c.ledger.Limits.MaxSeconds <= 0 {
			return nil
		}
		return echo.Clock(c.rec.active().Sub(c.start).Seconds())
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

// copiedOf returns the part of a recording that was copied.
func copiedOf(recording []*echo.Entry) copiedPart {
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

// has reports whether a recorded entry, or none, was copied.
func (c *copiedPart) has(e *echo.Entry) bool { return e != nil && c.Has(e) }
