package autocontext

import (
	"github.com/windlass-run/windlass/echo"
)

// Build returns the view of a history without any policy.
func Build(history []echo.Item) *View {
	step, _ := NewBuilder(Settings{}).Build(history, echo.Carry{}) // without a limit everything fits
	return step.View
}
