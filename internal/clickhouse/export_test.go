package clickhouse

import (
	"context"
	"slices"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	columns "github.com/ClickHouse/clickhouse-go/v2/lib/column"
	batches "github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
	"github.com/stretchr/testify/require"
)

// Conn gives tests the driver's connection.
func Conn(db *DB) driver.Conn { return db.conn }

// Statements returns all statements that make the schema.
func Statements(database, cluster string) ([]string, error) {
	l := layout{database: database, cluster: cluster}
	statements, err := currentSchema().statements(l, 0)
	return append([]string{l.makeDatabase()}, statements...), err
}

// NextSchema brings a database to the next version of the tables, or only of the views, with a
// changed text of the schema.
func NextSchema(ctx context.Context, db *DB, tables bool, change func(string) string) error {
	s := currentSchema()
	s.text, s.views = change(s.text), s.views+1
	if tables {
		s.version++
	}
	return prepare(ctx, db.conn, db.layout, s)
}

// StatementsAfter returns the statements that bring tables of the version before up to date.
func StatementsAfter(database, cluster string) ([]string, error) {
	return schema{text: schemaText, version: schemaVersion + 1}.statements(layout{database: database, cluster: cluster}, schemaVersion)
}

// Comments returns the statements that give the columns their comments.
func Comments(database, cluster string) []string {
	return layout{database: database, cluster: cluster}.commentColumns()
}

// Replace replaces a view of the schema as preparing a database does, and then gives its columns their
// comments.
func Replace(ctx context.Context, db *DB, view string) error {
	name := db.layout.table(view)
	statements, err := currentSchema().statements(db.layout, schemaVersion)
	if err != nil {
		return err
	}
	isOther := func(s string) bool { return !strings.Contains(s, "CREATE OR REPLACE VIEW "+name+" ") }
	if err := db.layout.run(ctx, db.conn, slices.DeleteFunc(statements, isOther)); err != nil {
		return err
	}
	isOther = func(s string) bool { return !strings.HasPrefix(s, "ALTER TABLE "+name+" ") }
	return writeComments(ctx, db.conn, slices.DeleteFunc(db.layout.commentColumns(), isOther))
}

// Discarded is what a database from [Discarding] has taken: rows, and writes by table.
type Discarded struct {
	Rows   int
	Writes map[string]int
	Sent   func(context.Context) // when a batch is sent, with its context; may be nil
	Refuse string                // a batch with a row of this session is refused
}

// Discarding returns a database that encodes rows into the driver's columns of db's tables and
// throws them away, so that what a row costs here can be measured without the server. It is for one
// goroutine at a time.
func Discarding(t testing.TB, db *DB) (*DB, *Discarded) {
	t.Helper()
	var list []struct {
		Table string `ch:"table"`
		Name  string `ch:"name"`
		Type  string `ch:"type"`
	}
	require.NoError(t, db.conn.Select(t.Context(), &list,
		"SELECT table, name, type FROM system.columns WHERE database = ?", db.layout.database))
	conn := &discard{types: map[string]string{}, taken: Discarded{Writes: map[string]int{}}}
	for _, c := range list {
		conn.types[c.Table+"."+c.Name] = c.Type
	}
	return &DB{conn: conn, layout: db.layout}, &conn.taken
}

// discard is a connection that takes batches only.
type discard struct {
	driver.Conn

	types map[string]string // by table and column
	taken Discarded
}

func (d *discard) Close() error { return nil }

// PrepareBatch makes a batch with the columns that the statement names.
func (d *discard) PrepareBatch(ctx context.Context, sql string, _ ...batches.PrepareBatchOption) (batches.Batch, error) {
	head, names, _ := strings.Cut(strings.TrimSuffix(sql, ")"), " (")
	table := strings.Trim(head[strings.LastIndexByte(head, '.')+1:], "`")
	b := &discardedBatch{sent: func() {
		if d.taken.Sent != nil {
			d.taken.Sent(ctx)
		}
	}, taken: &d.taken, table: table, block: proto.NewBlock()}
	for _, name := range strings.Split(names, ", ") {
		if err := b.block.AddColumn(name, columns.Type(d.types[table+"."+name])); err != nil {
			return nil, err
		}
	}
	return b, nil
}

type discardedBatch struct {
	batches.Batch

	taken *Discarded
	sent  func()
	table string
	block *proto.Block

	refused bool
}

func (b *discardedBatch) Append(values ...any) error {
	if id, ok := values[0].(*string); ok && *id == b.taken.Refuse {
		b.refused = true
	}
	return b.block.Append(values...)
}

func (b *discardedBatch) Columns() []columns.Interface { return slices.Clone(b.block.Columns) }

func (b *discardedBatch) Close() error { return nil }

func (b *discardedBatch) Send() error {
	if b.refused {
		return &driver.Exception{Code: codeMemoryLimit, Message: "too much"}
	}
	b.taken.Rows += b.block.Rows()
	b.taken.Writes[b.table]++
	b.sent()
	return nil
}

// Waiting returns how many batches wait to be written together.
func Waiting(db *DB) int {
	db.joint.mu.Lock()
	defer db.joint.mu.Unlock()
	return len(db.joint.waiting)
}

// Held returns how many bytes of entries a sink keeps in memory, about.
func Held(s *Sink) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// WithPassword returns db as if the engine had another password, that of an older one for instance.
func WithPassword(t testing.TB, db *DB, password string) *DB {
	t.Helper()
	e := *db.endpoint
	e.Password = password
	reading, err := openReading(db.target, e)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reading.Close()) })
	return &DB{conn: db.conn, reading: reading, layout: db.layout, target: db.target, endpoint: &e, dir: db.dir}
}

// Granted returns those of some privileges that the user has.
func Granted(ctx context.Context, db *DB, privileges ...string) []string {
	return granted(ctx, db.conn, privileges)
}

// QuoteString and QuoteName quote for SQL.
func QuoteString(s string) string { return quoteString(s) }
func QuoteName(s string) string   { return quoteName(s) }

// OldAt is [DB.Old] with the name of the database of before.
func OldAt(ctx context.Context, db *DB, name string) (*OldDatabase, error) { return db.old(ctx, name) }
