package echo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// TestGroups: a group is what is said to a model with all that answers it; the numbers go on from visit to visit.
func TestGroups(t *testing.T) {
	t.Parallel()
	kinds := map[rune]echo.Draft{
		's': {Role: echo.RoleSystem, Kind: echo.KindSystem}, 'c': {Role: echo.RoleUser, Kind: echo.KindContext},
		't': {Role: echo.RoleUser, Kind: echo.KindTask}, 'p': {Role: echo.RoleUser, Kind: echo.KindTurnPrompt},
		'y': {Role: echo.RoleUser, Kind: echo.KindRetry}, 'h': {Role: echo.RoleUser, Kind: echo.KindAudible},
		'x': {Role: echo.RoleUser, Kind: echo.KindRetract}, 'n': {Role: echo.RoleUser, Kind: echo.KindNotice},
		'a': {Role: echo.RoleAssistant, Kind: echo.KindAnswer}, 'r': {Role: echo.RoleTool, Kind: echo.KindToolResult},
	}
	history := func(marks string) (items []echo.Item) {
		for _, mark := range marks {
			items = append(items, echo.Item{Message: echo.Seal(kinds[mark])})
		}
		return items
	}
	for marks, want := range map[string][]int{
		"":            {},
		"s":           {0},
		"sctarra":     {0, 0, 1, 1, 1, 1, 1},
		"stactara":    {0, 0, 0, 0, 1, 1, 1, 1},
		"staranapana": {0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2},
		"tayahaxa":    {1, 1, 2, 2, 3, 3, 4, 4},
	} {
		require.Equal(t, want, echo.Groups(history(marks)), marks)
	}
	visits := []*echo.PhaseRecord{{History: history("stapa")}, {}, {History: history("cta")}, {History: history("sta")}}
	require.Equal(t, [][]int{{0, 1, 1, 2, 2}, {}, {0, 3, 3}, {0, 4, 4}}, echo.SessionGroups(visits))
	require.Equal(t, 2, echo.CountGroups(visits[0].History))
}

// TestGroupsOfElements: each element of a list has groups of its own; the list of their answers is in none.
func TestGroupsOfElements(t *testing.T) {
	t.Parallel()
	var list []echo.Item
	for i, kinds := range [][]echo.Kind{{echo.KindAnswer}, {echo.KindSystem, echo.KindTask, echo.KindAnswer}, {echo.KindTask, echo.KindAnswer, echo.KindRetry, echo.KindAnswer}, {echo.KindToolResult}} {
		for _, k := range kinds {
			list = append(list, echo.Item{Message: echo.NewText(echo.RoleUser, k, "x"), Element: i})
		}
	}
	list = append(list[1:], list[0])
	require.Equal(t, []int{0, 1, 1, 2, 2, 3, 3, 0, 0}, echo.Groups(list))
	require.Equal(t, 3, echo.CountGroups(list))
	next := []echo.Item{{Message: echo.NewText(echo.RoleUser, echo.KindTask, "y")}}
	require.Equal(t, []int{4}, echo.SessionGroups([]*echo.PhaseRecord{{History: list}, {History: next}})[1])
}
