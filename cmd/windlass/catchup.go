package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/sessions"
)

// catchUpLimit is how much longer a run may take at its end for what earlier runs have left behind.
const catchUpLimit = 2 * time.Second

// shipLock is the file in the home folder that keeps two processes from delivering the same in the background.
const shipLock = "ship.lock"

// catchUp delivers, beside a run, what earlier runs on this machine could not. The run depends on nothing of it, and what
// is not done when it ends waits for the next one.
type catchUp struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
	result caughtUp      // the goroutine's until then
}

// caughtUp is what was delivered.
type caughtUp struct{ sessions, rows int }

// sessionsFolder is the folder that the sessions are in.
func sessionsFolder(home string) string { return filepath.Dir(config.SessionDir(home, "x")) }

// beginCatchUp starts to deliver what waits of the sessions beside the one in dir.
func beginCatchUp(ctx context.Context, d *database, dir string) *catchUp {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &catchUp{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.work(ctx, d, dir)
	}()
	return c
}

// work delivers one session after the other. Why one could not be delivered is told by windlass ship, to whom it may
// concern: nobody has asked here.
func (c *catchUp) work(ctx context.Context, d *database, own string) {
	folder, to := filepath.Dir(own), d.options.Address()
	all, err := waitingSessions(folder, to)
	if err != nil || len(all) == 0 {
		return
	}
	select {
	case <-d.ready:
	case <-ctx.Done():
		return
	}
	if d.err != nil {
		return // it is not tried again for this
	}
	lock := flock.New(filepath.Join(filepath.Dir(folder), shipLock), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return // another run does it
	}
	defer lock.Close() //nolint:errcheck // it is gone with the process
	db, err := d.another(ctx)
	if err != nil {
		return
	}
	defer db.Close() //nolint:errcheck // what was delivered is
	for _, s := range all {
		if now, err := sessions.Look(s.Dir); err != nil || now.Busy || s.Dir == own {
			continue
		}
		done, err := db.Ship(ctx, s.Dir, clickhouse.ShipOptions{To: to})
		if done.Rows > 0 {
			c.result.rows += done.Rows
			c.result.sessions++
		}
		if err != nil && !journal.IsUnreadable(err) {
			return
		}
	}
}

// finish ends it: after a while, unless ClickHouse did not even take the run's own rows.
func (c *catchUp) finish(wait bool) caughtUp {
	if c == nil {
		return caughtUp{}
	}
	defer c.cancel()
	if !wait {
		c.cancel()
	}
	for _, wait := range []time.Duration{catchUpLimit, catchUpLimit / 4} {
		select {
		case <-c.done:
			return c.result
		case <-time.After(wait):
			c.cancel()
		}
	}
	return caughtUp{} // it reads a large journal, which cannot be interrupted; what it delivered is noted
}

// waitingSessions lists the sessions of which a ClickHouse does not have everything, and which no process runs.
func waitingSessions(folder, to string) ([]*sessions.Session, error) {
	all, err := sessions.All(folder)
	if err != nil {
		return nil, err
	}
	var list []*sessions.Session
	for _, s := range all {
		if waits(s, to) {
			list = append(list, s)
		}
	}
	return list, nil
}

// waits reports whether a session has something that a ClickHouse does not have, and that is to be delivered.
func waits(s *sessions.Session, to string) bool {
	return s.Err == nil && !s.Busy && !s.Marks.KeepHere && s.Waiting(to) > 0
}
