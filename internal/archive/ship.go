package archive

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Backlog is what a ClickHouse lacks of the sessions on this machine that no process runs.
type Backlog struct {
	Rows     uint64 `json:"rows"`
	Sessions int    `json:"sessions"`
}

// LocalBacklog sums up what the database at an address lacks, without the unreadable sessions.
func LocalBacklog(home, to string) (b Backlog, unreadable []error, err error) {
	all, err := look(home)
	for _, s := range all {
		switch {
		case s.Err != nil:
			unreadable = append(unreadable, s.Err)
		case s.Pending(to):
			b.Sessions++
			b.Rows += s.Waiting(to)
		}
	}
	return b, unreadable, err
}

// Unsent counts the sessions on this machine that a ClickHouse does not have, or not whole, and that no
// process runs.
type Unsent struct {
	Kept    int // they stay here until somebody delivers them by name: they ran without ClickHouse
	Pending int // the next run delivers them
}

// UnsentOf counts what the database of an archive lacks.
func UnsentOf(a *Archive) (u Unsent, err error) {
	to, err := a.Address()
	if err != nil {
		return u, err
	}
	all, err := look(a.Home)
	for _, s := range all {
		switch {
		case s.Err != nil || s.Busy || s.Waiting(to) == 0:
		case s.Marks.KeepHere:
			u.Kept++
		default:
			u.Pending++
		}
	}
	return u, err
}

// BacklogOf sums up what is pending of a list.
func BacklogOf(list []Listed) (b Backlog) {
	for _, s := range list {
		if s.Pending > 0 && !s.local.Busy && !s.local.Marks.KeepHere && s.Problem == "" {
			b.Sessions++
			b.Rows += s.Pending
		}
	}
	return b
}

// Shipped is what became of one session that was to be delivered.
type Shipped struct {
	ID        string  `json:"session_id"`
	Outcome   Outcome `json:"outcome"`
	Delivered int     `json:"delivered"` // rows
	Pending   uint64  `json:"waiting"`   // rows that ClickHouse still does not have
	Error     string  `json:"error,omitempty"`

	Unreadable error `json:"-"` // why its journal cannot be read
}

// Outcome is what became of a session that was to be delivered.
type Outcome string

// The outcomes.
const (
	Delivered      Outcome = "delivered"
	LeftRunning    Outcome = "running" // left to the process that runs it
	DeliveryFailed Outcome = "failed"
)

// Shipment are the sessions of one delivery.
type Shipment struct {
	Sessions []*sessions.Session

	database Database
	to       string // its address
	again    bool   // deliver what was delivered already, too
}

// Shipment chooses the sessions to deliver: those on this machine that names mean; else those
// with something pending, or all of them again. One that is kept here is delivered only when given.
func (a *Archive) Shipment(given []string, again bool) (*Shipment, error) {
	to, err := a.Address()
	if err != nil {
		return nil, err
	}
	all, err := look(a.Home)
	if err != nil {
		return nil, err
	}
	p := &Shipment{database: a.Database, to: to, again: again}
	if len(given) > 0 {
		p.Sessions, err = named(a, all, given)
		return p, err
	}
	for _, s := range all {
		if s.Err != nil || !s.Marks.KeepHere && (again || s.Waiting(to) > 0) {
			p.Sessions = append(p.Sessions, s)
		}
	}
	return p, nil
}

func named(a *Archive, all []*sessions.Session, given []string) ([]*sessions.Session, error) {
	byID := map[string]*sessions.Session{}
	for _, s := range all {
		byID[s.ID] = s
	}
	var chosen []*sessions.Session
	for _, name := range given {
		id, err := a.Here(name)
		if err == nil && id == "" {
			err = failure.Newf(failure.UnknownSession, "no session %q on this machine", name)
		}
		if err != nil {
			return nil, err
		}
		if s := byID[id]; s != nil {
			chosen = append(chosen, s)
			delete(byID, id)
		}
	}
	return chosen, nil
}

// Progress is told how far the delivery of a session is; end is called after its last row.
type Progress interface {
	Show(done, last uint64)
	End()
}

// Deliver delivers one session after the other. What is wrong with one of them is in its result.
func (p *Shipment) Deliver(ctx context.Context, begin func(number int, s *sessions.Session) Progress) (results []Shipped, err error) {
	results = []Shipped{}
	err = p.database(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		for i, s := range p.Sessions {
			r, err := p.deliver(ctx, db, s, begin(i+1, s))
			results = append(results, r)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return results, err
}

func (p *Shipment) deliver(ctx context.Context, db *clickhouse.DB, s *sessions.Session, progress Progress) (Shipped, error) {
	r := Shipped{ID: s.ID, Outcome: DeliveryFailed, Pending: s.Waiting(p.to)}
	if s.Busy {
		r.Outcome = LeftRunning
		return r, nil
	}
	done, err := db.Ship(ctx, s.Dir, clickhouse.ShipOptions{To: p.to, Again: p.again, Told: progress.Show})
	progress.End()
	r.Delivered = done.Rows
	if now, lookErr := sessions.Look(s.Dir); lookErr == nil {
		r.Pending = now.Waiting(p.to)
	}
	switch {
	case journal.IsUnreadable(err), err != nil && s.Err != nil:
		r.Error, r.Unreadable = err.Error(), err
		return r, nil //nolint:nilerr // it is in the result of the session; the others are delivered
	case err != nil:
		r.Error = err.Error()
		return r, err
	}
	r.Outcome = Delivered
	if done.Unread > 0 {
		r.Error = fmt.Sprintf("%s without what was selected: %v", quantity.Of(done.Unread, "row"), done.Why)
	}
	return r, delivery.KeepHere(s.Dir, false) // it was asked for by name, if it was to be kept
}
