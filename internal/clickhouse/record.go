package clickhouse

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// Record returns the entries of a session as its journal has them.
func (db *DB) Record(ctx context.Context, sessionID string) ([]*echo.Entry, error) {
	rows, err := readRows(ctx, db, logTable(), "session_id = ? ORDER BY seq", sessionID)
	if err != nil {
		return nil, fmt.Errorf("read the record of session %s: %w", sessionID, err)
	}
	entries := make([]*echo.Entry, len(rows))
	for i, r := range rows {
		if entries[i], err = r.restore(); err != nil {
			return nil, fmt.Errorf("read the record of session %s: entry %d (%s): %w", sessionID, r.entry.Seq, r.place.key, err)
		}
	}
	return entries, nil
}
