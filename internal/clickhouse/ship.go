package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/delivery"
)

// Shipment is what was delivered of a session.
type Shipment struct {
	Rows   int    // delivered now
	Unread int    // of them, selections that do not fit the entries before them: they came without
	Why    error  // of the first of these
	Last   uint64 // the newest entry of the journal
}

// ShipOptions say how a session is delivered.
type ShipOptions struct {
	To    string                  // the address of the database; see [Options.Address]
	Again bool                    // deliver what was delivered already, too
	Told  func(done, last uint64) // progress; may be nil
}

// Ship delivers from a session's folder what the database does not have of it, and notes it there.
// It reads the journal whole and checks it first: the error is a [*journal.DamageError] when it is
// damaged, and nothing is delivered then. What was delivered before an error stays so. Nobody may
// write the journal meanwhile, or what is written is left out.
func (db *DB) Ship(ctx context.Context, dir string, o ShipOptions) (Shipment, error) {
	var done Shipment
	rec, err := journal.Read(filepath.Join(dir, journal.File))
	if err != nil {
		return done, err
	}
	done.Last = uint64(len(rec.Entries))
	mark, err := markOf(ctx, db, dir, o.To)
	if err != nil {
		return done, err
	}
	if o.Again || !fits(mark, rec.Entries) {
		mark.Seq = 0
	}
	p, w := newPacker(mark), newWriter(db)
	for rest := rec.Entries; len(rest) > 0; {
		n := batchLength(rest)
		b, left, err := p.pack(rest[:n])
		if err != nil {
			return done, err
		}
		rest = rest[n-len(left):]
		if len(b.rows) == 0 {
			continue
		}
		if err := w.insert(ctx, b.rows); err != nil {
			return done, err
		}
		done.Rows += len(b.rows)
		done.Unread += b.unread
		done.Why = cmp.Or(done.Why, b.why)
		if err := delivery.SetMark(dir, p.markAt(b)); err != nil {
			return done, err
		}
		if o.Told != nil {
			o.Told(b.last, done.Last)
		}
	}
	return done, nil
}

// fits reports whether a mark is one of these entries.
func fits(m delivery.Mark, entries []*echo.Entry) bool {
	return m.Seq <= uint64(len(entries)) && (m.Seq == 0 || entries[m.Seq-1].At.Equal(m.EntryAt))
}

// markOf returns up to where the database has a session; one that was made anew has nothing.
func markOf(ctx context.Context, db *DB, dir, to string) (delivery.Mark, error) {
	id, err := db.id(ctx)
	if err != nil {
		return delivery.Mark{}, err
	}
	m := delivery.ReadMarks(dir).Of(to)
	if m.Database != id {
		m = delivery.Mark{To: to, Database: id}
	}
	return m, nil
}

// id returns the database's own id, which it was given when it was made.
func (db *DB) id(ctx context.Context) (string, error) {
	var id string
	err := db.conn.QueryRow(ctx, "SELECT any(toString(uuid)) FROM system.databases WHERE name = ?", db.layout.database).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("ask ClickHouse for the id of the database: %w", err)
	}
	return id, nil
}
