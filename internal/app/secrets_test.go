package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
)

func TestKnownSecrets(t *testing.T) {
	for name, v := range map[string]string{
		"OPENAI_API_KEY": "sk-of-the-default", "OWN": "own-key-value", "EXTRA": "extra-value", "SOME_TOKEN": "some-token-value", "KEY_PATH_TOKEN": t.TempDir(),
		"WINDLASS_CLICKHOUSE_DSN": "clickhouse://default:pass-of-dsn@h/d?password=pass-of-query", "HTTPS_PROXY": "http://u:pass-of-proxy@p", "GIVEN": "given-value",
		"PLAIN": "plain-value", "OTHER_URL": "http://clickhouse:clickhouse@h",
	} {
		t.Setenv(name, v)
	}
	set := KnownSecrets(&config.Config{
		Models:        map[string]config.Model{"a": {APIKeyEnv: "OWN", Headers: map[string]string{"X": "${EXTRA}", "Authorization": "Bearer in-the-file"}}},
		ClickHouseDSN: "clickhouse://u:pass-of-file@h",
	}, []string{"GIVEN", "HOME"})
	for text, want := range map[string]string{
		"sk-of-the-default": "[value of OPENAI_API_KEY]", "own-key-value": "[value of OWN]", "extra-value": "[value of EXTRA]", "Bearer in-the-file": "[value of header Authorization]",
		"in-the-file": "[value of header Authorization]", "some-token-value": "[value of SOME_TOKEN]", "pass-of-dsn": "[value of the password of WINDLASS_CLICKHOUSE_DSN]",
		"pass-of-query": "[value of the password of WINDLASS_CLICKHOUSE_DSN]", "pass-of-proxy": "[value of the password of HTTPS_PROXY]", "given-value": "[value of GIVEN]",
		"pass-of-file": "[value of the password of clickhouse_dsn]", "plain-value": "plain-value", "internal/clickhouse": "internal/clickhouse",
	} {
		require.Equal(t, want, set.Text(text))
	}
}
