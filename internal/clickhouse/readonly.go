package clickhouse

import (
	"context"
	"fmt"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/clickhouse/sqltext"
)

// explainReading says why the read-only user cannot log in.
func explainReading(db *DB, err error) error {
	if db.endpoint == nil || !hasCode(err, codeAuthFailed) {
		return err
	}
	return &UnavailableError{Where: db.endpoint.Addr(), Err: fmt.Errorf("the engine that runs (process %d) was started by a windlass "+
		"without a read-only user: it ends by itself a minute after its last use, and the next command starts a new one: %w",
		db.endpoint.PID, err)}
}

// queryServer runs a statement on a server with readonly = 1. SETTINGS at the end of the statement
// are sent beside it: behind readonly = 1 the server would refuse them.
func queryServer(ctx context.Context, conn driver.Conn, st sqltext.Statement) (*Rows, error) {
	bare, settings := st.TakeSettings(embedded.ReadonlySettings())
	settings["readonly"] = 1
	rows, err := run(ctx, conn, bare, settings)
	if hasCode(err, codeReadonly) && strings.Contains(err.Error(), "Cannot modify 'readonly'") {
		// The user of the DSN is read-only on the server, which also forbids to say so once more.
		return run(ctx, conn, st, nil)
	}
	return rows, err
}

// ReadingRights say how statements that may only read are kept from more.
type ReadingRights struct {
	How     string   `json:"how"`
	Outward []string `json:"outward,omitempty"` // what the user of a server may reach outside of it, such as FILE
}

// sources are the privileges of ClickHouse by which SQL reaches outside of it.
func sources() []string {
	return []string{
		"FILE", "URL", "REMOTE", "MONGO", "REDIS", "MYSQL", "POSTGRES", "SQLITE", "ODBC", "JDBC", "HDFS", "S3", "HIVE", "AZURE",
		"KAFKA", "NATS", "RABBITMQ", "BACKUP", "CREATE FUNCTION", "CREATE NAMED COLLECTION",
	}
}

// ReadingRights asks the database for the rights; unknown ones are left out.
func (db *DB) ReadingRights(ctx context.Context) (ReadingRights, error) {
	if db.endpoint != nil {
		name, _ := embedded.ReadonlyUser(*db.endpoint)
		return ReadingRights{How: "as the user " + name + ", which may only read"}, nil
	}
	user := db.target.options.Auth.Username
	rights := ReadingRights{How: fmt.Sprintf("readonly = 1 with every statement; otherwise the rights of the user %q decide", user)}
	var readonly uint64
	if err := db.conn.QueryRow(ctx, "SELECT toUInt64(getSetting('readonly'))").Scan(&readonly); err != nil {
		return rights, queryError(ctx, err)
	}
	if readonly != 0 {
		rights.How = fmt.Sprintf("the user %q is read-only on the server", user)
	}
	rights.Outward = granted(ctx, db.conn, sources())
	return rights, nil
}

// granted returns those of some privileges that the user has for everything.
func granted(ctx context.Context, conn driver.Conn, privileges []string) []string {
	var has []string
	for _, p := range privileges {
		var yes uint8
		if err := conn.QueryRow(ctx, "CHECK GRANT "+p+" ON *.*").Scan(&yes); err == nil && yes == 1 {
			has = append(has, p)
		}
	}
	return has
}
