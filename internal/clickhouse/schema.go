package clickhouse

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// schemaVersion is the version of the schema in schema.sql. Versions 1 to 7 were those of databases with entries of journals
// before version 3, which cannot be read any more.
const schemaVersion = 8

//go:embed schema.sql
var schemaText string

// tableColumns are the columns of a table as CREATE TABLE has them.
func tableColumns(name string) (string, error) {
	for _, t := range tables() {
		if t.table == name {
			return t.ddl, nil
		}
	}
	return "", fmt.Errorf("no table %q", name)
}

// storedTable is a table of the schema, whatever its rows.
type storedTable struct{ table, ddl, columns string }

// tables are those that hold what sessions have.
func tables() []storedTable {
	logs, selections, cards, embeddings := logTable(), selectionTable(), cardTable(), embeddingTable()
	return []storedTable{
		{logs.name, logs.ddl(), logs.names()},
		{selections.name, selections.ddl(), selections.names()},
		{cards.name, cards.ddl(), cards.names()},
		{embeddings.name, embeddings.ddl(), embeddings.names()},
	}
}

// placeNames lists the columns that say where in a run something was done, of a table with the alias from.
func placeNames(from string) string {
	var list []string
	for _, c := range placeColumns() {
		if from != "" {
			list = append(list, from+"."+c.name+" AS "+c.name)
		} else {
			list = append(list, c.name)
		}
	}
	return strings.Join(list, ", ")
}

// makeDatabase is the statement that makes the database.
func (l layout) makeDatabase() string {
	return "CREATE DATABASE IF NOT EXISTS " + quoteName(l.database) + l.onCluster()
}

// schema returns the statements that make everything in the database. They may be run again.
func (l layout) schema() ([]string, error) {
	t, err := template.New("schema.sql").Funcs(template.FuncMap{
		"table": l.table, "local": l.local, "onCluster": l.onCluster, "replacing": l.replacing, "distributed": l.distributed,
		"columns": tableColumns, "place": func() string { return placeNames("") }, "placeOf": placeNames,
	}).Parse(schemaText)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, nil); err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return splitStatements(out.String()), nil
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

// prepare makes the schema in a database that has none, and checks the version of one that has. On a database that is there
// it costs one query.
func prepare(ctx context.Context, conn driver.Conn, l layout) error {
	have, err := schemaVersionOf(ctx, conn, l)
	switch {
	case err != nil:
		return err
	case have == schemaVersion:
		return nil
	case have > schemaVersion:
		return &NewerSchemaError{Database: l.database, Have: have, Known: schemaVersion}
	case have > 0:
		return &OldSchemaError{Database: l.database, Have: have}
	}
	statements, err := l.schema()
	if err != nil {
		return err
	}
	if err := l.run(ctx, conn, append([]string{l.makeDatabase()}, statements...)); err != nil {
		return fmt.Errorf("make the schema of database %q: %w", l.database, err)
	}
	// Whoever reads this finds all of the schema.
	return conn.Exec(ctx, "INSERT INTO "+l.table("schema_migrations")+" (version, name) VALUES (?, ?)", uint32(schemaVersion), "schema")
}

// schemaVersionOf returns the version that a database has, 0 when it does not exist or has no schema.
func schemaVersionOf(ctx context.Context, conn driver.Conn, l layout) (uint32, error) {
	var v uint32
	err := conn.QueryRow(ctx, "SELECT max(version) FROM "+l.table("schema_migrations")).Scan(&v)
	if isUnknownObject(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the schema version of database %q: %w", l.database, err)
	}
	return v, nil
}

func (l layout) run(ctx context.Context, conn driver.Conn, statements []string) error {
	for _, s := range statements {
		if err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
