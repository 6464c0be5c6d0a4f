package clickhouse_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

func TestValuesOfEveryType(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	for sql, want := range map[string][2]string{ // text, JSON
		"NULL":                          {"NULL", "null"},
		"1":                             {"1", "1"},
		"toInt64(-9223372036854775808)": {"-9223372036854775808", "-9223372036854775808"},
		"18446744073709551615":          {"18446744073709551615", "18446744073709551615"},
		"toUInt128('340282366920938463463374607431768211455')": {
			"340282366920938463463374607431768211455", "340282366920938463463374607431768211455",
		},
		"toInt256('-1')":                        {"-1", "-1"},
		"0.1 + 0.2":                             {"0.3", "0.30000000000000004"},
		"2.7689999999999997":                    {"2.769", "2.7689999999999997"},
		"1.7976931348623157e308":                {"1.7976931348623157e+308", "1.7976931348623157e+308"},
		"[0.1 + 0.2, 2]":                        {"[0.3,2]", "[0.30000000000000004,2]"},
		"map('k', 0.1 + 0.2)":                   {`{"k":0.3}`, `{"k":0.30000000000000004}`},
		"toFloat32(0.1)":                        {"0.1", "0.1"},
		"1e300":                                 {"1e+300", "1e+300"},
		"1 / 0":                                 {"inf", `"inf"`},
		"0 / 0":                                 {"nan", `"nan"`},
		"toDecimal64('1.50', 3)":                {"1.500", "1.500"},
		"true":                                  {"true", "true"},
		"'a\"b\\n'":                             {"a\"b\n", `"a\"b\n"`},
		"'x'::LowCardinality(Nullable(String))": {"x", `"x"`},
		"toFixedString('ab', 2)":                {"ab", `"ab"`},
		"toDate('2026-01-02')":                  {"2026-01-02", `"2026-01-02"`},
		"toDateTime('2026-01-02 03:04:05', 'UTC')": {"2026-01-02 03:04:05", `"2026-01-02 03:04:05"`},
		"toDateTime64('2026-01-02 03:04:05.12', 6, 'UTC')": {
			"2026-01-02 03:04:05.120000", `"2026-01-02 03:04:05.120000"`,
		},
		"[toDateTime64('2026-01-02 03:04:05.5', 1, 'UTC')]": {
			`["2026-01-02 03:04:05.5"]`, `["2026-01-02 03:04:05.5"]`,
		},
		"toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')": {
			"61f0c404-5cb3-11e7-907b-a6006ad3dba0", `"61f0c404-5cb3-11e7-907b-a6006ad3dba0"`,
		},
		"toIPv4('1.2.3.4')":                     {"1.2.3.4", `"1.2.3.4"`},
		"toIPv6('::1')":                         {"::1", `"::1"`},
		"'b'::Enum8('a' = 1, 'b' = 2)":          {"b", `"b"`},
		"[1, NULL, 3]":                          {"[1,null,3]", "[1,null,3]"},
		"[['a'], []]":                           {`[["a"],[]]`, `[["a"],[]]`},
		"map('k', 1.5, 'a', 2)":                 {`{"a":2,"k":1.5}`, `{"a":2,"k":1.5}`},
		"map('a', [(1, toDate('2020-01-01'))])": {`{"a":[[1,"2020-01-01"]]}`, `{"a":[[1,"2020-01-01"]]}`},
		"(1, 'z')":                              {`[1,"z"]`, `[1,"z"]`},
		"(1, 'q')::Tuple(z UInt8, a String)":    {`{"z":1,"a":"q"}`, `{"z":1,"a":"q"}`},
		`'{"a":{"b":[1,2]}}'::JSON`:             {`{"a":{"b":[1,2]}}`, `{"a":{"b":[1,2]}}`},
		"toUInt8(1)::Dynamic":                   {"1", "1"},
		"'b'::Variant(String, UInt8)":           {"b", `"b"`},
	} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			rows, err := db.Query(t.Context(), "SELECT "+sql+" AS v", clickhouse.QueryOptions{})
			require.NoError(t, err)
			require.True(t, rows.Next(), "one row")
			row, err := rows.Row()
			require.NoError(t, err)
			require.Equal(t, want[0], row[0].String())
			require.Equal(t, want[1], string(row[0].AppendJSON(nil)))
			require.False(t, rows.Next())
			require.NoError(t, rows.Close())
		})
	}
}

func TestQueryOnlyReadsUnlessToldTo(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	ctx := t.Context()
	for _, sql := range []string{
		"CREATE TABLE x (a Int8) ENGINE = Memory",
		"INSERT INTO schema_migrations (version) VALUES (99)",
		"INSERT INTO schema_migrations (version) SELECT 99",
		"DROP TABLE unified_logs", "TRUNCATE TABLE unified_logs", "SYSTEM FLUSH LOGS",
		"SELECT 1 SETTINGS readonly = 0", "INSERT INTO schema_migrations (version) SETTINGS `readonly`=0 VALUES (99)",
		"WITH 1 AS x INSERT INTO schema_migrations (version) SELECT 99", `SELECT 1 SETTINGS "read\x6fnly" = 0`,
		"SET readonly = 0", "ALTER TABLE unified_logs DELETE WHERE 1",
	} {
		_, err := db.Query(ctx, sql, clickhouse.QueryOptions{})
		var se *clickhouse.SQLError
		require.ErrorAs(t, err, &se, sql)
		require.True(t, se.IsReadonly(), "%s: %v", sql, err)
	}
	for _, sql := range []string{"CREATE TABLE x (a Int8) ENGINE = Memory", "INSERT INTO x VALUES (1), (2)"} {
		rows, err := db.Query(ctx, sql, clickhouse.QueryOptions{Write: true})
		require.NoError(t, err)
		require.False(t, rows.Next())
		require.NoError(t, rows.Close())
	}
	require.Equal(t, "2", scalar(t, db, "SELECT count() FROM x"))
}

func scalar(t *testing.T, db *clickhouse.DB, sql string) string {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, clickhouse.QueryOptions{})
	require.NoError(t, err)
	require.True(t, rows.Next())
	row, err := rows.Row()
	require.NoError(t, err)
	require.NoError(t, rows.Close())
	return row[0].String()
}

func TestQueryIsCancelled(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	rows, err := db.Query(ctx, "SELECT sleepEachRow(1) FROM numbers(60) SETTINGS max_block_size = 1", clickhouse.QueryOptions{})
	if err == nil {
		for rows.Next() {
			_, _ = rows.Row() // Close returns what ended the query
		}
		err = rows.Close()
	}
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
