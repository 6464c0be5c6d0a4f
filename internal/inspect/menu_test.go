package inspect_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
)

// withMenu is the session of incident in which a model chose what came into the phase report.
func withMenu(t *testing.T) *inspect.Record {
	t.Helper()
	entries := incident(t).Entries
	menu := echo.NewEntry(echo.MustKey("report/select/menu"), echo.Menu{Model: "cheap", Messages: []echo.MenuMessage{
		{Role: echo.RoleSystem, Text: "You choose."}, {Role: echo.RoleUser, Text: "m1 | assistant"},
	}})
	usd := 0.001
	answer := &echo.Entry{
		NodeType: echo.NodeModelCall, Key: echo.MustKey("report/select/model"), Model: "cheap", CostUSD: &usd, Usage: &echo.Usage{In: 20, Cached: 3},
		Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, `{"ids":["m1"]}`),
	}
	for _, e := range []*echo.Entry{menu, answer} {
		e.SessionID, e.Seq = "s1", uint64(len(entries)+1)
		e.SetKeyFields()
		entries = append(entries, e)
	}
	r, err := inspect.New("s1", entries)
	require.NoError(t, err)
	return r
}

// The request by which a model chose is shown like any other, and is none of the numbered calls.
func TestMenuIsShown(t *testing.T) {
	t.Parallel()
	r := withMenu(t)
	require.Len(t, r.Calls, len(incident(t).Calls))
	for _, name := range []string{"report/select", "report/select/", "report/select/model"} {
		c, err := r.Pick(inspect.Pick{Call: name})
		require.NoError(t, err, name)
		require.Equal(t, "report/select/model cheap", c.Key.String()+" "+c.Model)
		require.Zero(t, c.Number)
		require.True(t, c.Answered && c.Counted)
		require.EqualValues(t, 20, c.TokensIn)
		shown, err := r.Show(c)
		require.NoError(t, err)
		require.Len(t, shown.Messages, 2)
		var m struct{ Role, Content string }
		require.NoError(t, json.Unmarshal(shown.Messages[1], &m))
		require.Equal(t, "user m1 | assistant", m.Role+" "+m.Content)
		require.Equal(t, "full menu", string(shown.Forms[0].Form)+" "+string(shown.Forms[0].Reason))
		require.Equal(t, shown.Forms[0].Tokens+shown.Forms[1].Tokens, c.ContextSize)
	}
	choice, err := r.Call("report/select")
	require.NoError(t, err)
	first, err := r.Call("1")
	require.NoError(t, err)
	diff, err := r.Diff(choice, first)
	require.NoError(t, err)
	require.Zero(t, diff.Prefix.Messages)
	_, err = r.Call("research/select")
	require.ErrorContains(t, err, `session s1 has no model call "research/select"; it has 8 calls, the nearest are `)
}
