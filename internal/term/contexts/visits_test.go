package contexts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
)

func TestVisitNames(t *testing.T) {
	t.Parallel()
	key := echo.MustKey
	require.Equal(t, map[echo.Key]string{
		key("plan/node1"): "plan", key("read~2"): "read~2", key("sorry/node2"): "sorry/node2", key("sorry/node3"): "sorry/node3",
		key("read/node4"): "read", key("run"): "run",
	}, VisitNames([]echo.Key{key("plan/node1"), key("plan/node1"), key("read~2"), key("sorry/node2"), key("sorry/node3"), key("read/node4"), key("run")}))
}

// Calls of phases and elements that ran in parallel stand with their own.
func TestGrouped(t *testing.T) {
	t.Parallel()
	var calls []inspect.Call
	for i, k := range []string{"b/item10/attempt1/turn1", "a/attempt1/turn1", "b/item2/attempt1/turn1", "b/item10/attempt1/turn2", "a/attempt1/turn2", "b/attempt1/turn1"} {
		at := echo.MustKey(k)
		calls = append(calls, inspect.Call{Number: i + 1, Key: at, Visit: at.VisitKey()})
	}
	var numbers []int
	for _, c := range grouped(calls) {
		numbers = append(numbers, c.Number)
	}
	require.Equal(t, []int{6, 3, 1, 4, 2, 5}, numbers)
}
