package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term/rows"
)

// maxSQL bounds a statement read from standard input.
const maxSQL = 1 << 20

type sqlOptions struct {
	json, csv, write bool
}

func newSQLCommand(con *console) *cobra.Command {
	var o sqlOptions
	cmd := &cobra.Command{
		Use:   "sql QUERY",
		Short: "Query ClickHouse with one SQL statement",
		Long: "Runs one SQL statement and prints the rows. QUERY may be - to read it from standard input.\n" +
			"Nothing can be changed without --write. docs/sql.md has the most common queries.",
		Example: `  windlass sql "SELECT * FROM sessions ORDER BY started_at DESC LIMIT 5"
  windlass sql --json "SELECT phase_name, sum(tokens_in) FROM model_calls WHERE NOT copied GROUP BY phase_name"
  windlass sql - < query.sql`,
		Args: oneQuery,
		RunE: func(cmd *cobra.Command, args []string) error { return runSQL(cmd.Context(), con, args[0], o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print a JSON array with one object per row")
	f.BoolVar(&o.csv, "csv", false, `print CSV with a header; NULL is \N`)
	f.BoolVar(&o.write, "write", false, "let the statement change data")
	con.wideFlag(cmd)
	exclude(cmd, "json", "csv")
	return cmd
}

func oneQuery(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return exit.UsageError(fmt.Errorf("%s takes one statement, got %d arguments", cmd.CommandPath(), len(args)),
			`windlass sql "SELECT ..." (in quotes), or windlass sql - to read standard input`)
	}
	return nil
}

func runSQL(ctx context.Context, con *console, query string, o sqlOptions) error {
	if query == "-" {
		b, err := io.ReadAll(io.LimitReader(con.in, maxSQL+1))
		if err != nil {
			return exit.UsageError(fmt.Errorf("read the statement from standard input: %w", err), "")
		}
		if len(b) > maxSQL {
			return exit.UsageError(fmt.Errorf("the statement is longer than %d bytes", maxSQL), "")
		}
		query = string(b)
	}
	if err := clickhouse.CheckStatement(query); err != nil {
		return exit.UsageError(err, `windlass sql "SELECT ..."`)
	}
	opened, err := con.open()
	if err != nil {
		return err
	}
	options, err := opened.Database()
	if err != nil {
		return err
	}
	options.Reading = !o.write
	pool := database.NewPool(options) // another than that of the app, for what is opened ahead
	defer pool.Close()                //nolint:errcheck // what was asked is answered
	var table bytes.Buffer            // for people: it is shown when ClickHouse has answered
	err = con.ask(ctx, pool, func(ctx context.Context, db *clickhouse.DB) error {
		result, err := db.Query(ctx, query, clickhouse.QueryOptions{Write: o.write})
		if err != nil {
			return sqlHint(err, o.write)
		}
		format, err := o.format(result.Format)
		if err == nil {
			err = con.writeRows(&table, result, format)
		}
		return errors.Join(err, result.Close())
	})
	if table.Len() == 0 {
		return err
	}
	return errors.Join(con.paged(func() error { _, err := table.WriteTo(con.out); return err }), err)
}

// writeRows writes rows, a table for a pager to where it is taken from.
func (con *console) writeRows(table io.Writer, result *clickhouse.Rows, format rows.Format) error {
	to := con.out
	if format == rows.Table && con.pager() != "" {
		to = table
	}
	return rows.Write(to, result, format, con.room(con.out))
}

// sqlHint adds what to do about a refused statement.
func sqlHint(err error, write bool) error {
	var (
		se      *clickhouse.SQLError
		refused *clickhouse.RefusedError
	)
	switch {
	case errors.As(err, &se) && se.IsReadonly():
		return exit.With(exit.Failed, err, "windlass sql --write, if it is meant to change data or settings")
	case errors.As(err, &se) && se.IsDenied() && !write:
		return exit.With(exit.Failed, err, "windlass sql --write, if it is meant to do more than read tables")
	case errors.As(err, &refused) && refused.Liftable:
		return exit.With(exit.Failed, err, "windlass sql --write, if it is meant: then the rights of the database's user decide")
	}
	return err
}

// format decides how to print: as the flags say, else as a FORMAT clause says.
func (o sqlOptions) format(clause string) (rows.Format, error) {
	switch {
	case o.json:
		return rows.JSON, nil
	case o.csv:
		return rows.CSV, nil
	}
	f, ok := rows.FormatOf(clause)
	if !ok {
		return "", exit.UsageError(fmt.Errorf("FORMAT %s is not supported here", clause), "--json, --csv or no FORMAT clause")
	}
	return f, nil
}
