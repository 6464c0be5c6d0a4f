package contextcards

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	firstPause = 100 * time.Millisecond // between attempts, doubled
	longPause  = 5 * time.Second        // up to this

	firstRest = time.Second // of a component that failed, doubled
	longRest  = time.Minute // up to this
)

// component is a summarizer or an embedder as it has behaved. One that failed is left alone for a
// while, so that messages do not wait for it one after the other.
type component struct {
	kind NoticeKind

	mu    sync.Mutex
	until time.Time // it is left alone
	rest  time.Duration
}

func (c *component) ready(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !now.Before(c.until)
}

func (c *component) failed(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.until) {
		return // another batch met the same failure
	}
	c.rest = min(max(2*c.rest, firstRest), longRest)
	c.until = now.Add(c.rest)
}

func (c *component) worked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest, c.until = 0, time.Time{}
}

// ask calls a component, as often as the options say while it fails.
func ask[T any](ctx context.Context, m *maker, c *component, call func(context.Context) (T, error)) (result T, err error) {
	for try := range m.options.Attempts {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		if try > 0 && !sleep(ctx, nil, firstPause<<(try-1)) {
			break
		}
		if result, err = attempt(ctx, m.options.Timeout, call); err == nil {
			c.worked()
			m.notices.worked(c.kind)
			return result, nil
		}
	}
	return result, err
}

func attempt[T any](ctx context.Context, limit time.Duration, call func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := guarded(limited, call)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", limit)
	}
	return result, err
}

// guarded calls a component in a goroutine of its own, so that one that panics or does not heed its
// context does no harm here. What it returns after ctx has ended is dropped.
func guarded[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		result T
		err    error
	}
	out := make(chan outcome, 1)
	go func() {
		var o outcome
		returned := false
		defer func() {
			if !returned {
				o.err = fmt.Errorf("it panicked: %v", recover())
			}
			out <- o
		}()
		o.result, o.err = call(ctx)
		returned = true
	}()
	select {
	case o := <-out:
		return o.result, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// sleep waits, less long when urge is closed. It returns false when ctx has ended.
func sleep(ctx context.Context, urge <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-urge:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
