package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
)

func TestRetention(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("windlass.json", []byte(`{"retention": {"cards_days": 30, "journals_days": 90}}`))
	require.NoError(t, err)
	require.Equal(t, config.Retention{CardsDays: 30, JournalsDays: 90}, c.Retention)
	require.False(t, c.Retention.None())
	c, err = config.Parse("windlass.json", []byte(`{}`))
	require.NoError(t, err)
	require.True(t, c.Retention.None())
	for text, want := range map[string]string{
		`{"retention": {"rows_days": 0}}`:               "windlass.json:1:29: rows_days must be at least 1, it is 0",
		`{"retention": {"rows_days": 1.5}}`:             "windlass.json:1:29: rows_days must be a whole number, it is 1.5",
		`{"retention": {"rows_days": 36501}}`:           "windlass.json:1:29: rows_days must be at most 36500, it is 36501",
		`{"retention": {"rows_days": 150000000000000}}`: "windlass.json:1:29: rows_days must be at most 36500, it is 150000000000000",
		`{"retention": {"days": 1}}`:                    `windlass.json:1:16: unknown key "days" in retention (known keys: cards_days, journals_days, rows_days)`,
	} {
		_, err := config.Parse("windlass.json", []byte(text))
		require.EqualError(t, err, want)
	}
}
