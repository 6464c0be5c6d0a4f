package echo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestBackground(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"cards/call1":                  true,
		"cards/call27":                 true,
		"cards/embed3":                 true,
		"cards/warning":                true,
		"cards~1/start":                false, // of a phase that is called cards
		"cards~1/attempt1/turn1/model": false,
		"cards~1/select/warning":       false,
		"draft/attempt1/turn1/model":   false,
		"draft/attempt1/cards/warning": false,
	} {
		require.Equal(t, want, (&echo.Entry{Key: echo.MustKey(key)}).Background(), key)
	}
}
