package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

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

// Ship delivers what the database does not have of a session, from its folder, and notes it there.
// When the journal is damaged, the error is a [*journal.DamageError] and nothing is delivered.
// Nobody may write the journal meanwhile.
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
	if mark, err = db.followRedactions(ctx, dir, rec, mark); err != nil {
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

// followRedactions removes the rows and cards of before a redaction, if the mark says that the database
// may have them.
func (db *DB) followRedactions(ctx context.Context, dir string, rec *journal.Recording, mark delivery.Mark) (delivery.Mark, error) {
	if !mark.Before {
		return mark, nil
	}
	if err := db.Remove(ctx, PartRows, []string{rec.Header.SessionID}); err != nil {
		return mark, err
	}
	if err := db.RedactCards(ctx, rec.Header.SessionID, redactedIn(rec.Entries)); err != nil {
		return mark, err
	}
	mark.Seq, mark.EntryAt, mark.Before = 0, time.Time{}, false
	return mark, delivery.SetMark(dir, mark)
}

// redactedIn returns the hashes of the messages that texts were taken out of.
func redactedIn(entries []*echo.Entry) []echo.Hash {
	var hashes []echo.Hash
	for _, e := range entries {
		if m := e.Message; m != nil && m.Redacted() != nil && !slices.Contains(hashes, m.Hash()) {
			hashes = append(hashes, m.Hash())
		}
	}
	return hashes
}

func fits(m delivery.Mark, entries []*echo.Entry) bool {
	return m.Seq <= uint64(len(entries)) && (m.Seq == 0 || entries[m.Seq-1].At.Equal(m.EntryAt))
}

// markOf returns up to where the database has a session; one that was rebuilt has nothing.
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
		return "", fmt.Errorf("query the id of the ClickHouse database: %w", err)
	}
	return id, nil
}

const (
	maxBatchRows = 5000     // of one write, when rows have piled up
	maxBatchSize = 16 << 20 // bytes of one write, about
	maxCells     = 250_000  // messages that the selections of one write name, about; 100 bytes each
	rowOverhead  = 512      // bytes of a row besides its texts
)

// errVoidMark says that a mark is of a journal that was cut and has gone on with other entries.
var errVoidMark = errors.New("the mark is of another entry")

// batch is what one write delivers.
type batch struct {
	rows   []*row
	size   int64     // of the entries, about
	unread int       // rows whose selection could not be read, and is left out
	why    error     // of the first of them
	last   uint64    // the newest entry
	at     time.Time // when it was recorded
}

// packer makes batches of the entries of one session, without gaps. It belongs to one goroutine.
type packer struct {
	mark delivery.Mark // entries up to this one are there already: they are read, and no rows are made of them
	rec  *recorder
	seen uint64 // entries so far
}

func newPacker(mark delivery.Mark) *packer { return &packer{mark: mark, rec: newRecorder()} }

// pack makes a batch and returns the entries that there is no room for.
func (p *packer) pack(entries []*echo.Entry) (*batch, []*echo.Entry, error) {
	b := &batch{}
	cells := 0
	for i, e := range entries {
		if cells > maxCells { // they are known only once they are read
			return b, entries[i:], nil
		}
		r, err := p.rec.row(e)
		p.seen++
		b.last, b.at = p.seen, e.At
		b.size += entrySize(e)
		if p.seen == p.mark.Seq && !e.At.Equal(p.mark.EntryAt) {
			return nil, nil, errVoidMark
		}
		if p.seen <= p.mark.Seq {
			continue
		}
		if err != nil {
			b.unread++
			b.why = cmp.Or(b.why, fmt.Errorf("session %s: %w", e.SessionID, err))
		}
		if r.selected != nil {
			cells += len(r.selected.cells)
		}
		b.rows = append(b.rows, r)
	}
	return b, nil, nil
}

func (p *packer) markAt(b *batch) delivery.Mark {
	return delivery.Mark{To: p.mark.To, Database: p.mark.Database, Seq: b.last, EntryAt: b.at, Before: p.mark.Before}
}

// batchLength returns how many of the entries one write should take.
func batchLength(entries []*echo.Entry) int {
	var size int64
	for i, e := range entries {
		if i == maxBatchRows || size > maxBatchSize {
			return i
		}
		size += entrySize(e)
	}
	return len(entries)
}

// entrySize estimates the memory that an entry holds on to.
func entrySize(e *echo.Entry) int64 {
	n := rowOverhead + len(e.Data)
	if e.Message != nil {
		n += len(e.Message.JSON())
	}
	if e.Tool != nil {
		n += len(e.Tool.Arguments)
	}
	return int64(n)
}
