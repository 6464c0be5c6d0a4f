package runs

import (
	"context"

	"github.com/windlass-run/windlass/engine"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
)

// Resume implements [server.Runs].
func (h *Host) Resume(ctx context.Context, id string, r *server.ResumeRequest) (*server.Session, error) {
	s, err := h.resume(ctx, id, r)
	if err == nil {
		h.mark(s.ID)
	}
	return s, err
}

func (h *Host) resume(ctx context.Context, id string, r *server.ResumeRequest) (*server.Session, error) {
	id, err := h.archive.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if h.Runs(id) {
		return nil, notResumable("follow it, or cancel it", "the session %s is running", id)
	}
	rec, err := h.app.ReadJournal(id)
	switch {
	case failure.Is(err, failure.UnknownSession):
		return nil, notResumable("resume it where it was run, or, on the server: windlass resume "+id+", which brings it there",
			"the session %s was run on another machine", id)
	case err != nil:
		return nil, err
	}
	origin, err := core.ReadHeader(rec.Header)
	if err != nil {
		return nil, originError(err)
	}
	if err := h.grants.Cover(h.app.Home(), origin); err != nil {
		return nil, err
	}
	o := core.ResumeOptions{NoClickHouse: h.options.NoClickHouse, Extensions: h.grants.Extensions()}
	spec := engine.Spec{Cascade: origin.Cascade, Recording: rec.Entries}
	if o.Limits, err = h.grants.Limits(r.Budget, spec.BudgetInForce()); err != nil {
		return nil, err
	}
	return h.begin(ctx, resumeError, func(ctx context.Context, w core.Watch) (*core.Run, error) {
		return h.app.Resume(ctx, id, o, w)
	})
}

func notResumable(try, format string, args ...any) error {
	return server.NewProblem(failure.NotResumable, try, format, args...)
}
