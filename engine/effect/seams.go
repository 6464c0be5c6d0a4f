package effect

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// Seams are what a run takes from its process besides effects, for runs within another workflow
// engine. The zero value is an ordinary process.
type Seams struct {
	// Now is the clock. What a run depends on of it goes through [Effects.Value].
	Now func() time.Time
	// Sleep waits for so long; it returns ctx's error when that ends before.
	Sleep func(ctx context.Context, d time.Duration) error
	// Parallel runs tasks, limit at a time, and returns the first error, which ends the others.
	Parallel func(ctx context.Context, limit int, tasks []func(context.Context) error) error
}

// OrSystem fills in the seams of an ordinary process.
func (s Seams) OrSystem() Seams {
	s.Now = orSystem(s.Now)
	if s.Sleep == nil {
		s.Sleep = sleep
	}
	if s.Parallel == nil {
		s.Parallel = parallel
	}
	return s
}

func orSystem(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func parallel(ctx context.Context, limit int, tasks []func(context.Context) error) error {
	if len(tasks) == 1 {
		return tasks[0](ctx)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	for _, task := range tasks {
		g.Go(func() error { return task(gctx) })
	}
	return g.Wait()
}
