package clickhouse

import (
	"sync"

	"github.com/windlass-run/windlass/echo"
)

// backlog is what a sink was given and has not delivered. Entries are counted from 1.
type backlog struct {
	mu     sync.Mutex
	queue  []*echo.Entry // without gaps
	size   int64         // bytes of queue and of what was taken from it, about
	last   uint64        // the newest that exists
	taken  uint64
	done   uint64 // delivered up to here
	closed bool
	lost   bool // there will be no database: nothing is kept in memory
	stats  SinkStats
	unread error // why the first selection could not be read
}

// keeps reports whether an entry is kept in memory. The caller holds the mutex.
func (b *backlog) keeps(e *echo.Entry, o SinkOptions) bool {
	switch {
	case o.Dir == "":
		return !b.lost
	case b.lost || b.size+entrySize(e) > o.Backlog:
		return false
	case len(b.queue) > 0:
		return e.Seq == b.queue[len(b.queue)-1].Seq+1
	}
	return e.Seq == b.taken+1
}

// waiting returns how many entries are not taken yet.
func (b *backlog) waiting() (entries uint64, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last - b.taken, b.closed
}

func (b *backlog) isClosed() bool {
	_, closed := b.waiting()
	return closed
}
