package database

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

// Rewrites reads which rewrites of instructions have won in earlier sessions. It is safe for concurrent
// use.
type Rewrites struct{ Pool *Pool }

// rewritesTime is how long a run waits for them: it does without when ClickHouse is away.
const rewritesTime = 5 * time.Second

// Winners returns rewrites that have won in phases of a species, the newest first; none when ClickHouse
// does not answer in time.
func (r Rewrites) Winners(ctx context.Context, phase, species string, limit int) []string {
	ctx, cancel := context.WithTimeout(ctx, rewritesTime)
	defer cancel()
	var won []string
	err := r.Pool.Use(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
		won, err = clickhouse.WinningRewrites(ctx, db, phase, species, limit)
		return err
	})
	if err != nil {
		return nil
	}
	return won
}
