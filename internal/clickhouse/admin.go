package clickhouse

import (
	"context"
	"fmt"
)

// DropDatabase deletes a database with everything in it, if it exists.
func (db *DB) DropDatabase(ctx context.Context, name string) error {
	err := db.conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoteName(name)+db.layout.onCluster()+" SYNC")
	if err != nil {
		return fmt.Errorf("drop database %q: %w", name, sqlError(err))
	}
	return nil
}
