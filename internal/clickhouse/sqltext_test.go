package clickhouse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStatement(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]statement{
		"SELECT 1":                               {sql: "SELECT 1"},
		"\n-- why\n SELECT 1 ;; -- done":         {sql: "\n-- why\n SELECT 1"},
		"SELECT ';' /* ; /* ; */ */":             {sql: "SELECT ';'"},
		"SELECT 'it''s;', \"a;\", `b;`, $x$;$x$": {sql: "SELECT 'it''s;', \"a;\", `b;`, $x$;$x$"},
		`SELECT 'a\';b'`:                         {sql: `SELECT 'a\';b'`},
		"select 1 format JSON":                   {sql: "select 1", format: "JSON"},
		"SELECT 1 FORMAT CSV;":                   {sql: "SELECT 1", format: "CSV"},
		"SELECT format FROM t":                   {sql: "SELECT format FROM t"},
		"INSERT INTO t FORMAT Values":            {sql: "INSERT INTO t FORMAT Values"},
	} {
		got, err := parseStatement(sql)
		require.NoError(t, err, sql)
		require.Equal(t, want.sql, got.sql)
		require.Equal(t, want.format, got.format)
	}
	for sql, want := range map[string]error{
		"": ErrEmptyQuery, " ; -- x": ErrEmptyQuery, "SELECT 1; SELECT 2": ErrManyStatements, "SELECT 1;\n/**/;x": ErrManyStatements,
	} {
		_, err := parseStatement(sql)
		require.ErrorIs(t, err, want, sql)
	}
}

func FuzzParseStatement(f *testing.F) {
	for _, s := range []string{"SELECT 1", "$a$;$a$", "/* /* */", "'\\", "`", "SELECT 1; x", "# x\n1", "\xff\u00a0", "‘;’ “;”", "“", "‘"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		end := 0
		for _, tok := range tokenize(sql) {
			if tok.start < end || tok.end <= tok.start || tok.end > len(sql) {
				t.Fatalf("token %+v is out of order in %q", tok, sql)
			}
			end = tok.end
		}
		st, err := parseStatement(sql)
		if err == nil && (st.sql == "" || !strings.Contains(sql, st.sql)) {
			t.Fatalf("statement %q is no part of %q", st.sql, sql)
		}
	})
}
