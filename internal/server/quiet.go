package server

import (
	"log"
	"strings"
	"sync"
	"time"
)

// So many lines of net/http in so much time are kept: clients cause them, and could fill a disk.
const (
	quietLines = 20
	quietTime  = time.Minute
)

func quietLog(to *log.Logger) *log.Logger { return log.New(&quiet{to: to, now: time.Now}, "", 0) }

// quiet keeps the first lines of each stretch of time, and then says how many were left out.
type quiet struct {
	to  *log.Logger
	now func() time.Time

	mu    sync.Mutex
	since time.Time
	lines int
}

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
