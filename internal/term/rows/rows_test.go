package rows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for clause, want := range map[string]Format{
		"": Table, "PrettyCompact": Table, "JSON": JSON, "JSONEachRow": JSON, "CSVWithNames": CSV, "csv": CSV, "Null": None,
	} {
		got, ok := FormatOf(clause)
		require.True(t, ok, clause)
		require.Equal(t, want, got, clause)
	}
	_, ok := FormatOf("Parquet")
	require.False(t, ok)
}

func TestUniqueNames(t *testing.T) {
	t.Parallel()
	var columns []clickhouse.Column
	for _, name := range []string{"a", "b", "a", "a_2", "a"} {
		columns = append(columns, clickhouse.Column{Name: name})
	}
	names := uniqueNames(columns)
	require.Equal(t, []string{"a", "b", "a_2", "a_2_2", "a_3"}, names)
}
