package server

import (
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
)

// So many attempts without a token are kept in so much time: anybody can make them, and could fill a disk.
const (
	strangers    = 20
	strangerTime = time.Minute
)

// auditor keeps changes over HTTP, and what was refused. It is safe for concurrent use.
type auditor struct {
	add func(audit.Line) error // nil: nobody keeps them
	now func() time.Time
	log *log.Logger

	mu    sync.Mutex // guards what follows
	since time.Time
	seen  int
}

// say keeps a line with its outcome. What cannot be kept has happened all the same, and the log says so.
func (a *auditor) say(l audit.Line, err error) {
	if a.add == nil {
		return
	}
	if err != nil {
		err = failure.New(ProblemOf(err).Kind, err, "")
	}
	l.At, l.Via = a.now(), string(echo.ViaHTTP)
	if err := a.add(l.Ended(err)); err != nil {
		a.log.Printf("warning: the audit does not have %s %s: %v", l.What, l.Target, err)
	}
}

// stranger keeps an attempt to change something by somebody who is not known, one of the first of each stretch of time.
func (a *auditor) stranger(method string, p *Problem) {
	if method == http.MethodGet || method == http.MethodHead || !a.has() {
		return
	}
	a.say(audit.Line{What: audit.Request}, p)
}

// has reports whether there is a place for a stranger.
func (a *auditor) has() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.now(); now.Sub(a.since) >= strangerTime {
		a.since, a.seen = now, 0
	}
	a.seen++
	return a.seen <= strangers
}
