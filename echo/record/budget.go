package record

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// BudgetOf returns the budget that was in force when a run began or last resumed, nil when nothing limited it.
func BudgetOf(entries []*echo.Entry) *echo.Budget {
	for _, e := range slices.Backward(entries) {
		if b, ok := budgetAt(e); ok {
			return b
		}
	}
	return nil
}

// budgetAt returns the budget that an entry puts in force; ok says that it is one that does. One that cannot be read puts
// none in force.
func budgetAt(e *echo.Entry) (b *echo.Budget, ok bool) {
	switch e.NodeType {
	case echo.NodeRunStart:
		d, _ := echo.Read[echo.RunStart](e)
		return d.Budget, true
	case echo.NodeResume:
		d, _ := echo.Read[echo.Resume](e)
		return d.Budget, true
	default:
		return nil, false
	}
}
