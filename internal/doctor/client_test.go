package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

// TestClientLine: no password is in it, and a shell takes each value for one word.
func TestClientLine(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]clickhouse.Client{
		"clickhouse client --host db.example --port 9000 --user default --database logs": {Host: "db.example", Port: "9000", User: "default", Database: "logs"},
		`clickhouse client --host '::1' --port 9440 --user 'it'\''s $(me)' --database logs --ask-password --secure`: {
			Host: "::1", Port: "9440", User: "it's $(me)", Database: "logs", Password: true, Secure: true,
		},
		`CLICKHOUSE_PASSWORD="$(sed 's/.*"password":"\([^"]*\)".*/\1/' '/home/a b/endpoint.json')" ` +
			"clickhouse client --host 127.0.0.1 --port 5 --user windlass --database windlass_3 --readonly 2": {
			Host: "127.0.0.1", Port: "5", User: "windlass", Database: "windlass_3", Password: true, PasswordFile: "/home/a b/endpoint.json",
		},
	} {
		require.Equal(t, want, clientLine(c))
	}
}
