package sqltext_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/clickhouse/sqltext"
)

func TestMain(m *testing.M) { os.Exit(clickhousetest.Main(m)) }

// TestEveryNameIsClassified fails with a new version of the engine until it is decided what its new
// names reach.
func TestEveryNameIsClassified(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	for query, classes := range map[string]string{
		"SELECT name FROM system.functions WHERE NOT is_aggregate":                                 "scalar higher server outward",
		"SELECT name FROM system.functions WHERE higher_order":                                     "higher",
		"SELECT name FROM system.functions WHERE is_aggregate":                                     "aggregate",
		"SELECT name FROM system.aggregate_function_combinators":                                   "combinator",
		"SELECT name FROM system.table_functions":                                                  "table server source",
		"SELECT name FROM system.table_engines UNION ALL SELECT name FROM system.database_engines": "engine outengine",
	} {
		rows, err := db.Query(t.Context(), query, clickhouse.QueryOptions{})
		require.NoError(t, err)
		names := 0
		for rows.Next() {
			row, err := rows.Row()
			require.NoError(t, err)
			names++
			require.True(t, sqltext.Classified(row[0].String(), strings.Fields(classes)...),
				"put %s into functions.txt: %s", row[0], query)
		}
		require.NoError(t, rows.Close())
		require.NotZero(t, names, query)
	}
}
