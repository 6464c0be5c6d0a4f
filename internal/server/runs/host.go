// Package runs runs the sessions of the API. [Host] implements [server.Runs].
package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"time"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/waits"
)

// Options say how sessions are run.
type Options struct {
	Most         int         // how many runs at once
	NoClickHouse bool        // journals are all that is kept
	Log          *log.Logger // nil: nothing is logged
	// Fetching is called when a run fetches something; show gets how far it is. May be nil.
	Fetching func() (show func(fetch.Progress), done func())
}

// Host runs sessions. It is safe for concurrent use.
type Host struct {
	app     *core.App
	grants  *grants.Grants
	options Options
	archive *archive.Archive

	mu       sync.Mutex // guards what follows
	places   int        // taken, by runs and by those that are about to start
	stopping bool
	running  map[string]*hosted
	idle     chan struct{}     // closed when stopping and no place is taken
	stopped  []string          // sessions that the end of the server cut off
	refused  map[string]string // why sessions could not resume from their record, which says nothing of it
}

type hosted struct {
	run     *core.Run
	cancel  context.CancelCauseFunc
	started time.Time
	ended   bool // the engine has ended; only closing is under way
}

// Why runs of a server are interrupted.
var (
	errCancelled = errors.New("cancelled over the API")
	errStopping  = errors.New("the server stops")
)

const retryRun = 5 * time.Second

// New returns a host that runs sessions of an app with the rights of grants.
func New(a *core.App, g *grants.Grants, o Options) *Host {
	if o.Log == nil {
		o.Log = log.New(io.Discard, "", 0)
	}
	h := &Host{
		app: a, grants: g, options: o, running: map[string]*hosted{}, idle: make(chan struct{}), refused: map[string]string{},
	}
	h.archive = h.newArchive()
	return h
}

// Cancel implements [server.Runs].
func (h *Host) Cancel(ctx context.Context, id string) (*server.Session, error) {
	id, err := h.archive.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	r := h.goingOn(id)
	if r == nil {
		r = h.waiting(id)
	}
	if r == nil {
		return nil, h.notRunning(id)
	}
	soFar := h.view(r) // before its end is recorded
	r.cancel(errCancelled)
	return soFar, nil
}

// waiting returns a session that has ended, and waits for others that it has begun; nil for others.
func (h *Host) waiting(id string) *hosted {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.running[id]; r != nil && r.run.Unfinished() {
		return r
	}
	return nil
}

// notRunning says of a session that it does not run here, or not by itself.
func (h *Host) notRunning(id string) error {
	rec, err := h.app.ReadJournal(id)
	if err == nil && rec.Header.Root != "" && (h.goingOn(rec.Header.Root) != nil || h.waiting(rec.Header.Root) != nil) {
		return server.NewProblem(server.NotRunning, "POST /api/sessions/"+rec.Header.Root+"/cancel cancels that and all that it has begun",
			"the session %s does not run by itself: session %s has begun it", id, rec.Header.Root)
	}
	return server.NewProblem(server.NotRunning, "GET /api/sessions/"+id+" shows how far it has come",
		"the session %s does not run in this server", id)
}

func (h *Host) take() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopping:
		p := server.NewProblem(server.ShuttingDown, "try again when the server is back", "the server is stopping and begins no runs")
		p.RetryAfter = retryRun
		return p
	case h.places >= h.options.Most:
		p := server.NewProblem(server.TooManyRuns, "try again when one has ended; windlass serve --max-runs allows more",
			"%s going on, which is the most that this server runs at once", runsAre(h.places))
		p.RetryAfter = retryRun
		return p
	}
	h.places++
	return nil
}

func runsAre(n int) string {
	if n == 1 {
		return "1 run is"
	}
	return fmt.Sprintf("%d runs are", n)
}

func (h *Host) release(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, id)
	h.places--
	if h.stopping && h.places == 0 {
		close(h.idle)
	}
}

// Runs reports whether a session's engine runs in this server.
func (h *Host) Runs(id string) bool {
	return h.goingOn(id) != nil
}

// has reports whether a session runs here, or is being closed.
func (h *Host) has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.running[id] != nil
}

// mark has a server resume a session when what it waits for is there, this one or a later one.
func (h *Host) mark(id string) {
	if err := waits.Box(h.app.Home(), id).Mark(servedMark); err != nil {
		h.options.Log.Printf("%s: warning: no server resumes it by itself when it waits: %s", id, line(err.Error()))
	}
}

// goingOn returns a session whose engine runs here, nil for others.
func (h *Host) goingOn(id string) *hosted {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.running[id]; r != nil && !r.ended {
		return r
	}
	return nil
}

// Refusal returns why a session could not resume when it last was here; "" when it could.
func (h *Host) Refusal(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused[id]
}

// Running returns how many runs are going on.
func (h *Host) Running() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.places
}

// Stop starts no more runs, interrupts those that go on after grace, and returns them, all closed.
func (h *Host) Stop(grace time.Duration) []string {
	h.mu.Lock()
	h.stopping = true
	if h.places == 0 {
		close(h.idle)
	}
	h.mu.Unlock()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-h.idle:
	case <-patience.C:
		h.interruptAll()
	}
	<-h.idle
	return h.stopped
}

func (h *Host) interruptAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.running {
		r.cancel(errStopping)
	}
}
