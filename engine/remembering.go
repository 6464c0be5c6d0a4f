package engine

import (
	"context"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/engine/bringing"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/recollection"
	"github.com/windlass-run/windlass/engine/upkeep"
)

// openMemory records what the run sees of what outlasts it: of the banks of its phases, and of memos.
func openMemory(ctx context.Context, r *run) error {
	c := r.spec.Cascade
	if err := recollection.Open(ctx, r.rec, c, r.Banks, &r.own.notes, r.session.ID); err != nil {
		return err
	}
	if !cascade.UsesMemos(c) {
		return nil
	}
	return memosOf(r).Open(ctx, effect.Site{Cascade: c.CascadeID})
}

// memosOf returns what calls of the tools of memos go through.
func memosOf(r *run) memo.Desk {
	return memo.Desk{Through: r.rec, Keeper: r.Memos, Notes: &r.own.memos, Session: r.session.ID}
}

// continuityOf returns what goes on in a phase where its messages do not.
func continuityOf(v *visit) continuity.InForce {
	on := cascade.ContinuityOf(v.run.spec.Cascade, v.Def)
	on.Lenient = !v.Rec.Rules.ChecksNotes()
	return on
}

// standsOf returns what stands at the end of the requests of a visit.
func standsOf(v *visit) *upkeep.Stands {
	s := &upkeep.Stands{
		Place: v.Place, Cascade: v.run.spec.Cascade, Base: v.run.spec.State, Set: v.tools.setStateAt,
		Memos: bringing.Of(v.Place, v.Session, continuityOf(v).Memos, memosOf(v.run)),
	}
	return s.Begin()
}
