package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// branch returns the run as a branch of it goes on: what the run has come to so far is the branch's,
// and what the branch comes to is its own until the run adopts it. The branch belongs to the
// goroutine that runs it; the run stands still meanwhile.
func (r *run) branch(key echo.Key) *run {
	b := *r
	b.rec = r.rec.In(key)
	b.session = r.session.Fork()
	b.messages = r.messages.Fork(b.session, b.rec.Now)
	b.result = &Result{SessionID: r.result.SessionID, CascadeID: r.result.CascadeID}
	account := *r.Account
	account.Totals, account.Models = &b.result.Totals, r.Models.In(b.rec)
	b.Account = &account
	b.inherited, b.opened, b.asyncs = len(r.session.Phases), false, nil
	return &b
}

// withoutNewest has a branch of a visit not see that visit, which goes on.
func withoutNewest(r *run) {
	r.session.Phases = slices.Clip(r.session.Phases[:len(r.session.Phases)-1])
	r.inherited = len(r.session.Phases)
}

// more returns what the templates of a branch see besides: what its run does, and what is its own.
func more(vars, own map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, vars)
	maps.Copy(all, own)
	return all
}

// ownVisits returns the visits of a branch.
func (r *run) ownVisits() []*echo.PhaseRecord { return r.session.Phases[r.inherited:] }

// left returns a branch that has ended, with nothing but what it leaves to the run.
func left(b *run) *run {
	return &run{session: b.session.Left(b.ownVisits()), messages: b.messages.Left(), result: b.result, branched: branched{asyncs: b.asyncs}}
}

// adopt takes over what branches have left, in their order: visits, state, callouts and figures.
func (r *run) adopt(branches ...*run) {
	for _, b := range branches {
		for _, rec := range b.ownVisits() {
			r.session.Phases = append(r.session.Phases, r.messages.Adopt(rec, b.messages))
		}
		r.adoptShared(b)
	}
}

// adoptShared takes over the state and the callouts of a branch, and returns the names that it set.
func (r *run) adoptShared(b *run) (set []string) {
	for _, name := range b.session.Changed {
		r.session.Set(nil, name, b.session.State[name])
	}
	r.session.Callouts = append(r.session.Callouts, b.session.OwnCallouts()...)
	r.asyncs = append(r.asyncs, b.asyncs...)
	return b.session.Changed
}

// count adds what branches took to the result, in their order.
func (r *run) count(branches ...*run) {
	for _, b := range branches {
		*r.Totals = r.Totals.Plus(b.result.Totals)
		r.result.Children = r.result.Children.Plus(b.result.Children)
		r.result.Phases = append(r.result.Phases, b.result.Phases...)
	}
}

func differ(a, b any) bool { return string(effect.MustJSON(a)) != string(effect.MustJSON(b)) }

// settleContested records which value of a name of the state counts that several branches have set.
func (r *run) settleContested(at echo.Key, names []string) error {
	for _, name := range names {
		key := at.Named(echo.StepState, name)
		if err := r.rec.Warn(key, fmt.Sprintf("several branches set state %q to different values: the value of the later one in file order counts", name)); err != nil {
			return err
		}
		if err := r.rec.Add(key, echo.State{Key: name, Value: r.session.State[name]}); err != nil {
			return err
		}
	}
	return nil
}

// part is a branch that has ended.
type part struct {
	run   *run // nil: it did not begin
	out   outcome
	visit PhaseResult // of a part of a visit
	err   error       // why it failed; nil: it has ended well

	touched bool // a tool ran that may have changed something
}

// forked is a fork whose branches may fail, or be stopped by a limit, without an end to the others.
type forked struct {
	run     *run
	parts   []part
	handled bool // a failed branch is an outcome that the run goes on with
	anyOf   bool // failed branches are outcomes where one has ended well
}

// do runs branches, at most limit at a time. The error is that of the first branch that was stopped,
// else of the first that failed unless that is handled: the ends of the branches are recorded only
// when the run goes on, so that a run that resumes makes the failed calls again.
func (f *forked) do(ctx context.Context, limit int, keys []echo.Key, run func(ctx context.Context, i int) part) error {
	f.parts = make([]part, len(keys))
	branches := make([]effect.Branch, len(keys))
	for i, key := range keys {
		branches[i] = effect.Branch{Key: key, Run: func(ctx context.Context) error {
			f.parts[i] = run(ctx, i)
			return f.held(f.parts[i].err)
		}}
	}
	err := f.run.rec.Fork(ctx, f.run.spec.Cascade.CascadeID, limit, branches)
	for _, p := range f.parts {
		if p.run != nil {
			f.run.count(p.run)
		}
	}
	var held *effect.HeldError
	if !errors.As(err, &held) {
		return err
	}
	if err = f.worst(held.Err); f.anyOf && core.Recoverable(err) && slices.ContainsFunc(f.parts, func(p part) bool { return p.err == nil }) {
		return effect.Join(f.run.rec.Recorder, f.run.spec.Cascade.CascadeID, branches)
	}
	return err
}

// held is the error with which a branch ends: one that others need not end for is held back.
func (f *forked) held(err error) error {
	switch {
	case err == nil, core.Recoverable(err) && f.handled:
		return nil
	case effect.IsRecordError(err), core.EndedByContext(err):
		return err
	}
	return &effect.HeldError{Err: err}
}

// worst returns the first error that stops the run, else err. That a branch waits is the least of them: an
// answer would not help where another is stopped by a limit.
func (f *forked) worst(err error) error {
	var waits error
	for _, p := range f.parts {
		switch {
		case p.err == nil || core.Recoverable(p.err):
		case !effect.IsWaiting(p.err):
			return p.err
		case waits == nil:
			waits = p.err
		}
	}
	return cmp.Or(waits, err)
}
