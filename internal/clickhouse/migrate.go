package clickhouse

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"text/template"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one numbered step of the schema: statements that may be run twice, because two processes may apply it at
// the same moment and ClickHouse has no lock that both could take.
type migration struct {
	version    uint32
	name       string
	statements []string
}

// layout says how tables are made: on one server, or on every node of a cluster.
type layout struct {
	database string
	cluster  string
}

// costColumns are the columns that every cost view has, over rows of model_calls AS c. The columns are qualified because
// ClickHouse takes an unqualified name in an aggregate for the alias of another one.
const costColumns = `count() AS calls,
       countIf(c.cost_usd IS NULL) AS unknown_cost_calls,
       countIf(c.error_kind != '') AS failed_calls,
       countIf(c.scripted) AS scripted_calls,
       sum(c.tokens_in) AS tokens_in,
       sum(c.tokens_cached) AS tokens_cached,
       sum(c.tokens_out) AS tokens_out,
       sum(c.tokens_reasoning) AS tokens_reasoning,
       sumOrNull(c.cost_usd) AS cost_usd,
       sum(c.duration_ms) AS duration_ms`

// guardCalls are the calls that are made to make room for a request: summaries and exact counts.
const guardCalls = `match(key, '/(compact|recount)[0-9]+/model[0-9]*$')`

// savingsColumns are the columns that every view of savings has, over savingsRows AS c.
const savingsColumns = `countIf(c.sent) AS calls,
       countIf(c.sent AND c.saved_usd IS NULL) AS unpriced_calls,
       sum(c.full_history_size) AS full_tokens,
       sum(c.context_size) AS sent_tokens,
       sum(c.tokens_saved) AS saved_tokens,
       sumOrNullIf(c.full_usd, c.saved_usd IS NOT NULL) AS full_usd,
       sumOrNullIf(c.sent_usd, c.saved_usd IS NOT NULL) AS sent_usd,
       sumOrNull(c.saved_usd) AS saved_usd,
       countIf(NOT c.sent) AS guard_calls,
       sumOrNullIf(c.cost_usd, NOT c.sent) AS guard_usd,
       sumOrNullIf(c.cost_usd, c.sent) AS cost_usd,
       if(sent_tokens = 0, NULL, sum(c.shared_size) / sent_tokens) AS cached_estimated,
       if(sumIf(c.tokens_in, c.counted) = 0, NULL, sumIf(c.tokens_cached, c.counted) / sumIf(c.tokens_in, c.counted)) AS cached_reported`

// savingsRows are the calls of phases that were answered, as others were not paid for or not sent at all, and those of the guard, which have no selection.
func (l layout) savingsRows() string {
	return `(
    SELECT session_id, cascade_id, phase_name, model, true AS sent, full_history_size, context_size, tokens_saved, shared_size,
           full_usd, sent_usd, saved_usd, counted, tokens_in, tokens_cached, cost_usd
    FROM ` + l.table("context_calls") + ` WHERE answered
    UNION ALL
    SELECT session_id, cascade_id, phase_name, model, false, 0, 0, 0, 0, NULL, NULL, NULL, false, 0, 0, cost_usd
    FROM ` + l.table("model_calls") + ` WHERE ` + guardCalls + `
)`
}

func (l layout) table(name string) string { return quoteName(l.database) + "." + quoteName(name) }

// local is the table that holds the rows; on a cluster the name itself is that of the distributed table over it.
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

// replacing is the engine of a table in which the newest row of a key stays: the last one written, or that with the highest
// value in a column named as the version.
func (l layout) replacing(version ...string) string {
	if l.cluster == "" {
		return "ReplacingMergeTree" + argumentList(version)
	}
	return "ReplicatedReplacingMergeTree" + argumentList(append([]string{"'/clickhouse/tables/{uuid}/{shard}'", "'{replica}'"}, version...))
}

func argumentList(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
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

// addColumns are the statements that add columns to a table, and to the one over all nodes.
func (l layout) addColumns(name string, columns ...string) string {
	change := l.onCluster() + "\n    ADD COLUMN IF NOT EXISTS " + strings.Join(columns, ",\n    ADD COLUMN IF NOT EXISTS ")
	alter := "ALTER TABLE " + l.local(name) + change
	if l.cluster != "" {
		alter += ";\n\nALTER TABLE " + l.table(name) + change
	}
	return alter
}

// bootstrap are the statements that the record of migrations itself needs.
func (l layout) bootstrap() []string {
	statements := []string{
		"CREATE DATABASE IF NOT EXISTS " + quoteName(l.database) + l.onCluster(),
		"CREATE TABLE IF NOT EXISTS " + l.local("schema_migrations") + l.onCluster() +
			" (version UInt32, name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3)) ENGINE = " +
			l.replacing() + " ORDER BY version",
	}
	if d := l.distributed("schema_migrations", "version"); d != "" {
		statements = append(statements, d)
	}
	return statements
}

// migrations returns all migrations in order, as they are run in this layout.
func (l layout) migrations() ([]migration, error) {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	var all []migration
	for i, e := range entries { // sorted by name
		m, err := l.load(e.Name())
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", e.Name(), err)
		}
		if int(m.version) != i+1 {
			return nil, fmt.Errorf("migration %s: number %d was expected", e.Name(), i+1)
		}
		all = append(all, m)
	}
	return all, nil
}

func (l layout) load(file string) (migration, error) {
	number, name, ok := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
	version, err := strconv.ParseUint(number, 10, 32)
	if !ok || err != nil {
		return migration{}, errors.New("its name is not NUMBER_NAME.sql")
	}
	text, err := migrationFiles.ReadFile(path.Join("migrations", file))
	if err != nil {
		return migration{}, err
	}
	t, err := template.New(file).Funcs(template.FuncMap{
		"table": l.table, "local": l.local, "onCluster": l.onCluster, "replacing": l.replacing,
		"distributed": l.distributed, "addColumns": l.addColumns, "costs": func() string { return costColumns },
		"savings": func() string { return savingsColumns }, "savingsRows": l.savingsRows,
	}).Parse(string(text))
	if err != nil {
		return migration{}, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, nil); err != nil {
		return migration{}, err
	}
	return migration{version: uint32(version), name: name, statements: splitStatements(out.String())}, nil
}

// splitStatements splits at semicolons that end a line, which is how our own files are written.
func splitStatements(sql string) []string {
	var statements []string
	for s := range strings.SplitSeq(sql+"\n", ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			statements = append(statements, s)
		}
	}
	return statements
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

// migrate brings the schema up to date and checks that it is not newer than this program. On a database that is up to
// date it costs one query.
func migrate(ctx context.Context, conn driver.Conn, l layout) error {
	all, err := l.migrations()
	if err != nil {
		return err
	}
	known := all[len(all)-1].version
	have, err := schemaVersion(ctx, conn, l)
	if err != nil {
		return err
	}
	if have > known {
		return &NewerSchemaError{Database: l.database, Have: have, Known: known}
	}
	for _, m := range all[have:] {
		if err := apply(ctx, conn, l, m); err != nil {
			return fmt.Errorf("apply migration %d (%s) to database %q: %w", m.version, m.name, l.database, err)
		}
	}
	return nil
}

// schemaVersion returns the newest applied migration, 0 when the database or the record does not exist.
func schemaVersion(ctx context.Context, conn driver.Conn, l layout) (uint32, error) {
	var v uint32
	err := conn.QueryRow(ctx, "SELECT max(version) FROM "+l.table("schema_migrations")).Scan(&v)
	if isUnknownObject(err) {
		return 0, l.run(ctx, conn, l.bootstrap())
	}
	if err != nil {
		return 0, fmt.Errorf("read the schema version of database %q: %w", l.database, err)
	}
	return v, nil
}

func apply(ctx context.Context, conn driver.Conn, l layout, m migration) error {
	if err := l.run(ctx, conn, m.statements); err != nil {
		return err
	}
	return conn.Exec(ctx, "INSERT INTO "+l.table("schema_migrations")+" (version, name) VALUES (?, ?)", m.version, m.name)
}

func (l layout) run(ctx context.Context, conn driver.Conn, statements []string) error {
	for _, s := range statements {
		if err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
