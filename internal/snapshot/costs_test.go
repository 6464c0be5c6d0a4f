package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// Where candidates were chosen, which may have been by cost, an answer of a model and the end of a child keep theirs.
func TestAnswersHaveTheirCosts(t *testing.T) {
	t.Parallel()
	usd := 0.25
	call := echo.NewEntry(echo.MustKey("draft/sounding1/attempt1/turn1/model"), echo.ModelCall{Model: "m"})
	call.Message, call.CostUSD = echo.NewText(echo.RoleAssistant, echo.KindAnswer, "a"), &usd
	child := echo.NewEntry(echo.MustKey("run/sounding1/candidate"), echo.ChildEnd{Session: "c", Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade})
	child.CostUSD = &usd
	pretend := &echo.Pretend{Model: "priced", USD: 0.5}
	call.Pretend, child.Pretend = pretend, pretend
	choice := echo.NewEntry(echo.MustKey("draft/choice"), echo.Choice{Winner: 1, How: echo.ChoiceCheapest})
	for _, a := range answersOf([]*echo.Entry{call, child, choice}) {
		require.Equal(t, &usd, a.CostUSD)
		require.Equal(t, &usd, a.entry().CostUSD)
		require.Equal(t, pretend, a.entry().Pretend, "choices count what a script would have cost")
	}
	for _, a := range answersOf([]*echo.Entry{call, child}) {
		require.Nil(t, a.CostUSD)
		require.Nil(t, a.entry().Pretend)
	}
}
