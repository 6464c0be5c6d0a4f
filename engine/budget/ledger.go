package budget

import (
	"context"
	"sync"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Ledger is what a run and its children have taken so far, what their calls in flight are expected
// to take, and the run's limits. A child's ledger counts in those above it. It is safe for concurrent
// use.
type Ledger struct {
	limits cascade.Budget // the zero value limits nothing
	parent *Ledger
	tree   *tree

	detached bool   // nobody waits for the run: a limit above that stops it stops none of those above
	stopped  *Error // why no call begins any more, here and below; nil: calls may begin

	used       effect.Totals
	background effect.Totals // calls in the background of the run
	reserved   amounts

	kinds  map[answerKind]tally // answers of the run, for estimates of the next one
	models map[string]tally
	most   map[string]amounts // by phase: the largest that one call of the run was expected to take
}

// tree is what all ledgers of a run and its children share: the mutex guards everything in them that
// changes.
type tree struct {
	mu      sync.Mutex
	settled chan struct{} // closed when a call has ended or a ledger is closed, and then rebuilt
}

// amounts is what calls in flight are expected to take.
type amounts struct {
	calls  int
	tokens int64
	usd    float64
}

// NewLedger returns the ledger of a run that begins. parent is that of the run that has begun it, nil
// for none.
func NewLedger(limits cascade.Budget, parent *Ledger) *Ledger {
	l := &Ledger{limits: limits, parent: parent, kinds: map[answerKind]tally{}, models: map[string]tally{}, most: map[string]amounts{}}
	if parent != nil {
		l.tree = parent.tree
		return l
	}
	l.tree = &tree{settled: make(chan struct{})}
	return l
}

// Detach says of the ledger of a run that begins that no run above waits for it.
func (l *Ledger) Detach() { l.detached = true }

// Limits returns the limits of the run itself.
func (l *Ledger) Limits() cascade.Budget { return l.limits }

// Limited reports whether the run, or one above it, has a limit of money or of tokens.
func (l *Ledger) Limited() (usd, tokens bool) {
	for ; l != nil; l = l.parent {
		usd, tokens = usd || l.limits.MaxUSD > 0, tokens || l.limits.MaxTokens > 0
	}
	return usd, tokens
}

// Left is what a run may still take; nil: nothing limits it.
type Left struct {
	USD    *float64
	Tokens *int64
}

// Left returns what is left of the limits of the run and of those above it, without what calls in flight
// are expected to take.
func (l *Ledger) Left() Left {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	var left Left
	for ; l != nil; l = l.parent {
		took := l.used.Plus(l.background).Plus(l.reserved.totals())
		if most := l.limits.MaxUSD; most > 0 {
			usd := most - took.CostUSD - took.PretendUSD
			if left.USD != nil {
				usd = min(usd, *left.USD)
			}
			left.USD = &usd
		}
		if most := l.limits.MaxTokens; most > 0 {
			tokens := most - took.Usage.In - took.Usage.Out
			if left.Tokens != nil {
				tokens = min(tokens, *left.Tokens)
			}
			left.Tokens = &tokens
		}
	}
	return left
}

// Recorded counts an entry of an earlier life of the run, in this ledger alone: those above count
// what their children have taken as a whole, see [Ledger.Taken].
func (l *Ledger) Recorded(e *echo.Entry) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	switch e.NodeType { //nolint:exhaustive // the others take nothing
	case echo.NodeModelCall:
		if resp := l.used.CountRecorded(e); resp != nil {
			l.answered(kindOfEntry(e), resp)
			l.expected(e.Phase, taken(resp))
		}
	case echo.NodeChildEnd:
		if child, err := effect.ChildOf(e); err == nil {
			l.used = l.used.Plus(child.Totals)
		}
	case echo.NodeValue:
		if d, err := echo.Read[echo.BackgroundTotals](e); err == nil {
			l.background = l.background.Plus(effect.BackgroundOf(d))
		}
	}
}

// Taken counts what children that go on have taken in earlier lives, in this ledger alone.
func (l *Ledger) Taken(t effect.Totals) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	l.used = l.used.Plus(t)
}

// Background counts what calls in the background of the run have taken.
func (l *Ledger) Background(t effect.Totals) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	for ; l != nil; l = l.parent {
		l.background = l.background.Plus(t)
	}
}

// Reservation is what a call that is about to be made is expected to take. It is settled once.
type Reservation struct {
	of     *Ledger
	kind   answerKind
	amount amounts
}

// Reserve returns an [*Error] when the next call would exceed a limit of the run or of one above it.
// That closes the ledger of whose limit it is: every call that would begin there or below gets the same
// error from then on, and what is reserved already goes on. A call that would fit once others have
// settled that are in flight waits for them, until ctx ends. elapsed are the active seconds of the run,
// nil when they are not known.
func (l *Ledger) Reserve(ctx context.Context, req *effect.ModelRequest, sent Size, f effect.ModelFacts, elapsed *float64) (*Reservation, error) {
	for {
		r, settled, err := l.try(req, sent, f, elapsed)
		if settled == nil {
			return r, err
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Hold is [Ledger.Reserve] for a call that was decided already: it is not held against the limits. The
// error is that of a ledger that is closed.
func (l *Ledger) Hold(req *effect.ModelRequest) (*Reservation, error) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	if err := l.closed(); err != nil {
		return nil, err
	}
	return l.hold(kindOf(req), amounts{calls: 1}), nil
}

// Stop closes the ledger of a run that cannot go on, as a limit has stopped what it waits for. It
// returns the error that ends the run, which says whether the limit is one above it.
func (l *Ledger) Stop(why *Error) error {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	if err := l.closed(); err != nil {
		return err
	}
	l.close(why)
	return why
}

// close has no call begin any more in this ledger and those below, and wakes those that wait.
func (l *Ledger) close(why *Error) {
	if l.stopped == nil {
		l.stopped = why
		l.tree.wake()
	}
}

// closed returns the error of a ledger that is closed, itself or with one above it; nil when it is not.
func (l *Ledger) closed() error {
	for at := l; at != nil; at = at.parent {
		if at.stopped != nil {
			err := *at.stopped
			err.Above = err.Above || at != l
			return &err
		}
	}
	return nil
}

// stops returns the ledger that is closed when a limit of one above, or its own, does not allow a call:
// that one, but no run is stopped by one that has begun beside it and that it does not wait for.
func (l *Ledger) stops(limited *Ledger) *Ledger {
	stop := limited
	for at := l; at != limited; at = at.parent {
		if at.detached {
			stop = at
		}
	}
	return stop
}

// wake has calls that wait look again.
func (t *tree) wake() {
	close(t.settled)
	t.settled = make(chan struct{})
}

// try makes a reservation, or returns what to wait for.
func (l *Ledger) try(req *effect.ModelRequest, sent Size, f effect.ModelFacts, elapsed *float64) (*Reservation, <-chan struct{}, error) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	if err := l.closed(); err != nil {
		return nil, nil, err
	}
	next := l.estimate(req, sent, f)
	for at := l; at != nil; at = at.parent {
		if err := overLimit(at.limits, at.used, at.background, elapsed, &next); err != nil {
			stop := l.stops(at)
			why := *err
			why.Above = at != stop
			stop.close(&why)
			err.Above = at != l
			return nil, nil, err
		}
		if at.reserved.calls > 0 && overLimit(at.limits, at.used.Plus(at.reserved.totals()), at.background, elapsed, &next) != nil {
			return nil, l.tree.settled, nil
		}
		elapsed = nil // of the run alone
	}
	amount := amounts{calls: 1, tokens: next.Tokens()}
	if next.USD != nil {
		amount.usd = *next.USD
	}
	return l.hold(kindOf(req), amount), nil, nil
}

// Most returns the largest that one call of a phase of the run was expected to take. Of an earlier life of the run it
// knows what calls took.
func (l *Ledger) Most(phase string) effect.Totals {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	return l.most[phase].totals()
}

func (l *Ledger) expected(phase string, a amounts) {
	was := l.most[phase]
	l.most[phase] = amounts{tokens: max(was.tokens, a.tokens), usd: max(was.usd, a.usd)}
}

// taken returns what a call took, as far as it is known.
func taken(resp *effect.ModelResponse) amounts {
	var t effect.Totals
	t.Count(resp, nil)
	return amounts{tokens: t.Usage.In + t.Usage.Out, usd: t.CostUSD + t.PretendUSD}
}

func (l *Ledger) hold(kind answerKind, amount amounts) *Reservation {
	r := &Reservation{of: l, kind: kind, amount: amount}
	l.expected(kind.phase, amount)
	for ; l != nil; l = l.parent {
		l.reserved = l.reserved.plus(amount, 1)
	}
	return r
}

// Settle counts what the call took, also one that failed: one that broke off may have been paid for.
// A call that was not made at all has neither an answer nor an error. A nil reservation, of a call
// that is recorded, has nothing to settle.
func (r *Reservation) Settle(resp *effect.ModelResponse, err error) {
	if r == nil {
		return
	}
	t := r.of.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	for at := r.of; at != nil; at = at.parent {
		at.reserved = at.reserved.plus(r.amount, -1)
		if resp != nil || err != nil {
			at.used.Count(resp, err)
		}
	}
	if resp != nil && err == nil {
		r.of.answered(r.kind, resp)
	}
	t.wake()
}

func (l *Ledger) answered(kind answerKind, resp *effect.ModelResponse) {
	l.kinds[kind] = l.kinds[kind].plus(resp)
	l.models[kind.model] = l.models[kind.model].plus(resp)
}

func (l *Ledger) estimate(req *effect.ModelRequest, sent Size, f effect.ModelFacts) Estimate {
	model := l.models[req.Model]
	e := estimate(sent, expectAnswer(req, l.kinds[kindOf(req)], model, f.MaxOutput), f.Tariff, model)
	if f.Price != nil {
		e.PriceAs = f.Price.As
	}
	return e
}

func (a amounts) plus(b amounts, sign int) amounts {
	a.calls += sign * b.calls
	if a.calls == 0 {
		return amounts{} // what sums of fractions leave over
	}
	return amounts{calls: a.calls, tokens: a.tokens + int64(sign)*b.tokens, usd: a.usd + float64(sign)*b.usd}
}

func (a amounts) totals() effect.Totals {
	return effect.Totals{Usage: echo.Usage{In: a.tokens}, CostUSD: a.usd}
}
