package runs

import (
	"context"
	"strconv"

	"github.com/windlass-run/windlass/engine"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server"
)

// Fork begins a new session from a place of another one that has a journal here, see [inspect.ForkPoint], and returns when
// it goes on by itself. The server must grant what the other session was granted.
func (h *Host) Fork(ctx context.Context, id, place string) (*server.Session, error) {
	id, err := h.archive.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	rec, err := h.app.ReadJournal(id)
	if failure.Is(err, failure.UnknownSession) {
		return nil, notResumable("fork it where it was run", "the session %s was run on another machine", id)
	}
	if err != nil {
		return nil, err
	}
	origin, err := core.ReadHeader(rec.Header)
	if err != nil {
		return nil, originError(err)
	}
	if err := h.grants.Cover(h.app.Home(), origin); err != nil {
		return nil, err
	}
	seq, err := inspect.ForkPoint(id, rec.Entries, place)
	if err != nil {
		return nil, server.NewProblem(failure.InvalidRequest, "a phase, an attempt such as draft/attempt2, or the number of an entry", "%v", err)
	}
	var o core.ForkOptions
	o.NoClickHouse, o.Extensions = h.options.NoClickHouse, h.grants.Extensions()
	spec := engine.Spec{Cascade: origin.Cascade, Recording: rec.Entries}
	if o.Limits, err = h.grants.Limits(nil, spec.BudgetInForce()); err != nil {
		return nil, err
	}
	s, err := h.begin(ctx, resumeError, func(ctx context.Context, w core.Watch) (*core.Run, error) {
		if _, numeric := strconv.ParseUint(place, 10, 64); numeric != nil {
			if r, ok, err := core.ForkPhase(ctx, h.app, id, place, o, w); ok || err != nil {
				return r, err
			}
		}
		return h.app.Fork(ctx, id, seq, o, w)
	})
	if err == nil {
		h.mark(s.ID)
	}
	return s, err
}
