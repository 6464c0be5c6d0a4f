// Package rows writes the rows of an SQL result for people and programs: as a table, JSON or CSV.
package rows

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/term"
)

// Format is how rows are written.
type Format string

// The formats.
const (
	Table Format = "table" // for people; as wide as the terminal
	JSON  Format = "json"  // an array with an object for each row
	CSV   Format = "csv"   // with a header; NULL is \N
	None  Format = "null"  // the rows are read and not written
)

// FormatOf returns the format of a FORMAT clause, "" for a table; false: it is not supported.
func FormatOf(clause string) (Format, bool) {
	switch lower := strings.ToLower(clause); {
	case clause == "", strings.HasPrefix(lower, "pretty"):
		return Table, true
	case lower == "json", lower == "jsoneachrow":
		return JSON, true
	case lower == "csv", lower == "csvwithnames":
		return CSV, true
	case lower == "null":
		return None, true
	}
	return "", false
}

// Write writes all rows in a format, a table in a room. It does not close them.
func Write(w io.Writer, rows *clickhouse.Rows, format Format, room term.Room) error {
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case JSON:
		err = writeJSON(out, rows)
	case CSV:
		err = writeCSV(out, rows)
	case None:
		err = eachRow(rows, func([]clickhouse.Value) error { return nil })
	default:
		err = writeTable(out, rows, room)
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

// writeJSON writes an array with an object per row, each in a line. Of columns with the same name
// the later ones get a number, because JSON readers keep only one.
func writeJSON(w *bufio.Writer, rows *clickhouse.Rows) error {
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
	if err != nil || rows.Cut() { // what is not whole must not look whole
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

func writeCSV(w io.Writer, rows *clickhouse.Rows) error {
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
			if record[i] = v.Exact(); v.Null {
				record[i] = `\N`
			}
		}
		return out.Write(record)
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

func writeTable(w io.Writer, rows *clickhouse.Rows, room term.Room) error {
	if len(rows.Columns) == 0 {
		return nil // a statement without a result
	}
	t := term.NewTable()
	keys, drops := keysOf(rows.Columns)
	for _, c := range rows.Columns {
		t.Column(c.Name, c.IsNumber())
	}
	err := eachRow(rows, func(row []clickhouse.Value) error {
		cells := make([]string, len(row))
		for i, v := range row {
			if cells[i] = v.String(); !slices.Contains(keys, rows.Columns[i].Name) {
				cells[i] = term.CutValue(cells[i], room.Width)
			}
		}
		t.Add(cells...)
		return nil
	})
	if err != nil {
		return err
	}
	return t.Key(keys...).Drop(drops...).Render(w, room)
}

// keysOf returns the names of the columns that hold keys and ids, and of those that are left out
// where there is no room: the last ones first, but not the first one.
func keysOf(columns []clickhouse.Column) (keys, drops []string) {
	for i, c := range columns {
		name := term.Cell(c.Name)
		switch lower := strings.ToLower(c.Name); {
		case lower == "key", strings.HasSuffix(lower, "_key"), strings.HasSuffix(lower, "_id"), strings.HasSuffix(lower, "_hash"):
			keys = append(keys, name)
		case i > 0:
			drops = append(drops, name)
		}
	}
	slices.Reverse(drops)
	return keys, drops
}
