package autocontext_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// A phase may begin with messages of another one, that phase's task among them. What survives is
// the own task.
func TestTheOwnTaskSurvives(t *testing.T) {
	t.Parallel()
	own := echo.NewText(echo.RoleUser, echo.KindTask, "the own task")
	history := []echo.Item{
		{Message: echo.NewText(echo.RoleUser, echo.KindContext, "From phase a, its messages begin:")},
		{Message: echo.NewText(echo.RoleUser, echo.KindTask, "the task of phase a")},
		{Message: own},
	}
	for turn := 1; turn < 9; turn++ {
		history = append(history, newWorld(uint64(turn), false).turn(1, turn)...)
		history = append(history, user(echo.KindTurnPrompt, "go on", 1, turn))
	}
	s := autocontext.Settings{Policy: cascade.DefaultIntra()}
	s.Policy.Advance = cascade.AdvanceEveryTurn
	step, err := autocontext.NewBuilder(s).Build(history, echo.Carry{})
	require.NoError(t, err)
	require.Equal(t, autocontext.ReasonRecent, step.View.Items[1].Reason)
	require.Equal(t, autocontext.ReasonKept, step.View.Items[2].Reason)
	require.Same(t, own, step.View.Items[2].Sent)
}

// It takes the place of what was taken for the task before it came, also when that was in a call
// before.
func TestALaterTaskTakesThePlace(t *testing.T) {
	t.Parallel()
	k := &talk{attempt: 1}
	k.user(echo.KindTask, "brought in").reads(5, 1000).user(echo.KindTurnPrompt, "go on")
	b := autocontext.NewBuilder(policy(nil))
	step, err := b.Build(k.items, echo.Carry{})
	require.NoError(t, err)
	require.Equal(t, "full kept", form(step.View, 0))
	k.user(echo.KindTask, "the own task").user(echo.KindTurnPrompt, "go on")
	step, err = b.Build(k.items, step.Carry)
	require.NoError(t, err)
	require.Equal(t, "full recent", form(step.View, 0))
	require.Equal(t, "full recent", form(step.View, 11), "nor is it the latest request any more")
	require.Equal(t, "full kept", form(step.View, 12))
}
