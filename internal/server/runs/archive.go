package runs

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
)

const queryTime = 10 * time.Second

// Archive returns what the API reads: the sessions here and, over the runs' pool, of ClickHouse.
func (h *Host) Archive() *archive.Archive { return h.archive }

func (h *Host) newArchive() *archive.Archive {
	arc := &archive.Archive{Home: h.app.Home(), Engines: h}
	if h.options.NoClickHouse {
		return arc
	}
	arc.Address = h.app.DatabaseAddress
	arc.Database = func(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
		pool, err := h.app.ClickHouse()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, queryTime)
		defer cancel()
		return archive.DatabaseError(ctx, pool.Use(ctx, do))
	}
	return arc
}
