package effect

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// ChildOutcome is how another cascade ended that a run had begun.
type ChildOutcome struct {
	echo.ChildEnd
	Totals Totals // of the child and of its own children
	Error  *echo.Failure
}

// SetCopied notes what the child of a fork has copied, which is not in the totals.
func (o *ChildOutcome) SetCopied(t Totals) {
	o.Copied = nil
	if t != (Totals{}) {
		o.Copied = &echo.CopiedTotals{Calls: t.Calls, Usage: t.Usage, CostUSD: t.CostUSD, Unknown: t.UnknownCosts, Pretend: t.Pretend()}
	}
}

// CopiedTotals returns what the child of a fork has copied, which is not in the totals.
func (o *ChildOutcome) CopiedTotals() (t Totals) {
	c := o.Copied
	if c == nil {
		return t
	}
	t = Totals{Calls: c.Calls, Usage: c.Usage, CostUSD: c.CostUSD, UnknownCosts: c.Unknown}
	if c.Pretend != nil {
		t.PretendUSD, t.PriceAs = c.Pretend.USD, c.Pretend.Model
	}
	return t
}

// RunChild runs another cascade to its end, or waits for it. The error is the end of ctx, or why the
// child could not be run to an end; it is no outcome.
type RunChild func(ctx context.Context) (*ChildOutcome, error)

// ChildEntry returns the entry of the end of a child.
func ChildEntry(key echo.Key, s Site, out *ChildOutcome, took time.Duration) *echo.Entry {
	e := newEntry("", key, s)
	end := out.ChildEnd
	end.Calls, end.Unknown, end.Known = out.Totals.Calls, out.Totals.UnknownCosts, 0
	if end.Unknown > 0 {
		end.Known = out.Totals.CostUSD
	}
	e.Set(end)
	e.Usage, e.CostUSD, e.Pretend, e.Scripted = &out.Totals.Usage, out.Totals.Cost(), out.Totals.Pretend(), out.Totals.Scripted
	e.DurationMS, e.Error = Millis(took), out.Error
	return e
}

// ChildOf reads the end of a child.
func ChildOf(e *echo.Entry) (*ChildOutcome, error) {
	end, err := echo.Read[echo.ChildEnd](e)
	if err != nil {
		return nil, err
	}
	out := &ChildOutcome{ChildEnd: end, Error: e.Error}
	out.Totals = Totals{Calls: end.Calls, UnknownCosts: end.Unknown, CostUSD: end.Known, Scripted: e.Scripted}
	if e.Usage != nil {
		out.Totals.Usage = *e.Usage
	}
	if e.CostUSD != nil {
		out.Totals.CostUSD = *e.CostUSD
	}
	if p := e.Pretend; p != nil {
		out.Totals.PretendUSD, out.Totals.PriceAs = p.USD, p.Model
	}
	return out, nil
}

// Child implements [Effects].
func (l *Live) Child(ctx context.Context, key echo.Key, site Site, run RunChild) (*ChildOutcome, error) {
	if err := l.w.Settle(ctx); err != nil {
		return nil, err
	}
	start := l.now()
	out, err := run(ctx)
	if err != nil {
		return nil, err
	}
	return l.w.Child(key, site, out, l.now().Sub(start))
}

// Child records the end of a child and returns it as it is recorded.
func (w Writer) Child(key echo.Key, site Site, out *ChildOutcome, took time.Duration) (*ChildOutcome, error) {
	e := withoutSecrets(w.mask(), ChildEntry(key, site, out, took))
	if err := w.Append(e); err != nil {
		return nil, err
	}
	w.Log.Commit()
	return ChildOf(e)
}

// Child implements [Effects].
func (r *Recorder) Child(ctx context.Context, key echo.Key, site Site, run RunChild) (*ChildOutcome, error) {
	e, err := r.follow(echo.NodeChildEnd, key)
	switch {
	case err != nil:
		return nil, err
	case e != nil:
		return ChildOf(e)
	}
	return r.effects.Child(ctx, key, site, run)
}

// Child implements [Effects].
func (a *Answered) Child(ctx context.Context, key echo.Key, site Site, _ RunChild) (*ChildOutcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	was := a.take(echo.NodeChildEnd, key, func(*echo.Entry) bool { return true })
	if was == nil {
		return nil, &UnansweredError{Node: echo.NodeChildEnd, Key: key, Site: site}
	}
	out, err := ChildOf(was)
	if err != nil {
		return nil, err
	}
	return a.w.Child(key, site, out, 0)
}
