package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/engine"
)

const (
	maxSQLRows = 1000
	maxSQLCell = 2000 // bytes of one value
)

type sqlArgs struct {
	SQL string `json:"sql"`
}

// sqlTool is sql_query.
func sqlTool(q Querier) tool {
	return tool{
		spec: engine.ToolSpec{
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
			columns, rows, err := q.QuerySession(ctx, c.SessionID, a.SQL)
			if err != nil {
				return "", fmt.Errorf("query: %w", err)
			}
			return table(columns, rows), nil
		}),
	}
}

// table writes rows as tab-separated values.
func table(columns []string, rows [][]any) string {
	var b strings.Builder
	b.WriteString(strings.Join(columns, "\t"))
	for i, r := range rows {
		if i == maxSQLRows || b.Len() > maxText {
			fmt.Fprintf(&b, "\n[%d of %d rows; use LIMIT or aggregate]", i, len(rows))
			return b.String()
		}
		b.WriteByte('\n')
		for j, v := range r {
			if j > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(cell(v))
		}
	}
	if len(rows) == 0 {
		b.WriteString("\n[no rows]")
	}
	return b.String()
}

// cell writes one value on one line.
func cell(v any) string {
	s, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			raw = fmt.Append(nil, v)
		}
		s = string(raw)
	}
	if len(s) > maxSQLCell {
		s = strings.ToValidUTF8(s[:maxSQLCell], "") + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n", "\r", "\\r").Replace(s)
}
