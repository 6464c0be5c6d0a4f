package sqltext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStatement(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]Statement{
		"SELECT 1":                               {SQL: "SELECT 1"},
		"\n-- why\n SELECT 1 ;; -- done":         {SQL: "\n-- why\n SELECT 1"},
		"SELECT ';' /* ; /* ; */ */":             {SQL: "SELECT ';'"},
		"SELECT 'it''s;', \"a;\", `b;`, $x$;$x$": {SQL: "SELECT 'it''s;', \"a;\", `b;`, $x$;$x$"},
		`SELECT 'a\';b'`:                         {SQL: `SELECT 'a\';b'`},
		"select 1 format JSON":                   {SQL: "select 1", Format: "JSON"},
		"SELECT 1 FORMAT CSV;":                   {SQL: "SELECT 1", Format: "CSV"},
		"SELECT format FROM t":                   {SQL: "SELECT format FROM t"},
		"INSERT INTO t FORMAT Values":            {SQL: "INSERT INTO t FORMAT Values"},
	} {
		got, err := Parse(sql)
		require.NoError(t, err, sql)
		require.Equal(t, want.SQL, got.SQL)
		require.Equal(t, want.Format, got.Format)
	}
	for sql, want := range map[string]error{
		"": ErrEmpty, " ; -- x": ErrEmpty, "SELECT 1; SELECT 2": ErrMany, "SELECT 1;\n/**/;x": ErrMany,
	} {
		_, err := Parse(sql)
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
		st, err := Parse(sql)
		if err == nil && (st.SQL == "" || !strings.Contains(sql, st.SQL)) {
			t.Fatalf("statement %q is no part of %q", st.SQL, sql)
		}
	})
}
