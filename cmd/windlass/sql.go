package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/term"
)

// maxSQL bounds a statement read from standard input.
const maxSQL = 1 << 20

// sqlFormat is how rows are shown.
type sqlFormat string

const (
	formatTable sqlFormat = "table"
	formatJSON  sqlFormat = "json"
	formatCSV   sqlFormat = "csv"
	formatNone  sqlFormat = "null"
)

type sqlOptions struct {
	json, csv, write bool
}

func newSQLCommand(a *app) *cobra.Command {
	var o sqlOptions
	cmd := &cobra.Command{
		Use:   "sql QUERY",
		Short: "Ask ClickHouse with one SQL statement",
		Long: "Runs one SQL statement and prints the rows. QUERY may be - to read it from standard input.\n" +
			"Nothing can be changed without --write. docs/sql.md has the queries that are asked most.",
		Example: `  windlass sql "SELECT * FROM sessions ORDER BY started_at DESC LIMIT 5"
  windlass sql --json "SELECT phase_name, sum(tokens_in) FROM model_calls GROUP BY phase_name"
  windlass sql - < query.sql`,
		Args: oneQuery,
		RunE: func(cmd *cobra.Command, args []string) error { return a.sql(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print a JSON array with one object per row")
	f.BoolVar(&o.csv, "csv", false, `print CSV with a header; NULL is \N`)
	f.BoolVar(&o.write, "write", false, "let the statement change data")
	exclude(cmd, "json", "csv")
	return cmd
}

func oneQuery(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError(fmt.Errorf("%s takes one statement, got %d arguments", cmd.CommandPath(), len(args)),
			`windlass sql "SELECT ..." (in quotes), or windlass sql - to read standard input`)
	}
	return nil
}

func (a *app) sql(ctx context.Context, query string, o sqlOptions) error {
	if query == "-" {
		b, err := io.ReadAll(io.LimitReader(a.in, maxSQL+1))
		if err != nil {
			return usageError(fmt.Errorf("read the statement from standard input: %w", err), "")
		}
		if len(b) > maxSQL {
			return usageError(fmt.Errorf("the statement is longer than %d bytes", maxSQL), "")
		}
		query = string(b)
	}
	if err := clickhouse.CheckStatement(query); err != nil {
		return usageError(err, `windlass sql "SELECT ..."`)
	}
	ctx, stop := interruptible(ctx, newNotices(io.Discard))
	defer stop()
	options, err := a.clickHouse()
	if err != nil {
		return err
	}
	options.Reading = !o.write
	return a.openClickHouse(ctx, options, func(ctx context.Context, db *clickhouse.DB) error {
		rows, err := db.Query(ctx, query, clickhouse.QueryOptions{Write: o.write})
		if err != nil {
			return sqlHint(err, o.write)
		}
		format, err := o.format(rows.Format)
		if err == nil {
			err = a.printRows(rows, format)
		}
		return errors.Join(err, rows.Close())
	})
}

// sqlHint adds what to do about a refused statement.
func sqlHint(err error, write bool) error {
	var (
		se      *clickhouse.SQLError
		refused *clickhouse.RefusedError
	)
	switch {
	case errors.As(err, &se) && se.IsReadonly():
		return withExit(exitFailed, err, "windlass sql --write, if it is meant to change data or settings")
	case errors.As(err, &se) && se.IsDenied() && !write:
		return withExit(exitFailed, err, "windlass sql --write, if it is meant to do more than read tables")
	case errors.As(err, &refused) && refused.Liftable:
		return withExit(exitFailed, err, "windlass sql --write, if it is meant: then the rights of the database's user decide")
	}
	return err
}

// format decides how to print: as the flags say, else as a FORMAT clause says.
func (o sqlOptions) format(clause string) (sqlFormat, error) {
	switch lower := strings.ToLower(clause); {
	case o.json:
		return formatJSON, nil
	case o.csv:
		return formatCSV, nil
	case clause == "", strings.HasPrefix(lower, "pretty"):
		return formatTable, nil
	case lower == "json", lower == "jsoneachrow":
		return formatJSON, nil
	case lower == "csv", lower == "csvwithnames":
		return formatCSV, nil
	case lower == "null":
		return formatNone, nil
	}
	return "", usageError(fmt.Errorf("FORMAT %s is not supported here", clause), "--json, --csv or no FORMAT clause")
}

func (a *app) printRows(rows *clickhouse.Rows, format sqlFormat) error {
	out := bufio.NewWriter(a.out)
	var err error
	switch format {
	case formatJSON:
		err = writeJSONRows(out, rows)
	case formatCSV:
		err = writeCSVRows(out, rows)
	case formatNone:
		err = eachRow(rows, func([]clickhouse.Value) error { return nil })
	default:
		err = writeTableRows(out, rows, term.Width(a.out))
	}
	return errors.Join(err, out.Flush())
}

// eachRow calls do for every row.
func eachRow(rows *clickhouse.Rows, do func([]clickhouse.Value) error) error {
	for rows.Next() {
		row, err := rows.Row()
		if err != nil {
			return err
		}
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

// writeJSONRows writes an array with one object per row, one row per line. Of columns with the same name the later ones
// get a number, because JSON readers keep only one.
func writeJSONRows(w *bufio.Writer, rows *clickhouse.Rows) error {
	names := uniqueNames(rows.Columns)
	var line []byte
	n := 0
	err := eachRow(rows, func(row []clickhouse.Value) error {
		line = append(line[:0], ",\n{"...)
		if n == 0 {
			line = append(line[:0], "[\n{"...)
		}
		n++
		for i, v := range row {
			if i > 0 {
				line = append(line, ',')
			}
			line = echo.AppendString(line, names[i])
			line = append(line, ':')
			line = v.AppendJSON(line)
		}
		_, err := w.Write(append(line, '}'))
		return err
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if n == 0 {
		end = "[]\n"
	}
	_, err = w.WriteString(end)
	return err
}

func uniqueNames(columns []clickhouse.Column) []string {
	seen := map[string]int{}
	var names []string
	for _, c := range columns {
		name := c.Name
		for seen[name] > 0 {
			seen[c.Name]++
			name = fmt.Sprintf("%s_%d", c.Name, seen[c.Name])
		}
		seen[name]++
		names = append(names, name)
	}
	return names
}

func writeCSVRows(w io.Writer, rows *clickhouse.Rows) error {
	if len(rows.Columns) == 0 {
		return nil
	}
	out := csv.NewWriter(w)
	record := make([]string, len(rows.Columns))
	for i, c := range rows.Columns {
		record[i] = c.Name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	err := eachRow(rows, func(row []clickhouse.Value) error {
		for i, v := range row {
			if record[i] = v.String(); v.Null {
				record[i] = `\N`
			}
		}
		return out.Write(record)
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

func writeTableRows(w io.Writer, rows *clickhouse.Rows, width int) error {
	if len(rows.Columns) == 0 {
		return nil // a statement without a result
	}
	t := term.NewTable()
	for _, c := range rows.Columns {
		t.Column(c.Name, c.IsNumber())
	}
	err := eachRow(rows, func(row []clickhouse.Value) error {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = term.CutValue(v.String(), width)
		}
		t.Add(cells...)
		return nil
	})
	if err != nil {
		return err
	}
	return t.Render(w, width)
}
