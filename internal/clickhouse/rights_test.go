package clickhouse_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// readonlyDSN returns the DSN of the embedded engine's user that may only read.
func readonlyDSN(t *testing.T, db *clickhouse.DB) string {
	t.Helper()
	dsn, err := url.Parse(clickhousetest.DSN(t, db))
	require.NoError(t, err)
	dsn.User = url.UserPassword(embedded.ReadonlyUser(*db.Endpoint()))
	return dsn.String()
}

// TestReadingRights of the embedded engine, and of it as a server by users with different rights.
func TestReadingRights(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	require.NotNil(t, db.Endpoint(), "the users are those of the embedded engine")
	readonly := readonlyDSN(t, db)
	for want, o := range map[string]clickhouse.Options{
		`readonly = 1 with every statement; otherwise the rights of the user "windlass" decide`: {DSN: clickhousetest.DSN(t, db)},
		`the user "windlass_readonly" is read-only on the server`:                               {DSN: readonly},
	} {
		server, err := clickhouse.Open(t.Context(), o)
		require.NoError(t, err)
		rights, err := server.ReadingRights(t.Context())
		require.NoError(t, err)
		require.NoError(t, server.Close())
		require.Equal(t, want, rights.How)
		if o.DSN == readonly {
			require.Empty(t, rights.Outward)
		}
	}
	rights, err := db.ReadingRights(t.Context())
	require.NoError(t, err)
	require.Equal(t, clickhouse.ReadingRights{How: "as the user windlass_readonly, which may only read"}, rights)
}

// TestGranted asks for rights one by one.
func TestGranted(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	require.Equal(t, []string{"SELECT", "INSERT"}, clickhouse.Granted(t.Context(), db, "SELECT", "NO SUCH RIGHT", "INSERT", "SELECT("))
}

// TestQuoting gives the server foreign text as strings and names: it comes back as it was, and
// nothing of it is SQL.
func TestQuoting(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	for _, s := range []string{
		`'`, `\`, `\'`, `\\'; SELECT 1 --`, "`", "\\`", "``", "a`, file('x'), `b", "' OR file('/etc/passwd') != '", "\n\t\r\x00\x1b", "“", "‘’",
		"$$", "-- x", "/*", "{a:String}", "?", "$1", "@a", "\xff\xfe", "%s", "漢字", "x' /*", "*/", "#!", `\x27`, `\`,
	} {
		rows, err := db.Query(t.Context(), "SELECT "+clickhouse.QuoteString(s)+" AS "+clickhouse.QuoteName("n"+s), clickhouse.QueryOptions{})
		require.NoError(t, err, "%q", s)
		require.Equal(t, "n"+s, rows.Columns[0].Name)
		require.True(t, rows.Next())
		row, err := rows.Row()
		require.NoError(t, err)
		require.Equal(t, s, row[0].String())
		require.NoError(t, rows.Close())
	}
}
