package clickhouse

import (
	"context"
	"errors"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/clickhouse/sqltext"
)

// RefusedError is returned for a statement that windlass does not hand to the server.
type RefusedError = sqltext.RefusedError

// ErrManyStatements is returned for a text of more than one statement.
var ErrManyStatements = sqltext.ErrMany

// CheckStatement reports what makes a text no single statement, before a database is opened for it.
func CheckStatement(sql string) error {
	_, err := sqltext.Parse(sql)
	return err
}

// check refuses a statement that the guard does not allow.
func check(ctx context.Context, conn driver.Conn, g sqltext.Guard, st sqltext.Statement) error {
	g.Settable = embedded.ReadonlySettings()
	err := g.Check(st, func(sql string) (string, error) { return canonical(ctx, conn, sql) })
	var more sqltext.ReadonlyError
	if errors.As(err, &more) {
		return &SQLError{Code: codeReadonly, Name: "READONLY", Message: string(more)}
	}
	return err
}

// maxQuerySize is how long a statement with data in it may be.
const maxQuerySize = 8 << 20

// canonical returns a statement as the server's parser writes it. Its errors are the statement's.
func canonical(ctx context.Context, conn driver.Conn, sql string) (text string, err error) {
	checked := ctx
	if len(sql) > 64<<10 { // ClickHouse parses 256 KiB, and quoting can make it longer
		checked = driver.Context(ctx, driver.WithSettings(driver.Settings{"max_query_size": maxQuerySize}))
	}
	err = conn.QueryRow(checked, "SELECT formatQuerySingleLine("+quoteString(sql)+")").Scan(&text)
	if err == nil {
		return text, nil
	}
	err = queryError(ctx, err)
	var se *SQLError
	if errors.As(err, &se) { // what speaks of the function that called the parser is left out
		se.Message, _, _ = strings.Cut(se.Message, ": In scope SELECT formatQuerySingleLine(")
		se.Message = strings.TrimSuffix(strings.TrimSpace(se.Message), ": .")
	}
	return "", err
}
