package main

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
		age, ok := parseAge(text)
		require.True(t, ok, text)
		require.Equal(t, want, age, text)
	}
	for _, text := range []string{"", "3", "0d", "-3d", "1.5d", "3m", "3 d", "d", "15300w", "20000w", "99999w", "100000h"} {
		_, ok := parseAge(text)
		require.False(t, ok, text)
	}
}
