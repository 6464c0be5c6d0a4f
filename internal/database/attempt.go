package database

import (
	"context"
	"sync"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// attempt is one attempt to open the database, on a goroutine of its own.
type attempt struct {
	cancel context.CancelFunc

	done    chan struct{} // closed when it has ended: what is below is final then
	db      *clickhouse.DB
	err     error
	warning string // what a person should know of the engine that was started

	mu       sync.Mutex // guards what is below
	latest   *clickhouse.Progress
	watchers map[*func(clickhouse.Progress)]bool
}

func newAttempt() (*attempt, context.Context) {
	ctx, cancel := context.WithCancel(context.Background())
	return &attempt{done: make(chan struct{}), cancel: cancel, watchers: map[*func(clickhouse.Progress)]bool{}}, ctx
}

func (a *attempt) run(ctx context.Context, o clickhouse.Options) {
	o.Warn = func(text string) { a.warning = text }
	o.Progress = a.progress
	a.end(clickhouse.Open(ctx, o))
}

func (a *attempt) end(db *clickhouse.DB, err error) {
	a.db, a.err = db, err
	close(a.done)
}

func (a *attempt) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

func (a *attempt) failed() bool { return a.ended() && a.err != nil }

// retire closes the pool's own use of an attempt that has ended; users keep theirs.
func (a *attempt) retire() error {
	a.cancel()
	if a.db == nil {
		return nil
	}
	return a.db.Close()
}

func (a *attempt) progress(p clickhouse.Progress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = &p
	for show := range a.watchers {
		(*show)(p)
	}
}

func (a *attempt) watch(show func(clickhouse.Progress)) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watchers[&show] = true
	if a.latest != nil {
		show(*a.latest)
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.watchers, &show)
	}
}

func (a *attempt) fetching() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.latest != nil && a.latest.Step != embedded.StepStart
}
