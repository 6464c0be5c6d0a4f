package main

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/server"
)

// askTime is how long ClickHouse may take to answer for the API.
const askTime = 10 * time.Second

// servedArchive returns the sessions that the API reads: of this machine and, unless the server does without, of the ClickHouse
// that its runs use.
func servedArchive(h *host) *archive.Archive {
	arc := &archive.Archive{Home: h.runs.Home(), Engines: h}
	if h.noClickHouse {
		return arc
	}
	arc.Database = func(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
		pool, err := h.runs.ClickHouse()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		return archive.DatabaseError(ctx, pool.Use(ctx, do))
	}
	return arc
}

// storageProblem says to a client that a record or a disk cannot be reached.
func storageProblem(err error) error {
	try := "on the server: windlass doctor"
	if archive.IsOtherVersion(err) {
		try = "POST /api/runs begins a new run"
	}
	return &server.Problem{Kind: server.StorageFailed, Detail: err.Error(), Try: try, Err: err}
}
