package simulate

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// Simulation says what is replayed how. It is read only while it runs.
type Simulation struct {
	Policies []Policy // see [WithHindsight]
	Prices   []Prices
	Keep     bool // requests are kept in [Call.Request]
}

// Run is one conversation under one policy at one price.
type Run struct {
	Policy string
	Prices Prices
	Calls  []Call
}

// Outcome is what became of one conversation. Runs are in the order of the prices, and for each price in the order of the
// policies. Full is the replay with full history at each price.
type Outcome struct {
	Conversation *Conversation
	Runs         []Run
	Full         []Run
}

// Run replays conversations, as many at a time as there are processors, and yields their outcomes in order. It ends with
// the first error: of a replay, of yield, or of ctx.
func (s *Simulation) Run(ctx context.Context, all []*Conversation, yield func(*Outcome) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel(nil)
	done := make([]chan *Outcome, len(all))
	for i := range done {
		done[i] = make(chan *Outcome, 1)
	}
	// A place is free again when an outcome was yielded, so that outcomes that wait for an earlier one stay few.
	places := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	next := make(chan int)
	work.Go(func() { feed(ctx, len(all), places, next) })
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := range next {
				out, err := s.one(ctx, all[i])
				if err != nil {
					cancel(fmt.Errorf("replay %s: %w", all[i], err))
				}
				done[i] <- out
			}
		})
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
			<-places
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// feed hands out the numbers of n conversations, each when there is a place for its outcome.
func feed(ctx context.Context, n int, places chan<- struct{}, next chan<- int) {
	defer close(next)
	for i := range n {
		select {
		case places <- struct{}{}:
			next <- i
		case <-ctx.Done():
			return
		}
	}
}

// String names a conversation for people.
func (c *Conversation) String() string {
	if c.Name != "" {
		return fmt.Sprintf("%s of %s", c.Name, c.File)
	}
	return fmt.Sprintf("%s:%d", c.File, c.Number)
}

// one replays one conversation under everything.
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
		for i, p := range s.Policies {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
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

// run replays the conversation under a policy; co is needed for those of hindsight.
func (r *replayer) run(ctx context.Context, p Policy, prices Prices, co *course) ([]Call, error) {
	if !p.Hindsight {
		return r.replay(ctx, p.settings(r.conversation, prices, false), prices, nil)
	}
	schedule, _, err := best(ctx, co.stages, prices)
	if err != nil {
		return nil, err
	}
	return r.replay(ctx, p.settings(r.conversation, prices, true), prices, co.asOf(schedule))
}

// bestFor returns the index of the policy that is the hindsight of a policy's class, -1 when there is none.
func (s *Simulation) bestFor(p Policy) int {
	class, ok := p.class()
	if !ok {
		return -1
	}
	return hindsightOf(s.Policies, class)
}
