package database

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

// settleTime is how long a run waits for ClickHouse before it starts: a running engine is faster.
const settleTime = 300 * time.Millisecond

// Handle is one user of a pool. It is safe for concurrent use.
type Handle struct {
	pool  *Pool
	first *attempt
	left  chan struct{} // closed when the user waits for nothing any more
	leave sync.Once

	mu   sync.Mutex
	next *attempt // whose outcome comes next
	seen bool     // the user has had that already
}

// DB returns the open database, which the caller closes. A call after the first says that the one
// before is lost: it is opened again, unless another user has.
func (h *Handle) DB(ctx context.Context) (*clickhouse.DB, error) {
	for {
		a := h.attempt()
		if err := h.wait(ctx, a); err != nil {
			return nil, fmt.Errorf("wait for ClickHouse to open: %w", err)
		}
		h.mu.Lock()
		h.seen = true
		h.mu.Unlock()
		if a.err != nil {
			return nil, a.err
		}
		if db, ok := h.pool.share(a); ok {
			return db, nil
		}
	}
}

func (h *Handle) attempt() *attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen {
		h.next, h.seen = h.pool.attempt(h.next), false
	}
	return h.next
}

func (h *Handle) wait(ctx context.Context, a *attempt) error {
	if a.ended() {
		return nil
	}
	select {
	case <-a.done:
		return nil
	case <-h.left:
		return context.Canceled
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Settle waits for the first attempt: shortly, or for a fetch, which it shows, until ctx ends.
func (h *Handle) Settle(ctx context.Context, show func(clickhouse.Progress)) {
	defer h.first.watch(show)()
	t := time.NewTicker(settleTime)
	defer t.Stop()
	for {
		select {
		case <-h.first.done:
			return
		case <-ctx.Done():
			if h.first.fetching() {
				h.leave.Do(func() { close(h.left) })
			}
			return
		case <-t.C:
			if !h.first.fetching() {
				return
			}
		}
	}
}

// Warning returns what a person should know of the engine that was started, or "".
func (h *Handle) Warning() string {
	if !h.first.ended() {
		return ""
	}
	return h.first.warning
}

// Watch calls show with how far the first attempt is, until end is called.
func (h *Handle) Watch(show func(clickhouse.Progress)) (end func()) { return h.first.watch(show) }
