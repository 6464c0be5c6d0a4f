package clickhouse

import (
	"context"
	"fmt"
)

// Databases returns the names of the databases that the user may see.
func (db *DB) Databases(ctx context.Context) ([]string, error) {
	rows, err := db.conn.Query(ctx, "SELECT name FROM system.databases ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("list databases: %w", sqlError(err))
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list databases: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// DropDatabase deletes a database with everything in it, if it exists.
func (db *DB) DropDatabase(ctx context.Context, name string) error {
	err := db.conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoteName(name)+db.layout.onCluster()+" SYNC")
	if err != nil {
		return fmt.Errorf("drop database %q: %w", name, sqlError(err))
	}
	return nil
}
