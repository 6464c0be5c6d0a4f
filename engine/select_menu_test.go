package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// The request to choose is recorded as it is sent, and the selection has the reason that came back.
func TestMenuAndReasonAreRecorded(t *testing.T) {
	t.Parallel()
	b := setupThree(t, say(`{"ids":["m3"], "why": "Only the meadow is not done."}`), say("done"))
	_, err := b.run(fmt.Sprintf(threePhases, `""`, `{"mode":"auto","selection":{"strategy":"llm","max_tokens":120}}`), nil)
	require.NoError(t, err)
	require.Equal(t, "Only the meadow is not done.", selectionOf(t, b).Why)
	list := b.entries.of(echo.NodeMenu)
	require.Len(t, list, 1)
	require.Equal(t, "write/select/menu", list[0].Key.String())
	menu, err := echo.Read[echo.Menu](list[0])
	require.NoError(t, err)
	asked := b.model.requests[len(b.model.requests)-2]
	require.Equal(t, asked.Model, menu.Model)
	require.Len(t, menu.Messages, len(asked.Messages))
	for i, m := range asked.Messages {
		require.Equal(t, echo.MenuMessage{Role: m.Role(), Text: m.Text()}, menu.Messages[i])
	}
	require.Contains(t, menu.Messages[1].Text, "Write about the harbour crane.")
}

// Sessions of rules 1 ask no reason, record no menu and count no line behind what is chosen.
func TestMenuOfRules1(t *testing.T) {
	t.Parallel()
	b := setupThree(t, say(`{"ids":["m3"], "why": "Only the meadow is not done."}`), say("done"))
	b.rules = 1
	_, err := b.run(fmt.Sprintf(threePhases, `""`, `{"mode":"auto","selection":{"strategy":"llm","max_tokens":120}}`), nil)
	require.NoError(t, err)
	s := selectionOf(t, b)
	require.Empty(t, s.Why)
	require.Zero(t, s.Ending)
	require.Empty(t, b.entries.of(echo.NodeMenu))
	asked := b.model.requests[len(b.model.requests)-2]
	require.True(t, strings.HasSuffix(asked.Messages[0].Text(), `Answer with JSON and nothing else: {"ids": ["m3", "m1"]}. An empty list is a valid answer.`))
}
