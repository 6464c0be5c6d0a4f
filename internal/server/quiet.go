package server

import (
	"log"
	"strings"
	"sync"
	"time"
)

// What net/http writes to its log is drawn out by clients, also by such as have no token: so many
// lines in so much time are kept, so that nobody can fill a disk.
const (
	quietLines = 20
	quietTime  = time.Minute
)

// quietLog returns a log for net/http that writes to another one.
func quietLog(to *log.Logger) *log.Logger { return log.New(&quiet{to: to, now: time.Now}, "", 0) }

// quiet keeps the first lines of each stretch of time, and then says how many were left out.
type quiet struct {
	to  *log.Logger
	now func() time.Time

	mu    sync.Mutex
	since time.Time
	lines int
}

// Write takes one line.
func (q *quiet) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := q.now(); now.Sub(q.since) >= quietTime {
		if q.lines > quietLines {
			q.to.Printf("%d more lines about connections were left out", q.lines-quietLines)
		}
		q.since, q.lines = now, 0
	}
	if q.lines++; q.lines <= quietLines {
		q.to.Print(strings.ToValidUTF8(strings.TrimSuffix(string(p), "\n"), "?"))
	}
	return len(p), nil
}
