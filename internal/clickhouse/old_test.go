package clickhouse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestOldDatabase: sessions of before are found while there are none of this windlass, and are left
// as they are.
func TestOldDatabase(t *testing.T) {
	t.Parallel()
	before, db := clickhousetest.Open(t), clickhousetest.Open(t)
	exec := func(sql string) { require.NoError(t, clickhouse.Conn(before).Exec(t.Context(), sql)) }
	find := func(name string) *clickhouse.OldDatabase {
		t.Helper()
		old, err := clickhouse.OldAt(t.Context(), db, name)
		require.NoError(t, err)
		return old
	}
	st := &story{session: "before"}
	st.mark("run_start", "run", nil)
	require.NoError(t, clickhousetest.Insert(t.Context(), before, st.entries))
	require.Nil(t, find(before.Database()), "it has the schema of this windlass")
	exec("TRUNCATE TABLE schema_migrations")
	require.Nil(t, find(before.Database()), "it has no schema")
	exec("INSERT INTO schema_migrations (version, name) VALUES (7, 'before')")
	old := find(before.Database())
	require.Equal(t, &clickhouse.OldDatabase{Name: before.Database(), Version: 7, Entries: 1}, old)
	require.Equal(t, `the ClickHouse database "`+before.Database()+`" has sessions (1 entries) with schema version 7, which this windlass does not read; `+
		"it was left as it is. The last windlass that reads it was built from commit d265381: use that build for them", old.String())
	require.Nil(t, find("windlass_nowhere"))
	none, err := db.Old(t.Context())
	require.NoError(t, err)
	require.Nil(t, none, "whoever named a database knows of it")

	require.NoError(t, clickhousetest.Insert(t.Context(), db, st.entries))
	require.Nil(t, find(before.Database()), "there are sessions now")
	exec("TRUNCATE TABLE unified_logs")
	require.NoError(t, clickhouse.Conn(db).Exec(t.Context(), "TRUNCATE TABLE unified_logs"))
	require.Nil(t, find(before.Database()), "it has no sessions")
}
