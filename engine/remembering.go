package engine

import (
	"context"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
)

// openMemory records what the run sees of what outlasts it: of the banks of its phases, and of memos.
func openMemory(ctx context.Context, r *run) error {
	c := r.spec.Cascade
	site := effect.Site{Cascade: c.CascadeID}
	if err := memory.Open(ctx, r.rec, site, r.Banks, r.session.ID, cascade.BanksOf(c)); err != nil {
		return err
	}
	if !cascade.UsesMemos(c) {
		return nil
	}
	return memosOf(r).Open(ctx, site)
}

// memosOf returns what calls of the tools of memos go through.
func memosOf(r *run) memo.Desk {
	return memo.Desk{Through: r.rec, Keeper: r.Memos, Notes: &r.own.memos, Session: r.session.ID}
}
