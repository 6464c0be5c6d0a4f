package clickhouse

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// firstDatabase is what [DefaultDatabase] was before schema version 8.
const firstDatabase = "windlass"

// OldDatabase is a database with sessions of before, which is next to one that has none yet.
type OldDatabase struct {
	Name    string `json:"name"`
	Version uint32 `json:"version"` // of its schema
	Entries uint64 `json:"entries"`
}

// String says what is there, who reads it, and what can be done.
func (o *OldDatabase) String() string {
	return fmt.Sprintf("the ClickHouse database %q has sessions (%d entries) with schema version %d, which this windlass does not read; it was "+
		"left as it is. The last windlass that reads it was built from commit %s: use that build for them", o.Name, o.Entries, o.Version, echo.LastOldBuild)
}

// Old returns the database that sessions of before are in, while this database is the default one
// and has no sessions: a person wonders then where they are. It is nil otherwise, and at the cost
// of one small query once there are sessions.
func (db *DB) Old(ctx context.Context) (*OldDatabase, error) {
	if db.layout.database != DefaultDatabase {
		return nil, nil //nolint:nilnil // there need not be one
	}
	return db.old(ctx, firstDatabase)
}

func (db *DB) old(ctx context.Context, name string) (*OldDatabase, error) {
	const count = "SELECT count() FROM "
	var mine uint64
	err := db.conn.QueryRow(ctx, count+"(SELECT 1 FROM "+db.layout.table("unified_logs")+" LIMIT 1)").Scan(&mine)
	if err != nil || mine > 0 {
		return nil, err
	}
	old, before := OldDatabase{Name: name}, layout{database: name, cluster: db.layout.cluster}
	if old.Version, err = schemaVersionOf(ctx, db.conn, before); err != nil || old.Version == 0 || old.Version >= schemaVersion {
		return nil, err
	}
	err = db.conn.QueryRow(ctx, count+before.table("unified_logs")).Scan(&old.Entries)
	if err != nil || old.Entries == 0 {
		return nil, err
	}
	return &old, nil
}
