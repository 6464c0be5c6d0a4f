package record

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// BudgetOf returns the budget that was in force when a run began or last resumed, nil when nothing
// limited it. An entry that cannot be read puts none in force.
func BudgetOf(entries []*echo.Entry) *echo.Budget {
	for _, e := range slices.Backward(entries) {
		switch e.NodeType {
		case echo.NodeRunStart:
			d, _ := echo.Read[echo.RunStart](e)
			return d.Budget
		case echo.NodeResume:
			d, _ := echo.Read[echo.Resume](e)
			return d.Budget
		}
	}
	return nil
}
