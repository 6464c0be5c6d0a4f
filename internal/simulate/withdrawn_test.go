package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/withheld"
)

// TestInsteadOf: what was sent in place of a message is as recorded; where the request had it cut or not at all, it follows from what is
// withheld of the session.
func TestInsteadOf(t *testing.T) {
	t.Parallel()
	said := echo.NewText(echo.RoleAssistant, echo.KindAnswer, "the answer of the yew")
	quotes := echo.NewText(echo.RoleUser, echo.KindTurnPrompt, "Go on: the answer of the yew.")
	v := &echo.PhaseRecord{Name: "p", Visit: 1, History: []echo.Item{{Message: said, Order: 1}, {Message: quotes, Order: 2}}}
	var none *echo.Withdrawals
	s := &echo.Session{Phases: []*echo.PhaseRecord{v}}
	s.Withdrawals = none.With(&echo.ViewChange{Number: 1, Action: echo.ViewDrop, Messages: echo.Spots("p", 1, v.History)[:1]})
	values := withheld.Of(s)
	other := echo.NewText(echo.RoleUser, echo.KindTurnPrompt, "another")
	for text, sent := range map[string]record.Sent{
		"Go on: [dropped].": {Form: "summary"},
		"another":           {Form: "full", As: []*echo.Message{other}},
		"":                  {Form: "full", Full: true},
	} {
		instead := insteadOf(&sent, quotes, values)
		if text == "" {
			require.Nil(t, instead)
			continue
		}
		require.Equal(t, text, instead.Text())
	}
	require.Nil(t, insteadOf(&record.Sent{Form: "summary"}, quotes, nil))
}
