package llm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func requireConfigError(t *testing.T, err error, text, hint string) {
	t.Helper()
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	require.Equal(t, echo.ModelErrConfig, me.Kind)
	require.Equal(t, text, me.Error())
	require.Contains(t, me.Hint, hint)
}
