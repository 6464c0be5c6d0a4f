package clickhouse

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/delivery"
)

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

// markAt is the mark once a batch is delivered.
func (p *packer) markAt(b *batch) delivery.Mark {
	return delivery.Mark{To: p.mark.To, Database: p.mark.Database, Seq: b.last, EntryAt: b.at}
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
