package checks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// TestContentIsWithoutWhatIsWithheld: a validator is shown the results of the turn without texts of what was dropped meanwhile.
func TestContentIsWithoutWhatIsWithheld(t *testing.T) {
	t.Parallel()
	said := echo.NewText(echo.RoleAssistant, echo.KindAnswer, "the secret of the yew")
	result := echo.NewToolResult(echo.ToolCall{ID: "1", Name: "get_state"}, echo.Text("the secret of the yew"), false)
	a := &echo.PhaseRecord{Name: "a", Visit: 1, History: []echo.Item{{Message: said, Order: 1}}}
	b := &echo.PhaseRecord{Name: "b", Visit: 1, History: []echo.Item{{Message: result, Attempt: 1, Turn: 1, Order: 2}}}
	var none *echo.Withdrawals
	s := &echo.Session{Phases: []*echo.PhaseRecord{a, b}}
	s.Withdrawals = none.With(&echo.ViewChange{Number: 1, Action: echo.ViewDrop, Messages: echo.Spots("a", 1, a.History)})
	rec := &core.Recorder{Rules: core.Rules}
	c := &Validators{Place: &core.Place{Rec: rec, Session: s, Record: b, Site: effect.Site{Attempt: 1, Turn: 1}}}
	content := c.Content("done")
	require.Contains(t, content, "[dropped]")
	require.NotContains(t, content, "yew")
}
