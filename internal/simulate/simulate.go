// Package simulate replays recorded conversations under context policies, without a model: what
// would be sent, shared with a prefix cache, paid, and lost. Views are those of
// [autocontext.Builder], measured here from the messages as sent.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// Simulation says what is replayed how. It is read only while it runs.
type Simulation struct {
	Policies []Policy // see [WithHindsight]
	Prices   []Prices
	Keep     bool // requests are kept in [Call.Request]
	Series   bool // a [Collector] keeps each call in [Group.Series]
}

// Run is one conversation under one policy at one price.
type Run struct {
	Policy string
	Prices Prices
	Calls  []Call
}

// Outcome is the result of one conversation.
type Outcome struct {
	Conversation *Conversation
	Runs         []Run // by prices, then by policies
	Full         []Run // with full history, by prices
	AsRun        []Run // what was really sent, by prices; none: it is not recorded
}

// Run replays conversations in parallel and yields their outcomes in order. It ends with the first
// error: of a replay, of yield, or of ctx.
func (s *Simulation) Run(ctx context.Context, all []*Conversation, yield func(*Outcome) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel(nil)
	done := make([]chan *Outcome, len(all))
	running := make(chan struct{}, runtime.GOMAXPROCS(0)) // a replay takes much memory
	start := func(i int) {
		done[i] = make(chan *Outcome, 1)
		work.Go(func() {
			running <- struct{}{}
			defer func() { <-running }()
			out, err := s.one(ctx, all[i])
			if err != nil {
				cancel(fmt.Errorf("replay %s: %w", all[i], err))
			}
			done[i] <- out
		})
	}
	ahead := 2 * cap(running) // few outcomes wait for an earlier one
	for i := range min(ahead, len(all)) {
		start(i)
	}
	for i := range all {
		select {
		case out := <-done[i]:
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := yield(out); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if i+ahead < len(all) {
			start(i + ahead)
		}
	}
	return nil
}

// Replay runs the simulation, calls step after each conversation, and writes the files: all of them, or
// none. The files with a line per call have the first named policies only.
func (s *Simulation) Replay(ctx context.Context, all []*Conversation, files *Files, step func()) (_ *Report, err error) {
	defer func() { err = errors.Join(err, files.Discard()) }()
	sum := NewCollector(s)
	err = s.Run(ctx, all, func(out *Outcome) error {
		sum.Add(out)
		step()
		return files.Write(out)
	})
	if err != nil {
		return nil, err
	}
	report := sum.Report()
	return report, files.Finish(report)
}

func (s *Simulation) one(ctx context.Context, c *Conversation) (*Outcome, error) {
	r := newReplayer(c, s.Keep)
	out := &Outcome{Conversation: c}
	courses := map[int]*course{} // by the index of the policy of the class
	full, _ := NamedPolicy(PolicyFull)
	for _, prices := range s.Prices {
		calls, err := r.replay(ctx, full.settings(c, prices, false), prices, nil)
		if err != nil {
			return nil, err
		}
		out.Full = append(out.Full, Run{Policy: PolicyFull, Prices: prices, Calls: calls})
		if c.Sent != nil {
			out.AsRun = append(out.AsRun, Run{Policy: AsRun, Prices: prices, Calls: r.asRun(prices)})
		}
		for i, p := range s.Policies {
			if p.Hindsight && courses[i] == nil {
				courses[i] = lay(c, p.settings(c, prices, true))
			}
			calls, err := r.run(ctx, p, prices, courses[i])
			if err != nil {
				return nil, err
			}
			out.Runs = append(out.Runs, Run{Policy: p.Name, Prices: prices, Calls: calls})
		}
	}
	return out, nil
}

func (r *replayer) run(ctx context.Context, p Policy, prices Prices, co *course) ([]Call, error) {
	var schedule []int
	if p.Hindsight {
		frontiers, _, err := best(ctx, co.stages, prices)
		if err != nil {
			return nil, err
		}
		schedule = co.asOf(frontiers)
	}
	return r.replay(ctx, p.settings(r.conversation, prices, p.Hindsight), prices, schedule)
}
