package effect_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/effect/effecttest"
)

var turn = echo.PhaseKey("p", 1).Attempt(1).Turn(1)

// A call without an answer ends the run: there is none, it is used up, or it is of something else.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	model, tool := turn.Step(echo.StepModel), turn.Numbered(echo.StepTool, 1)
	answer := effect.CallEntry(model, effecttest.Ask("m", "a"), &effect.ModelResponse{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "b")}, nil, 0)
	call := echo.ToolCall{Name: "t", Arguments: "{}"}
	result := effect.ToolEntry(tool, effect.Site{}, call, echo.NewToolResult(call, echo.Text("done"), false), "")
	noAnswer, noResult := *answer, *result
	noAnswer.Message, noResult.Message = nil, nil
	for name, tt := range map[string]struct {
		answers []*echo.Entry
		before  int // so many calls are answered
		tool    string
	}{
		"nothing is recorded":  {nil, 0, "t"},
		"used up":              {[]*echo.Entry{answer, result}, 1, "t"},
		"without a message":    {[]*echo.Entry{&noAnswer, &noResult}, 0, "t"},
		"of another tool":      {[]*echo.Entry{result}, 0, "other"},
		"of an unusable entry": {[]*echo.Entry{{NodeType: echo.NodeModelCall, Key: model}, {NodeType: echo.NodeToolCall, Key: tool}}, 0, "t"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := &effecttest.Disk{}
			a := effect.NewAnswered(effect.Writer{Log: echo.NewLog("s", nil, disk)}, tt.answers)
			req := effecttest.Ask("m", "a")
			use := effecttest.Use(tt.tool, "x")
			req.Site, use.Site = effect.Site{Cascade: "c", Phase: "p", Attempt: 1, Turn: 1}, effect.Site{Cascade: "c", Phase: "p", Attempt: 1, Turn: 1}
			for range tt.before {
				_, err := a.Model(t.Context(), model, req)
				require.NoError(t, err)
				_, err = a.Tool(t.Context(), tool, effect.ToolSpec{}, use)
				require.NoError(t, err)
			}
			_, err := a.Model(t.Context(), model, req)
			require.EqualError(t, err, "c/p (attempt 1, turn 1) asks the model m something that has no recorded answer (p/attempt1/turn1/model)")
			require.True(t, effect.IsRecordError(err))
			_, err = a.Tool(t.Context(), tool, effect.ToolSpec{}, use)
			require.EqualError(t, err, "c/p (attempt 1, turn 1) asks the tool "+tt.tool+" something that has no recorded answer (p/attempt1/turn1/tool1)")
			require.True(t, effect.IsRecordError(err))
			require.Len(t, disk.Entries(), 2*tt.before)
		})
	}
}

// A reading that is recorded counts although there is nothing to know now.
func TestAnsweredReadingOfNothing(t *testing.T) {
	t.Parallel()
	key := turn.Step(echo.StepClock)
	nothing := func() echo.Payload { return nil }
	a := effect.NewAnswered(effect.Writer{Log: echo.NewLog("s", nil, &effecttest.Disk{})}, []*echo.Entry{echo.NewEntry(key, echo.Clock(1.5))})
	raw, err := a.Value(t.Context(), key, effect.Site{}, nothing)
	require.NoError(t, err)
	require.JSONEq(t, "1.5", string(raw))
	raw, err = a.Value(t.Context(), key, effect.Site{}, nothing)
	require.NoError(t, err)
	require.Nil(t, raw)
}

// A recorded selection, or recorded findings, that cannot be read count as none.
func TestAnsweredReadingsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for key, now := range map[echo.Key]echo.Payload{
		turn.Step(echo.StepSelect):                      echo.InterSelection{Selected: echo.Selected{Strategy: echo.StrategyHeuristic}},
		turn.Step(echo.StepSelect).Step(echo.StepCards): echo.Findings{CardsUsed: echo.CardsUsed{Digest: "d"}},
	} {
		was := echo.NewEntry(key, now)
		want := string(was.Data)
		was.Data = json.RawMessage(`"?"`)
		a := effect.NewAnswered(effect.Writer{Log: echo.NewLog("s", nil, &effecttest.Disk{})}, []*echo.Entry{was})
		raw, err := a.Value(t.Context(), key, effect.Site{}, func() echo.Payload { return now })
		require.NoError(t, err)
		require.JSONEq(t, want, string(raw))
	}
}

// A run that was interrupted uses no answer.
func TestAnsweredAfterTheEnd(t *testing.T) {
	t.Parallel()
	tool := turn.Numbered(echo.StepTool, 1)
	call := echo.ToolCall{Name: "t", Arguments: "{}"}
	result := effect.ToolEntry(tool, effect.Site{}, call, echo.NewToolResult(call, echo.Text("no"), true), "exit_status")
	disk := &effecttest.Disk{}
	a := effect.NewAnswered(effect.Writer{Log: echo.NewLog("s", nil, disk)}, []*echo.Entry{result})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Tool(ctx, tool, effect.ToolSpec{}, effecttest.Use("t", "x"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = a.Tool(t.Context(), tool, effect.ToolSpec{}, effecttest.Use("t", "x"))
	require.NoError(t, err)
	require.Equal(t, "exit_status", disk.Entries()[0].Error.Kind)
}
