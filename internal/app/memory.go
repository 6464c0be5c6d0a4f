package app

import (
	"context"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/bank"
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
