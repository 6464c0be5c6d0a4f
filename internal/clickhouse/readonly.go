package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"sync"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/clickhouse/sqltext"
)

// readPool are the connections of the embedded engine's user that may only read. They are opened
// when the first statement that may only read comes, or ahead of it.
type readPool struct {
	mu   sync.Mutex
	conn driver.Conn   // nil until it is needed
	warm chan struct{} // closed when the first connection is there, or failed; nil: nobody opens it ahead
}

// reading returns the connections for statements that may only read. On the embedded engine they
// are those of a user of its own.
func (db *DB) reading() (driver.Conn, error) {
	if db.endpoint == nil {
		return db.conn, nil
	}
	return db.read.open(db.target, *db.endpoint)
}

func (p *readPool) open(t target, e embedded.Endpoint) (driver.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warm != nil {
		<-p.warm
	}
	if p.conn != nil {
		return p.conn, nil
	}
	o := *t.options
	o.Auth.Username, o.Auth.Password = embedded.ReadonlyUser(e)
	o.Settings = nil
	conn, err := driver.Open(&o)
	if err != nil {
		return nil, fmt.Errorf("open ClickHouse to read: %w", err)
	}
	p.conn = conn
	return conn, nil
}

// warmUp opens the first of the connections in the background. A failure is seen again by whatever
// uses it.
func (p *readPool) warmUp(ctx context.Context, t target, e embedded.Endpoint) {
	conn, err := p.open(t, e)
	if err != nil {
		return
	}
	p.warm = make(chan struct{})
	go func() {
		defer close(p.warm)
		_ = conn.Ping(ctx)
	}()
}

func (p *readPool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warm != nil {
		<-p.warm
	}
	if p.conn == nil {
		return nil
	}
	return p.conn.Close()
}

// explainReading says why the read-only user cannot log in.
func explainReading(db *DB, err error) error {
	if db.endpoint == nil || !isAuthFailed(err) {
		return err
	}
	return &UnavailableError{Where: db.endpoint.Addr(), Err: fmt.Errorf("the engine that runs (process %d) was started by a windlass "+
		"without a read-only user: it ends by itself a minute after its last use, and the next command starts a new one: %w",
		db.endpoint.PID, err)}
}

func isAuthFailed(err error) bool {
	var se *SQLError
	return errors.As(err, &se) && se.Code == codeAuthFailed
}

// queryServer runs a statement on a server with readonly = 1. SETTINGS at the end of the statement
// are sent beside it: behind readonly = 1 the server would refuse them.
func queryServer(ctx context.Context, conn driver.Conn, st sqltext.Statement) (*Rows, error) {
	bare, settings := st.TakeSettings(embedded.ReadonlySettings())
	settings["readonly"] = 1
	rows, err := run(ctx, conn, bare, settings)
	if isOwnReadonly(err) {
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

// ReadingRights asks the database. A server that cannot be asked for one of the rights is not asked
// for it.
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

// granted returns those of some privileges that the user has for everything. One that the server
// does not know, or cannot be asked for, is left out.
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
