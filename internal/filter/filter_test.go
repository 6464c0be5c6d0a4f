package filter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestParseAge: no age is read as one that lies before now by less than it says, or after now.
func TestParseAge(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"36h": 36 * time.Hour, "90d": 90 * 24 * time.Hour, "8w": 56 * 24 * time.Hour, "99999h": 99999 * time.Hour, "15000w": 15000 * 168 * time.Hour,
	} {
		age, ok := ParseAge(text)
		require.True(t, ok, text)
		require.Equal(t, want, age, text)
	}
	for _, text := range []string{"", "3", "0d", "-3d", "1.5d", "3m", "3 d", "d", "15300w", "20000w", "99999w", "100000h"} {
		_, ok := ParseAge(text)
		require.False(t, ok, text)
	}
}

// TestSince: ages count back from now, days begin at midnight UTC, and times are what they say.
func TestSince(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 3, 0, 0, 0, time.FixedZone("elsewhere", -5*3600))
	for text, want := range map[string]time.Time{
		"36h": now.Add(-36 * time.Hour), "1w": now.AddDate(0, 0, -7), "2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		"2026-11-01T08:00:00+02:00": time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC),
	} {
		f, err := Parse(&Words{Since: &text}, now)
		require.NoError(t, err)
		require.True(t, want.Equal(f.Since), text)
	}
	for _, text := range []string{"", "0d", "2026-02-30", "2026-11-01 08:00", "-7d", "yesterday"} {
		_, err := Parse(&Words{Since: &text}, now)
		require.Error(t, err, text)
	}
}
