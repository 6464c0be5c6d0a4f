package clickhouse

import (
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
)

// Conn gives tests the driver's connection.
func Conn(db *DB) driver.Conn { return db.conn }

// Statements returns all statements that make the schema.
func Statements(database, cluster string) ([]string, error) {
	l := layout{database: database, cluster: cluster}
	statements := l.bootstrap()
	all, err := l.migrations()
	for _, m := range all {
		statements = append(statements, m.statements...)
	}
	return statements, err
}

// MakeVersion makes a database as it was at a version of the schema, through the connection of another one.
func MakeVersion(t *testing.T, through *DB, database string, version uint32) {
	t.Helper()
	l := layout{database: database}
	require.NoError(t, l.run(t.Context(), through.conn, l.bootstrap()))
	all, err := l.migrations()
	require.NoError(t, err)
	for _, m := range all[:version] {
		require.NoError(t, apply(t.Context(), through.conn, l, m))
	}
}
