package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// lookTwice is a phase whose old results would be masked, the first of which tells of a failure.
func lookTwice(t *testing.T) (b *testBundle, source string) {
	var answers []answerFunc
	for n := range 8 {
		answers = append(answers, call("look", fmt.Sprintf(`{"n":%d}`, n)))
	}
	b = setup(t, append(answers, say("done"))...)
	b.tools.add("look", `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		text := strings.Repeat(string(req.Arguments)+" is fine\n", 200)
		if strings.Contains(string(req.Arguments), "0") {
			text += "FAIL: test_harbour\n" + text
		}
		return effect.ToolResult{Parts: echo.Text(text)}, nil
	})
	return b, `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["look"],"intra_context":{"advance":"every_turn"}}]}`
}

// reasons are the forms and reasons that the record has, each once, in order.
func reasons(b *testBundle) (list []string) {
	seen := map[string]bool{}
	for _, e := range b.entries.of(echo.NodeSelection) {
		for _, s := range e.Selection.Spans {
			if f := s.Form + " " + s.Reason; !seen[f] {
				seen[f] = true
				list = append(list, f)
			}
		}
	}
	return list
}

// Failures in the text of a result are kept since rules 2, and dedupe is a setting since then.
func TestRulesOfViews(t *testing.T) {
	t.Parallel()
	b, source := lookTwice(t)
	_, err := b.run(source, nil)
	require.NoError(t, err)
	require.Contains(t, reasons(b), "excerpt error")
	require.Contains(t, string(b.entries.of(echo.NodePhaseStart)[0].Data), `"dedupe":true`)

	b, source = lookTwice(t)
	b.rules = 1
	_, err = b.run(source, nil)
	require.NoError(t, err)
	require.NotContains(t, reasons(b), "excerpt error")
	require.NotContains(t, string(b.entries.of(echo.NodePhaseStart)[0].Data), "dedupe")
}

// auto_context.intra_phase off: full history, and the reason of every message is on the record.
func TestIntraPhaseOff(t *testing.T) {
	t.Parallel()
	b, source := lookTwice(t)
	b.off.IntraPhase = true
	_, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"full switched_off"}, reasons(b))
	for _, e := range b.entries.of(echo.NodeSelection) {
		require.Zero(t, e.Selection.TokensSaved)
	}
	require.Contains(t, string(b.entries.of(echo.NodePhaseStart)[0].Data), `"enabled":false`)
}

// auto_context.inter_phase off: a phase gets what context.from names, and the record says why no more.
func TestInterPhaseOff(t *testing.T) {
	t.Parallel()
	b := setupThree(t, say("done"))
	b.off.InterPhase = true
	_, err := b.run(fmt.Sprintf(threePhases, `""`, `{"mode":"auto","from":["plan"]}`), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"user: From phase \"plan\", output:\nFirst the crane, then the rest.", "user: Write about the harbour crane."}, roles(b.model.requests[len(b.model.requests)-1]))
	require.Empty(t, b.entries.of(echo.NodeInter))
	require.Equal(t, []string{"nothing was selected of earlier phases: auto_context.inter_phase is off in windlass.json"}, warnings(t, b))
}

// auto_context.llm_selection off: the heuristic chooses, and the selection says why.
func TestLLMSelectionOff(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"llm", "hybrid"} {
		b := setupThree(t, say("done"))
		b.off.LLMSelection = true
		_, err := b.run(fmt.Sprintf(threePhases, `""`, `{"mode":"auto","selection":{"max_messages":3,"strategy":"`+strategy+`"}}`), nil)
		require.NoError(t, err)
		s := selectionOf(t, b)
		require.Equal(t, echo.Strategy(strategy), s.Asked)
		require.Equal(t, echo.StrategyHeuristic, s.Strategy)
		require.Equal(t, []string{"context was selected by " + strategy + " with less than it asks for: auto_context.llm_selection is off in windlass.json: no model chooses"}, warnings(t, b))
		require.Len(t, b.model.requests, 5, "no model was asked to choose")
	}
}

func warnings(t *testing.T, b *testBundle) (list []string) {
	t.Helper()
	for _, e := range b.entries.of(echo.NodeWarning) {
		w, err := echo.Read[echo.Warning](e)
		require.NoError(t, err)
		list = append(list, w.Message)
	}
	return list
}

// What is not switched off stays as the cascade has it.
func TestSwitchedOffSettings(t *testing.T) {
	t.Parallel()
	in := cascade.DefaultInter()
	in.Selection.Strategy = cascade.StrategySemantic
	require.Equal(t, in, cascade.SwitchedOff{LLMSelection: true}.Inter(in))
	require.Equal(t, cascade.DefaultIntra(), cascade.SwitchedOff{InterPhase: true, Cards: true, LLMSelection: true}.Intra(cascade.DefaultIntra()))
}
