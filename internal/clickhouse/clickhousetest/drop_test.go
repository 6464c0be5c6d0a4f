package clickhousetest_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) { os.Exit(clickhousetest.Main(m)) }

// The database of a test is dropped whatever schema the test has given it.
func TestDatabasesOfTestsAreDropped(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	var made []string
	t.Run("tests", func(t *testing.T) {
		for _, version := range []string{"1", "99"} {
			t.Run(version, func(t *testing.T) {
				of := clickhousetest.Open(t)
				made = append(made, of.Database())
				for _, sql := range []string{"TRUNCATE TABLE schema_migrations", "INSERT INTO schema_migrations (version, name) VALUES (" + version + ", 'other')"} {
					rows, err := of.Query(t.Context(), sql, clickhouse.QueryOptions{Write: true})
					require.NoError(t, err)
					require.NoError(t, rows.Close())
				}
			})
		}
	})
	names, err := clickhousetest.Databases(t.Context(), db)
	require.NoError(t, err)
	require.Contains(t, names, db.Database())
	require.NotContains(t, names, made[0])
	require.NotContains(t, names, made[1])
}
