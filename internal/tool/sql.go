package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/secret"
)

const (
	maxSQLRows  = 1000
	maxSQLCell  = 2000      // bytes of one value
	maxSQLError = 4000      // bytes of the server's refusal
	maxSQLText  = 100 << 10 // bytes of a query; ClickHouse itself takes 256 KiB, and windlass sends it written out

	deliveryWait = 2 * time.Second // for the rows of what was recorded last
)

type sqlArgs struct {
	SQL string `json:"sql"`
}

// sqlTool is sql_query.
func sqlTool(q Querier, secrets *secret.Set) tool {
	return tool{
		spec: effect.ToolSpec{
			Name:       SQLQuery,
			Idempotent: true,
			Description: "Ask the record of this run in ClickHouse with a SELECT statement. The table unified_logs has one row for each " +
				"message, model call, tool call and route. Returns tab-separated values, the names of the columns first.",
			Parameters: object([]string{"sql"}, property{"sql", "string", "one SELECT statement in the dialect of ClickHouse", `"minLength":1`}),
		},
		run: typed(func(ctx context.Context, c *call, a sqlArgs) (string, error) {
			if q == nil {
				return "", &failure{kindUnsupported, errors.New("there is no ClickHouse in this run, so that sql_query cannot be used")}
			}
			if len(a.SQL) > maxSQLText {
				return "", &failure{kindBadArguments, fmt.Errorf("query: it has %d bytes, and at most %d are taken", len(a.SQL), maxSQLText)}
			}
			upTo, newest := deliver(ctx, q)
			columns, rows, err := q.QuerySession(ctx, c.SessionID, a.SQL)
			if err != nil { // it may quote what the query made, of any length
				return "", fmt.Errorf("query: %s", value(secrets, err.Error(), maxSQLError))
			}
			text := table(secrets, columns, rows)
			if upTo < newest {
				text += fmt.Sprintf("\n[the rows go up to entry %d of %d: the others have not reached ClickHouse yet]", upTo, newest)
			}
			return text, nil
		}),
	}
}

// deliver waits shortly for the rows of what was recorded so far.
func deliver(ctx context.Context, q Querier) (upTo, newest uint64) {
	ctx, cancel := context.WithTimeout(ctx, deliveryWait)
	defer cancel()
	return q.Deliver(ctx)
}

// table writes rows as tab-separated values, bounded as a whole.
func table(secrets *secret.Set, columns []string, rows [][]any) string {
	t := bounded{left: maxText}
	for i, name := range columns {
		if !t.add(i, cell(secrets, name)) {
			return t.text.String() + fmt.Sprintf("\n[the names of %d of %d columns; select fewer]", i, len(columns))
		}
	}
	for i, r := range rows {
		if i == maxSQLRows || t.left <= 0 {
			return t.text.String() + fmt.Sprintf("\n[%d of %d rows; use LIMIT or aggregate]", i, len(rows))
		}
		t.text.WriteByte('\n')
		for j, v := range r {
			if !t.add(j, cell(secrets, v)) {
				return t.text.String() + fmt.Sprintf("\n[row %d of %d ends after %d of %d columns: more than %d KiB; select fewer columns, "+
					"or parts of them by substring(column, from, length)]", i+1, len(rows), j, len(r), maxText>>10)
			}
		}
	}
	if len(rows) == 0 {
		t.text.WriteString("\n[no rows]")
	}
	return t.text.String()
}

// bounded is a text that takes so many bytes more.
type bounded struct {
	text strings.Builder
	left int
}

// add writes the i-th value of a line, if it fits.
func (b *bounded) add(i int, s string) bool {
	if b.left -= len(s) + 1; b.left < 0 {
		return false
	}
	if i > 0 {
		b.text.WriteByte('\t')
	}
	b.text.WriteString(s)
	return true
}

// cell writes one value on one line. What is cut of it can be had by substring.
func cell(secrets *secret.Set, v any) string {
	s, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			raw = fmt.Append(nil, v)
		}
		s = string(raw)
	}
	return strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n", "\r", "\\r").Replace(value(secrets, s, maxSQLCell))
}

// value returns the beginning of a text, without secrets and without control characters.
func value(secrets *secret.Set, s string, most int) string {
	size := len(s)
	if size > most {
		s = strings.ToValidUTF8(secrets.Head(s[:most]), "") + fmt.Sprintf("... (%d bytes)", size)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return '\uFFFD'
		}
		return r
	}, s)
}
