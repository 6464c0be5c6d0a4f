package clickhouse

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/echo"
)

// A change of a table in [tables] raises schemaVersion, a change of a view in schema.sql raises
// viewsVersion. A windlass of before refuses newer tables and goes on reading newer views: a view
// may gain columns, and loses none without a new version of the tables. Comments of columns come with
// either, and have no version: what they say may lag behind docs/sql.md.
const (
	schemaVersion = 11
	viewsVersion  = 11

	oldestSchema = 8 // whose tables can be brought up to date: those before have entries of journals before version 3
)

//go:embed schema.sql
var schemaText string

// schema is schema.sql with its versions.
type schema struct {
	text           string
	version, views uint32
}

func currentSchema() schema {
	return schema{text: schemaText, version: schemaVersion, views: viewsVersion}
}

// storedTable is a table of the schema, whatever its rows.
type storedTable struct {
	name, columns string
	ddl           string // the columns as CREATE TABLE has them
	added         string // the same as ALTER TABLE adds those that are missing
	version       string // what tells the versions of a session's rows apart
}

func stored[T any](t table[T], version string) storedTable {
	added := t.join(", ", func(c column[T]) string { return "ADD COLUMN IF NOT EXISTS " + c.name + " " + c.sql })
	return storedTable{name: t.name, columns: t.names(), ddl: t.ddl(), added: added, version: version}
}

// computed are columns of a table that ClickHouse makes of others, also in rows that had been there
// before: SELECT * is without them.
func (t storedTable) computed(columns ...string) storedTable {
	for _, c := range columns {
		t.ddl += ",\n    " + c
		t.added += ", ADD COLUMN IF NOT EXISTS " + c
	}
	return t
}

// The session that a fork comes from, and the last entry that it has of it; the session that has begun a
// child, where, the first of all its ancestors, and how far it is below that: the start of a run has the header of its
// journal.
const (
	forkedFrom = "forked_from          String MATERIALIZED if(node_type = 'run_start', JSONExtractString(data_json, 'header', 'parent'), '')"
	forkedAt   = "forked_at            UInt64 MATERIALIZED if(node_type = 'run_start', JSONExtractUInt(data_json, 'header', 'parent_seq'), 0)"
	childOf    = "child_of             String MATERIALIZED if(node_type = 'run_start', JSONExtractString(data_json, 'header', 'child_of'), '')"
	childKey   = "child_key            String MATERIALIZED if(node_type = 'run_start', JSONExtractString(data_json, 'header', 'child_key'), '')"
	rootOf     = "root                 String MATERIALIZED if(node_type = 'run_start', JSONExtractString(data_json, 'header', 'root'), '')"
	depthOf    = "depth                UInt32 MATERIALIZED if(node_type = 'run_start', JSONExtractUInt(data_json, 'header', 'depth'), 0)"
)

func tables() []storedTable {
	return []storedTable{
		stored(logTable(), "seq").computed(forkedFrom, forkedAt, childOf, childKey, rootOf, depthOf),
		stored(selectionTable(), "seq"),
		stored(cardTable(), "(content_hash, generated_at)"),
		stored(embeddingTable(), "(content_hash, embedding_model, generated_at)"),
	}
}

func tableColumns(name string) (string, error) {
	for _, t := range tables() {
		if t.name == name {
			return t.ddl, nil
		}
	}
	return "", fmt.Errorf("no table %q", name)
}

func placeNames(from string) string {
	return table[place]{columns: placeColumns()}.join(", ", func(c column[place]) string {
		if from == "" {
			return c.name
		}
		return from + "." + c.name + " AS " + c.name
	})
}

func (l layout) makeDatabase() string {
	return "CREATE DATABASE IF NOT EXISTS " + quoteName(l.database) + l.onCluster()
}

// addColumns returns the statements that add to the tables of before the columns that they lack.
func (l layout) addColumns() string {
	var statements strings.Builder
	for _, t := range tables() {
		for _, name := range slices.Compact([]string{l.local(t.name), l.table(t.name)}) {
			statements.WriteString("ALTER TABLE " + name + l.onCluster() + " " + t.added + ";\n")
		}
	}
	return statements.String()
}

// statements returns what makes everything in a database with tables of version have, 0 for none.
// They may be run again: what there is of a table stays, a view is replaced.
func (s schema) statements(l layout, have uint32) ([]string, error) {
	addColumns := func() string { return "" }
	if have > 0 && have < s.version {
		addColumns = l.addColumns
	}
	t, err := s.parse(l, addColumns)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, nil); err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return splitStatements(out.String()), nil
}

func (s schema) parse(l layout, addColumns func() string) (*template.Template, error) {
	t, err := template.New("schema.sql").Funcs(template.FuncMap{
		"table": l.table, "local": l.local, "onCluster": l.onCluster, "replacing": l.replacing, "distributed": l.distributed,
		"columns": tableColumns, "place": func() string { return placeNames("") }, "placeOf": placeNames,
		"addColumns": addColumns,
	}).Parse(s.text)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return t, nil
}

// splitStatements splits at semicolons that end a line, which is how schema.sql is written.
func splitStatements(sql string) []string {
	var statements []string
	for s := range strings.SplitSeq(sql+"\n", ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			statements = append(statements, s)
		}
	}
	return statements
}

// prepare makes the schema in a database that has none, and brings one of before up to date. Else
// it checks the versions with one query. Several processes may do so at once.
func prepare(ctx context.Context, conn driver.Conn, l layout, s schema) error {
	have, views, err := schemaVersions(ctx, conn, l)
	switch {
	case err != nil:
		return err
	case have > s.version:
		return &NewerSchemaError{Database: l.database, Have: have, Known: s.version}
	case have > 0 && have < oldestSchema:
		return &OldSchemaError{Database: l.database, Have: have}
	case have == s.version && views >= s.views:
		return nil
	}
	statements, err := s.statements(l, have)
	if err != nil {
		return err
	}
	if have == 0 {
		statements = slices.Insert(statements, 0, l.makeDatabase())
	}
	if err = l.run(ctx, conn, statements); err == nil {
		err = l.comment(ctx, conn)
	}
	if err == nil { // whoever reads the versions finds all of the schema
		err = conn.Exec(ctx, "INSERT INTO "+l.table("schema_migrations")+" (version, name) VALUES (?, ?)", s.version, fmt.Sprintf(viewsName, s.views))
	}
	switch {
	case err != nil && have > 0:
		return fmt.Errorf("bring the schema of database %q up to date: %w; once, this needs a user who may alter its tables, and create and drop its views",
			l.database, sqlError(err))
	case err != nil:
		return fmt.Errorf("make the schema of database %q: %w", l.database, err)
	}
	return nil
}

const viewsName = "views %d" // where schema_migrations has the version of the views

// schemaVersions returns the version of a database's tables, 0 when it has no schema, and that of
// its views, 0 when it was recorded before views had one.
func schemaVersions(ctx context.Context, conn driver.Conn, l layout) (tables, views uint32, err error) {
	var name string
	err = conn.QueryRow(ctx, "SELECT max(version), argMax(name, (version, applied_at)) FROM "+l.table("schema_migrations")).Scan(&tables, &name)
	if isUnknownObject(err) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the schema version of database %q: %w", l.database, err)
	}
	_, _ = fmt.Sscanf(name, viewsName, &views) // of another name the version stays 0
	return tables, views, nil
}

// run runs statements, also those that other processes run at the same time: ClickHouse puts the
// replacements of a view one after the other.
func (l layout) run(ctx context.Context, conn driver.Conn, statements []string) error {
	for _, s := range statements {
		if err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// NewerSchemaError says that the database was made by a newer windlass than this one.
type NewerSchemaError struct {
	Database string
	Have     uint32 // of the database
	Known    uint32 // to this program
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the ClickHouse database %q has schema version %d, but this windlass knows only up to %d: "+
		"use a newer windlass, or another database", e.Database, e.Have, e.Known)
}

// OldSchemaError says that the records of a database cannot be read. It was left as it is.
type OldSchemaError struct {
	Database string
	Have     uint32 // of the database
}

func (e *OldSchemaError) Error() string {
	return fmt.Sprintf("the ClickHouse database %q has schema version %d, which this windlass does not read; it was left as it is. "+
		"The last windlass that reads it was built from commit %s. Name another database in the DSN, such as %q: it is created "+
		"when it does not exist", e.Database, e.Have, echo.LastOldBuild, DefaultDatabase)
}

// layout says how tables are made: on one server, or on every node of a cluster.
type layout struct {
	database string
	cluster  string
}

func (l layout) table(name string) string { return quoteName(l.database) + "." + quoteName(name) }

// local is the table with the rows; on a cluster the distributed table has the plain name.
func (l layout) local(name string) string {
	if l.cluster != "" {
		name += "_local"
	}
	return l.table(name)
}

func (l layout) onCluster() string {
	if l.cluster == "" {
		return ""
	}
	return " ON CLUSTER " + quoteName(l.cluster)
}

// replacing is the engine of a table with the newest row, or highest version, of each key.
func (l layout) replacing(version ...string) string {
	engine := "ReplacingMergeTree"
	if l.cluster != "" {
		engine = "ReplicatedReplacingMergeTree"
		version = append([]string{"'/clickhouse/tables/{uuid}/{shard}'", "'{replica}'"}, version...)
	}
	if len(version) == 0 {
		return engine
	}
	return engine + "(" + strings.Join(version, ", ") + ")"
}

// distributed is the statement that makes the table over all nodes, or nothing on one server.
func (l layout) distributed(name, shardingKey string) string {
	if l.cluster == "" {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s AS %s ENGINE = Distributed(%s, %s, %s, %s)",
		l.table(name), l.onCluster(), l.local(name),
		quoteName(l.cluster), quoteName(l.database), quoteName(name+"_local"), shardingKey)
}

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

// Old returns the database with sessions of before, when this is the default one and has no
// sessions: a person wonders then where they are. Otherwise it is nil.
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
	if old.Version, _, err = schemaVersions(ctx, db.conn, before); err != nil || old.Version == 0 || old.Version >= oldestSchema {
		return nil, err
	}
	err = db.conn.QueryRow(ctx, count+before.table("unified_logs")).Scan(&old.Entries)
	if err != nil || old.Entries == 0 {
		return nil, err
	}
	return &old, nil
}
