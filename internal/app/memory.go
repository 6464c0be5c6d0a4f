package app

import (
	"context"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/memofile"
	"github.com/windlass-run/windlass/internal/projectfile"
)

// banks are the banks of memory of a run. What is recorded of the run is durable before it writes into one.
type banks struct {
	*bank.Store
	run *Run
}

// Call implements [memory.Banks].
func (b banks) Call(ctx context.Context, r *memory.Request) (*echo.MemoryCall, error) {
	if r.Command.Writes() {
		if err := b.run.log.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return b.Store.Call(ctx, r)
}

// memos are the memos that a run sees. What is recorded of the run is durable before it writes one.
type memos struct {
	*memofile.Store
	run *Run
}

// Call implements [memo.Keeper].
func (m memos) Call(ctx context.Context, r *memo.Request) (*echo.MemoCall, error) {
	if r.Command.Writes() {
		if err := m.run.log.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return m.Store.Call(ctx, r)
}

// openMemos returns the memos of the run's project folder, and the global ones. Where its phases use them, they can be read.
func openMemos(o *opening) (memos, error) {
	store := memofile.Open(o.app.home, o.run.started.Dir, o.app.options.Now).For(o.run.header.StartedAt)
	if cascade.UsesMemos(o.run.cascade) {
		for _, scope := range memo.Scopes() {
			if _, err := store.Read(scope); err != nil {
				return memos{}, err
			}
		}
	}
	return memos{store, o.run}, nil
}

// Remember implements [memory.Banks].
func (b banks) Remember(ctx context.Context, r *memory.Remembering) (*echo.MemoryCall, error) {
	if err := b.run.log.Wait(ctx); err != nil {
		return nil, err
	}
	return b.Store.Remember(ctx, r)
}

// ProjectFile implements [memory.Banks].
func (b banks) ProjectFile(_ context.Context, path string) (text string, there bool, err error) {
	return projectfile.Read(b.run.started.Dir, path)
}

// openBanks returns the banks of the run's project folder. Those that its phases name can be read.
func openBanks(o *opening) (banks, error) {
	store := bank.Open(o.app.home, o.run.started.Dir, o.app.options.Now).For(o.run.header.StartedAt)
	for _, name := range cascade.BanksOf(o.run.cascade) {
		if _, err := store.Read(name); err != nil {
			return banks{}, err
		}
	}
	return banks{store, o.run}, nil
}
