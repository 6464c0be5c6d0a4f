package server

import (
	"context"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/groups"
	"github.com/windlass-run/windlass/internal/inspect"
)

// Reading answers what the API reads from an archive. It implements [Record].
type Reading struct{ Archive *archive.Archive }

// List implements [Record].
func (r Reading) List(ctx context.Context, limit int) (*SessionList, error) {
	return r.Archive.Newest(ctx, limit)
}

// Get implements [Record].
func (r Reading) Get(ctx context.Context, id string) (*SessionDetail, error) {
	return r.Archive.Detail(ctx, id)
}

// Handoff implements [Record].
func (r Reading) Handoff(ctx context.Context, id string) (any, error) {
	rec, err := r.record(ctx, id)
	if err != nil {
		return nil, err
	}
	if rec.Taken, _, err = groups.Withdrawals(r.Archive.Home, rec.ID, rec.Entries); err != nil {
		return nil, err
	}
	return rec.Handoff()
}

// Soundings implements [Record].
func (r Reading) Soundings(ctx context.Context, id string) (any, error) {
	rec, err := r.record(ctx, id)
	if err != nil {
		return nil, err
	}
	return rec.AllSoundings()
}

// Context implements [Record].
func (r Reading) Context(ctx context.Context, id, call string) (any, error) {
	rec, err := r.record(ctx, id)
	if err != nil {
		return nil, err
	}
	c, err := rec.Call(call)
	if err != nil {
		return nil, err
	}
	return rec.Show(c)
}

// Events implements [Record].
func (r Reading) Events(ctx context.Context, id string, from uint64) (Events, error) {
	return r.Archive.Events(ctx, id, from)
}

func (r Reading) record(ctx context.Context, id string) (*inspect.Record, error) {
	whole, entries, err := r.Archive.Entries(ctx, id)
	if err != nil {
		return nil, err
	}
	return inspect.New(whole, entries)
}
