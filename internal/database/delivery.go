package database

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/sessions"
	"github.com/windlass-run/windlass/internal/source"
)

// deliveryLimit is how much longer a run may take for what earlier runs left.
const deliveryLimit = 2 * time.Second

// deliveryLock, in the home folder, keeps two processes from delivering the same.
const deliveryLock = "ship.lock"

// Delivery delivers what earlier runs could not, while one runs that depends on nothing of it.
type Delivery struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
	result Delivered     // the goroutine's until then
}

// Delivered is what was delivered.
type Delivered struct{ Sessions, Rows int }

// Deliver delivers what is pending of the sessions next to dir. The end of ctx does not end it.
func Deliver(ctx context.Context, p *Pool, dir string) *Delivery {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d := &Delivery{cancel: cancel, done: make(chan struct{})}
	h := p.Open()
	go func() {
		defer close(d.done)
		d.work(ctx, h, dir)
	}()
	return d
}

// work delivers one session after the other. windlass ship says why one cannot be.
func (d *Delivery) work(ctx context.Context, h *Handle, own string) {
	folder, to := filepath.Dir(own), h.pool.Address()
	all, err := Pending(folder, to)
	if err != nil || len(all) == 0 {
		return
	}
	db, err := h.DB(ctx)
	if err != nil {
		return // it is not tried again for this
	}
	defer db.Close() //nolint:errcheck // what was delivered is
	lock := flock.New(filepath.Join(filepath.Dir(folder), deliveryLock), flock.SetFlag(os.O_CREATE|os.O_RDONLY|source.NonBlock), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return // another run does it
	}
	defer lock.Close() //nolint:errcheck // it is gone with the process
	for _, s := range all {
		if now, err := sessions.Look(s.Dir); err != nil || now.Busy || s.Dir == own {
			continue
		}
		done, err := db.Ship(ctx, s.Dir, clickhouse.ShipOptions{To: to})
		if done.Rows > 0 {
			d.result.Rows += done.Rows
			d.result.Sessions++
		}
		if err != nil && !journal.IsUnreadable(err) {
			return
		}
	}
}

// Finish ends it: after a while with wait, else at once. It may be called on nil.
func (d *Delivery) Finish(wait bool) Delivered {
	if d == nil {
		return Delivered{}
	}
	defer d.cancel()
	if !wait {
		d.cancel()
	}
	for _, limit := range []time.Duration{deliveryLimit, deliveryLimit / 4} {
		select {
		case <-d.done:
			return d.result
		case <-time.After(limit):
			d.cancel()
		}
	}
	return Delivered{} // it reads a large journal, which cannot be interrupted; what it delivered is noted
}

// Pending lists sessions that no process runs and a ClickHouse does not have whole.
func Pending(folder, to string) ([]*sessions.Session, error) {
	all, err := sessions.All(folder)
	if err != nil {
		return nil, err
	}
	var list []*sessions.Session
	for _, s := range all {
		if s.Pending(to) {
			list = append(list, s)
		}
	}
	return list, nil
}
