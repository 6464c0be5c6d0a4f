package runs

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/source"
)

type opener func(context.Context, core.Watch) (*core.Run, error)

// begin opens a run, which goes on by itself when the request ends.
func (h *Host) begin(ctx context.Context, explain func(error) error, open opener) (*server.Session, error) {
	if err := h.take(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	run, err := open(ctx, h.watch())
	if err != nil {
		cancel(nil)
		h.release("")
		return nil, explain(err)
	}
	r := &hosted{run: run, cancel: cancel, started: time.Now().UTC().Truncate(time.Microsecond)}
	h.mu.Lock()
	h.running[run.ID()] = r
	stopping := h.stopping
	h.mu.Unlock()
	if stopping { // the server began to stop while this session was opened
		cancel(errStopping)
	}
	how := "begins"
	if len(run.Recorded()) > 0 {
		how = "continues"
	}
	h.options.Log.Printf("%s: %s: %s (%s)", run.ID(), how, line(run.Cascade().CascadeID), line(run.File()))
	begun := h.view(r)
	go h.run(ctx, r)
	return begun, nil
}

func (h *Host) watch() core.Watch {
	return core.Watch{
		Notice: func(text string) { h.options.Log.Print(line(text)) },
		Follow: func(r *core.Run) (engine.Observer, []echo.Sink) {
			if len(r.Recorded()) > 0 && r.Changed() != "" {
				h.options.Log.Printf("%s: %s has changed since the session began. The session continues with the cascade as it was.", r.ID(), line(r.Changed()))
			}
			return nil, nil
		},
		Fetching: h.options.Fetching,
	}
}

func (h *Host) view(r *hosted) *server.Session {
	return archive.Running(r.run.ID(), r.run.Cascade().CascadeID, r.started, r.run.Sums())
}

// run runs one session and closes it. A panic ends no other; the journal has what was done.
func (h *Host) run(ctx context.Context, r *hosted) {
	run := r.run
	defer h.release(run.ID())
	defer r.cancel(nil)
	defer func() {
		if p := recover(); p != nil {
			h.options.Log.Printf("%s: panic: %v\n%s", run.ID(), p, debug.Stack())
			run.Close()
		}
	}()
	res, err := run.Do(ctx)
	h.mu.Lock()
	r.ended = true
	if delete(h.refused, run.ID()); failure.Is(err, failure.Diverged) {
		h.refused[run.ID()] = err.Error()
	}
	if res.Status == echo.StatusInterrupted && errors.Is(context.Cause(ctx), errStopping) {
		h.stopped = append(h.stopped, run.ID())
	}
	h.mu.Unlock()
	closing := run.Close()
	if len(closing.Interrupted) > 0 && errors.Is(context.Cause(ctx), errStopping) {
		h.mu.Lock()
		h.stopped = append(h.stopped, closing.Interrupted...)
		h.mu.Unlock()
	}
	h.report(run, res, err, closing)
}

func (h *Host) report(run *core.Run, res *engine.Result, err error, c core.Closing) {
	t := run.Sums().Totals
	why := ""
	if err != nil {
		why = ": " + line(err.Error())
	}
	took := time.Duration(res.DurationMS * float64(time.Millisecond))
	h.options.Log.Printf("%s: %s in %s: %s, %s%s", run.ID(), res.Status, quantity.Duration(took), quantity.Requests(t.Calls, t.Embeddings),
		quantity.Cost(t.KnownUSD(), t.UnknownCosts), why)
	warnings := []error{c.Cards, c.Notices, c.Err}
	if c.Undelivered != nil {
		warnings = append([]error{c.Undelivered}, warnings...)
	}
	for _, err := range warnings {
		if err != nil {
			h.options.Log.Printf("%s: warning: %s", run.ID(), line(err.Error()))
		}
	}
}

// line puts a text on one line of the log, whoever wrote it.
func line(text string) string { return source.Printable(oneline.Of(text)) }
