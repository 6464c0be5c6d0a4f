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
		"cards/call":                   false,
		"cards/embedded":               false,
		"cards/start":                  false, // of a phase that is called cards
		"cards/attempt1/turn1/model":   false,
		"cards/select/warning":         false,
		"cards/attempt1/cards/call1":   false,
		"draft/attempt1/turn1/model":   false,
		"draft/attempt1/cards/warning": false,
		"":                             false,
	} {
		require.Equal(t, want, (&echo.Entry{Key: key}).Background(), key)
	}
}
