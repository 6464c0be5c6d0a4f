package clickhouse

import driver "github.com/ClickHouse/clickhouse-go/v2"

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
