package live

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// How a wait ended is said in lines and above the frame.
func TestAnswersAreSaid(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	decided := func(verdict string) any { return map[string]any{"decision": verdict} }
	for _, c := range []struct {
		answer echo.Answer
		want   string
	}{
		{echo.Answer{Value: "x", By: "ann", Via: echo.ViaTerminal}, "answered by ann (terminal)"},
		{echo.Answer{Value: "x", By: "a\x1bnn", Via: echo.ViaHTTP}, "answered by a\ufffdnn (http)"},
		{echo.Answer{Value: "x", Via: echo.ViaCommand}, "answered by somebody (command)"},
		{echo.Answer{Value: decided("allow"), Shown: "0123456789abcdef", By: "ann", Via: echo.ViaHTTP}, "allowed by ann (http)"},
		{echo.Answer{Value: decided("deny"), Shown: "0123456789abcdef", By: "ann", Via: echo.ViaHTTP}, "denied by ann (http)"},
		{echo.Answer{Value: decided("edit"), Shown: "0123456789abcdef", By: "ann", Via: echo.ViaHTTP}, "allowed with other arguments by ann (http)"},
		{echo.Answer{Value: decided("allow"), By: "ann", Via: echo.ViaHTTP}, "answered by ann (http)"},
		{echo.Answer{Value: decided("allow"), Shown: "0123456789abcdef", By: "ann", Via: echo.ViaGrant}, "allowed by an earlier approval of ann"},
		{echo.Answer{Value: 1, Letter: "l1", By: "ann", Via: echo.ViaCommand}, "a signal has come, sent by ann (command)"},
		{echo.Answer{TimedOut: true, Via: echo.ViaClock}, "nothing has come in time"},
	} {
		c.answer.At = at
		e := echo.NewEntry(echo.MustKey("draft/attempt1/turn2/tool1/wait"), c.answer)
		e.SetKeyFields()
		var out strings.Builder
		require.NoError(t, NewPlain(&out).Write(e))
		require.Equal(t, "draft turn 2: "+c.want+"\n", out.String())
		p := NewProgress("c", "s", []string{"draft"}, time.Now)
		p.Entry(e)
		require.Equal(t, []string{"  ✓ draft turn 2: " + c.want}, p.Said(79, false))
	}
}
