package vault

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsSecret(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{
		"OPENAI_API_KEY=x", "WINDLASS_CLICKHOUSE_DSN=clickhouse://h", "WINDLASS_SERVE_TOKEN=x", "GITHUB_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "aws_access_key_id=x",
		"PGPASSWORD=x", "MYSQL_PWD=x", "DB_PASS=x", "AUTHTOKEN=x", "GOOGLE_CREDENTIALS=x", "SENTRY_DSN=x", "MY-API-KEY=x", "DATABASE_URL=postgres://u:p@h/d",
		"X=redis://:p@h?a=b@c",
	} {
		name, v, _ := strings.Cut(entry, "=")
		require.True(t, IsSecret(name, v), entry)
	}
	for _, entry := range []string{
		"PATH=/bin", "HOME=/h", "PWD=/x", "OLDPWD=/x", "SSH_AUTH_SOCK=/s", "TOKENIZERS_PARALLELISM=false", "KEYMAP=us", "AWS_WEB_IDENTITY_TOKEN_FILE=/f", "MONKEY=x",
		"HTTPS_PROXY=http://u:p@proxy", "URL=http://h/a:b@c", "URL=http://user@h", "WINDLASS_HOME=/h", "TERM=dumb", "=x", "EDITOR=vi",
	} {
		name, v, _ := strings.Cut(entry, "=")
		require.False(t, IsSecret(name, v), entry)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	keep, hide := split([]string{"A=1", "B_TOKEN=2", "C=3", "D_TOKEN="}, []string{"C", "D"})
	require.Equal(t, []string{"A=1", "D_TOKEN="}, keep)
	require.Equal(t, []string{"B_TOKEN=2", "C=3"}, hide)
}

func TestNamesInAConfiguration(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"ONE", "TWO", "THREE", "", "FOUR"}, namesIn(`{"models": {"a": {"api_key_env": "ONE", "headers": {"X": "${THREE}", "Y": "${}"}},
		"b": {"api_key_env"  :
		"TWO"}, "c": {"api_key_env": 7}, "d": "api_key_env"}, "e": "${FOUR`))
	require.Empty(t, namesIn(`{}`))
}

func TestHide(t *testing.T) {
	t.Setenv("VAULT_TEST_ONE", "value")
	Hide("VAULT_TEST_ONE", "VAULT_TEST_NONE", "")
	_, shown := os.LookupEnv("VAULT_TEST_ONE")
	require.False(t, shown)
	require.Equal(t, "value", Getenv("VAULT_TEST_ONE"))
	require.Contains(t, Hidden(), "VAULT_TEST_ONE=value")
	Withhold("VAULT_TEST_ONE")
	_, ok := LookupEnv("VAULT_TEST_ONE")
	require.False(t, ok)
	require.Contains(t, Hidden(), "VAULT_TEST_ONE=value")
	Keep("VAULT_TEST_TWO", "kept")
	require.Contains(t, Hidden(), "VAULT_TEST_TWO=kept")
	_, ok = LookupEnv("VAULT_TEST_TWO")
	require.False(t, ok)
	_, ok = LookupEnv("VAULT_TEST_NONE")
	require.False(t, ok)
	require.Equal(t, State{}, Current(), "the binary of a test is left as it is")
}

func TestKeep(t *testing.T) {
	Keep("MADE_TOKEN", "0123456789abcdef")
	_, ok := LookupEnv("MADE_TOKEN")
	require.False(t, ok, "nobody is given it")
	require.Contains(t, Hidden(), "MADE_TOKEN=0123456789abcdef", "and it is known as a secret")
}
