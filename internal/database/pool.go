package database

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

// keepUnused is how long an unused database stays open; its engine then ends by itself.
const keepUnused = time.Minute

// Pool is one ClickHouse for all of its users, made by [NewPool]. The mutex guards everything;
// attempts to open the database run on goroutines of their own, which no user's context ends.
type Pool struct {
	options clickhouse.Options
	keep    time.Duration

	mu      sync.Mutex
	current *attempt // nil: nobody has asked yet
	unused  *time.Timer
	closed  bool
}

// NewPool returns a pool for the database that the options name. It opens nothing yet.
func NewPool(o clickhouse.Options) *Pool { return &Pool{options: o, keep: keepUnused} }

// Address says which database it is, as [clickhouse.Options.Address] does.
func (p *Pool) Address() string { return p.options.Address() }

// Open begins to open the database for one more user, unless it is open.
func (p *Pool) Open() *Handle {
	a := p.attempt(nil)
	return &Handle{pool: p, first: a, next: a, left: make(chan struct{})}
}

// Use gives do the database, once more when that turns out to be lost.
func (p *Pool) Use(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
	h := p.Open()
	for again := false; ; again = true {
		db, err := h.DB(ctx)
		if err != nil {
			return err
		}
		err = errors.Join(do(ctx, db), db.Close())
		if again || !clickhouse.IsLost(err) || ctx.Err() != nil {
			return err
		}
	}
}

// Close ends an attempt that is under way, and the pool's own use of the database.
func (p *Pool) Close() error {
	p.mu.Lock()
	a := p.current
	p.current, p.closed = nil, true
	if p.unused != nil {
		p.unused.Stop()
	}
	p.mu.Unlock()
	if a == nil {
		return nil
	}
	a.cancel()
	<-a.done
	return a.retire()
}

var errClosed = errors.New("open ClickHouse: the pool is closed")

func (p *Pool) attempt(lost *attempt) *attempt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		a, _ := newAttempt()
		a.end(nil, errClosed)
		return a
	}
	switch a := p.current; {
	case a != nil && a != lost && !a.failed():
		return a
	case a != nil:
		_ = a.retire() // it is lost or never was: closing it changes nothing
	}
	a, ctx := newAttempt()
	p.current = a
	go a.run(ctx, p.options)
	return a
}

// share gives a user the database of an attempt, unless the pool has closed it.
func (p *Pool) share(a *attempt) (*clickhouse.DB, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != a {
		return nil, false
	}
	if p.unused == nil {
		p.unused = time.AfterFunc(p.keep, p.closeUnused)
	} else {
		p.unused.Reset(p.keep)
	}
	return clickhouse.Share(a.db), true
}

func (p *Pool) closeUnused() {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.current
	switch {
	case p.closed || a == nil || !a.ended():
		return
	case a.db != nil && clickhouse.IsShared(a.db):
		p.unused.Reset(p.keep)
		return
	}
	_ = a.retire() // what was written with it is written
	p.current = nil
}
