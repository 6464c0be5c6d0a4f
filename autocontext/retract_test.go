package autocontext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// TestRetractedIsNotSentAgain: whatever the settings, what a person has taken back is in no later request, what they have said is in
// all of them, and a builder that starts anew with the same carry sends the same.
func TestRetractedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		w := newWorld(seed, seed%2 == 0)
		s := w.settings()
		items := []echo.Item{user(echo.KindTask, "the task", 0, 0)}
		var gone, said []string
		b := autocontext.NewBuilder(s)
		r := autocontext.NewRenderer(s.Dialect)
		var carry echo.Carry
		for turn := 1; turn <= 14; turn++ {
			items = append(items, w.turn(1, turn)...)
			mark := fmt.Sprintf("mark%dof%d", turn, seed)
			items = append(items, answerOf(mark, turn)...)
			switch w.IntN(3) {
			case 0:
				items = append(items, user(echo.KindRetract, "words"+mark, 1, turn))
				gone, said = append(gone, "said"+mark, "result"+mark), append(said, "words"+mark)
			case 1:
				items = append(items, user(echo.KindAudible, "words"+mark, 1, turn))
				said = append(said, "words"+mark)
			}
			step, err := b.Build(items, carry)
			if err != nil || step.Ask != nil {
				break // the guard needs a model, or nothing fits: another seed gets further
			}
			text := requestOf(r, step.View)
			for _, g := range gone {
				require.NotContains(t, text, g, "seed %d, turn %d", seed, turn)
			}
			for _, g := range said {
				require.Contains(t, text, g, "seed %d, turn %d", seed, turn)
			}
			again, err := autocontext.NewBuilder(s).Build(items, carry)
			require.NoError(t, err)
			require.Equal(t, step.Carry, again.Carry, "seed %d, turn %d", seed, turn)
			require.True(t, text == requestOf(autocontext.NewRenderer(s.Dialect), again.View), "seed %d, turn %d", seed, turn)
			carry = step.Carry
		}
	}
}

// answerOf is an answer with one call, its result and a notice.
func answerOf(mark string, turn int) []echo.Item {
	call := echo.ToolCall{ID: "call_" + mark, Name: "bash", Arguments: `{}`}
	at := func(m *echo.Message) echo.Item { return echo.Item{Message: m, Attempt: 1, Turn: turn} }
	return []echo.Item{
		at(echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("said" + mark), ToolCalls: []echo.ToolCall{call}})),
		at(echo.NewToolResult(call, echo.Text("result"+mark), false)),
	}
}

func requestOf(r *autocontext.Renderer, v *autocontext.View) string {
	var b strings.Builder
	for _, m := range r.Render(v) {
		b.Write(m.JSON())
		b.WriteByte('\n')
	}
	return b.String()
}

// TestRetractedDuplicate: a result that a later one repeats is sent again when that is taken back, and full history is counted without
// what is gone: nothing of that is saved by the settings.
func TestRetractedDuplicate(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("the same text of a file\n", 50)
	call := func(id string, turn int) []echo.Item {
		c := echo.ToolCall{ID: id, Name: "read_file", Arguments: `{"path":"a"}`}
		return []echo.Item{
			{Message: echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{c}}), Attempt: 1, Turn: turn},
			{Message: echo.NewToolResult(c, echo.Text(same), false), Attempt: 1, Turn: turn},
		}
	}
	items := []echo.Item{user(echo.KindTask, "the task", 0, 0)}
	items = append(append(items, call("c1", 1)...), call("c2", 2)...)
	policy := cascade.Intra{Enabled: true, Dedupe: true, Window: 100, MaskAfter: 100, MinMaskedSize: 10, PreserveReasoning: true}
	ages := func(h []echo.Item) *autocontext.View {
		return autocontext.NewAges(autocontext.Settings{Policy: policy}, h).At(3)
	}
	v := ages(items)
	require.Equal(t, autocontext.FormMasked, v.Items[2].Form)
	require.Equal(t, autocontext.ReasonDuplicate, v.Items[2].Reason)
	v = ages(append(items, user(echo.KindRetract, "not so", 1, 2)))
	require.Equal(t, autocontext.FormFull, v.Items[2].Form)
	for _, i := range []int{3, 4} {
		require.Equal(t, autocontext.FormDropped, v.Items[i].Form)
		require.Equal(t, autocontext.ReasonRetracted, v.Items[i].Reason)
	}
	step, err := autocontext.NewBuilder(autocontext.Settings{}).Build(append(items, user(echo.KindRetract, "not so", 1, 2)), echo.Carry{})
	require.NoError(t, err)
	report := step.View.Report()
	require.Zero(t, report.TokensSaved)
	require.Equal(t, report.FullHistorySize, report.ContextSize)
}
