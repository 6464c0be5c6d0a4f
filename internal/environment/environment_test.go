package environment

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

func TestHide(t *testing.T) {
	t.Setenv("ENVIRONMENT_TEST_ONE", "value")
	Hide("ENVIRONMENT_TEST_ONE")
	require.Equal(t, "value", os.Getenv("ENVIRONMENT_TEST_ONE"), "the environment of another program is left as it is")
	Own()
	Hide("ENVIRONMENT_TEST_ONE", "ENVIRONMENT_TEST_NONE", "")
	_, shown := os.LookupEnv("ENVIRONMENT_TEST_ONE")
	require.False(t, shown)
	require.Equal(t, "value", Getenv("ENVIRONMENT_TEST_ONE"))
	require.Contains(t, Hidden(), "ENVIRONMENT_TEST_ONE=value")
	Withhold("ENVIRONMENT_TEST_ONE")
	_, ok := LookupEnv("ENVIRONMENT_TEST_ONE")
	require.False(t, ok)
	require.Contains(t, Hidden(), "ENVIRONMENT_TEST_ONE=value")
	Keep("ENVIRONMENT_TEST_TWO", "kept")
	require.Contains(t, Hidden(), "ENVIRONMENT_TEST_TWO=kept")
	_, ok = LookupEnv("ENVIRONMENT_TEST_TWO")
	require.False(t, ok)
	_, ok = LookupEnv("ENVIRONMENT_TEST_NONE")
	require.False(t, ok)
}

func TestKeep(t *testing.T) {
	Keep("MADE_TOKEN", "0123456789abcdef")
	_, ok := LookupEnv("MADE_TOKEN")
	require.False(t, ok, "nobody is given it")
	require.Contains(t, Hidden(), "MADE_TOKEN=0123456789abcdef", "and it is known as a secret")
}

func TestReceived(t *testing.T) {
	Received("HANDED_OVER_TOKEN", "handed")
	require.Equal(t, "handed", Getenv("HANDED_OVER_TOKEN"))
}
