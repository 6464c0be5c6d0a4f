package clickhouse

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDSN reads addresses of ClickHouse: what is taken names a database that needs no quotes, and
// neither an error nor what is shown to people has the password.
func FuzzDSN(f *testing.F) {
	for _, s := range []string{
		"clickhouse://u:hunter2secret@localhost:9000/d", "clickhouse://localhost", "tcp://u:hunter2secret@[::1]:1/d?cluster=c&dial_timeout=1s", "clickhouse://u:hunter2secret@h/a%2fb", "http://u:hunter2secret@h/", "clickhouse://%zz:hunter2secret@h",
		"clickhouse://h/d?password=hunter2secret&username=u", "clickhouse://h/d?max_execution_time=x", "clickhouse://h/d;DROP", "://", "clickhouse://h:99999/d", "clickhouse://h/d?cluster=a b",
	} {
		f.Add(s)
	}
	const password = "hunter2secret"
	f.Fuzz(func(t *testing.T, dsn string) {
		u, err := url.Parse(dsn)
		secret := err != nil // what is no URL may be all secret
		if err == nil && u.User != nil {
			p, _ := u.User.Password()
			secret = p == password && strings.Count(dsn, password) == 1
		}
		if secret {
			require.NotContains(t, HideDSN(dsn), password)
		}
		got, err := parseDSN(dsn, "")
		if err != nil {
			if secret {
				require.NotContains(t, err.Error(), password)
			}
			return
		}
		require.Regexp(t, `^[A-Za-z_][A-Za-z0-9_]{0,127}$`, got.database)
		require.Regexp(t, `^([A-Za-z_][A-Za-z0-9_]{0,127})?$`, got.cluster)
		require.NotEmpty(t, got.options.Addr)
	})
}
