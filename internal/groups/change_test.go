package groups

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// TestStaysOut: a message that is put back, and goes with one that is out, is none of those that are back.
func TestStaysOut(t *testing.T) {
	t.Parallel()
	history := []echo.Item{
		{Message: echo.NewText(echo.RoleUser, echo.KindTask, "go"), Order: 1},
		{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "one"), Order: 2},
		{Message: echo.NewText(echo.RoleUser, echo.KindNotice, echo.ResumedHead+": it said one."), Order: 3},
	}
	spots := echo.Spots("p", 1, history)
	list := make([]Message, len(history))
	for i := range list {
		list[i].at = spots[i]
	}
	s := &session{visits: []*echo.PhaseRecord{{Name: "p", Visit: 1, History: history}}}
	var none *echo.Withdrawals
	out := none.With(&echo.ViewChange{Number: 1, Action: echo.ViewDrop, Messages: spots})
	changed, stay := s.staysOut(list, out)
	require.Len(t, changed, 3, "all were taken out")
	require.Empty(t, stay)
	changed, stay = s.staysOut(list[1:], none.With(&echo.ViewChange{Number: 1, Action: echo.ViewDrop, Messages: spots[:1]}))
	require.Equal(t, list[1:2], changed)
	require.Equal(t, list[2:], stay)
}

func TestOnce(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{2, 1}, once([]int{2, 1, 2, 1}))
}
