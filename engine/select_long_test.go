package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/phasecontext"
)

// subjects are what the phases before the last read about, one in each turn.
var subjects = []string{"harbour crane", "meadow cows", "mountain railway", "river bridge", "forest owls", "desert wells", "island lighthouse"}

func inTurn(n int) string { return subjects[n%len(subjects)] }

// longRun has five phases with 15 turns in each of the first four. What matters to the last one was
// read early.
func longRun(t *testing.T, strategy string, budget int, about func(n int) string) (*testBundle, *echo.InterSelection) {
	t.Helper()
	var answers []answerFunc
	for phase := range 4 {
		for turn := range 14 {
			answers = append(answers, call("look", fmt.Sprintf(`{"at":%q,"n":%d}`, about(phase*14+turn), phase*14+turn)))
		}
		answers = append(answers, say(fmt.Sprintf("Answer of phase %d about the %s.", phase, subjects[phase])))
	}
	b := setup(t, answers...)
	chooses := func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		if req.Site.Purpose == echo.PurposeSelect {
			return say(`{"ids":["m4","m4","nothing",7,"m1"]}`)(req)
		}
		return say("done")(req)
	}
	b.model.answers = append(b.model.answers, chooses, chooses)
	b.tools.add("look", `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text(strings.Repeat("Seen: "+string(req.Arguments)+"\n", 12))}, nil
	})
	pipeline := contextcards.Start(contextcards.Options{Embedder: contextcards.NewHashed(64)})
	t.Cleanup(func() { _ = pipeline.Close(context.Background()) })
	b.runner.Cards, b.runner.Similarity = pipeline, hashedSimilarity{pipeline}
	b.runner.Facts = func(string) effect.ModelFacts { return effect.ModelFacts{Count: countThirds} }
	var phases []string
	for i := range 4 {
		phases = append(phases, fmt.Sprintf(`{"name":"p%d","instructions":"Read on, %d.","tackle":["look"],"rules":{"max_turns":16}}`, i, i))
	}
	phases = append(phases, fmt.Sprintf(`{"name":"last","instructions":"What is there at the lighthouse of the island?","tackle":["look"],
		"context":{"mode":"auto","anchors":{"window":2},"selection":{"strategy":%q,"max_tokens":%d}}}`, strategy, budget))
	_, err := b.run(`{"cascade_id":"c","phases":[`+strings.Join(phases, ",")+`]}`, nil)
	require.NoError(t, err)
	return b, selectionOf(t, b)
}

// countThirds counts differently from windlass's own estimate.
func countThirds(m *echo.Message) int64 { return int64(len(m.JSON())/3 + 5) }

type hashedSimilarity struct{ pipeline *contextcards.Pipeline }

// Name is another one than that of the embedder: hybrid would do without a comparison of spelling.
func (hashedSimilarity) Name() string { return "hashed, taken for meaning" }

func (h hashedSimilarity) Similar(ctx context.Context, id, text string, limit int) ([]contextcards.Ranked, string, error) {
	v, err := contextcards.NewHashed(64).Embed(ctx, []string{text})
	if err != nil {
		return nil, "", err
	}
	ranked, _ := h.pipeline.Rank(ctx, id, v[0], limit)
	return ranked, "", nil
}

func TestLongRunsWithEveryStrategy(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"heuristic", "semantic", "llm", "hybrid"} {
		for _, budget := range []int{60, 1500, 6000, 100_000} {
			t.Run(fmt.Sprintf("%s/%d", strategy, budget), func(t *testing.T) {
				t.Parallel()
				b, s := longRun(t, strategy, budget, inTurn)
				last := b.model.requests[len(b.model.requests)-1]
				require.NoError(t, checkSequence(last.Messages))
				if budget > 60 { // in which nothing fits that could be offered
					require.EqualValues(t, strategy, s.Strategy)
				}
				require.Empty(t, s.Degraded)

				// Anchors are there: the answer and the two newest turns of the phase before.
				text := strings.Join(roles(last), "\n")
				require.Len(t, s.Anchors, 2)
				require.Contains(t, text, "Answer of phase 3")
				require.Contains(t, text, fmt.Sprintf(`"n":%d`, 55))

				// The budget holds by the model's own count, markers included.
				total := int64(0)
				for _, m := range last.Messages[:len(last.Messages)-1] {
					total += countThirds(m)
				}
				// Anchors have up to two markers of their own: before the first, and the end.
				require.LessOrEqual(t, total, int64(budget)+s.AnchorTokens+2*60)
				require.LessOrEqual(t, s.Used, int64(budget))

				// Nothing comes in twice.
				seen := map[string]bool{}
				for _, m := range last.Messages {
					if m.Kind() != echo.KindContext {
						require.False(t, seen[string(m.JSON())], "%s", m.JSON())
						seen[string(m.JSON())] = true
					}
				}
				again, _ := longRun(t, strategy, budget, inTurn)
				require.Equal(t, bytesOf(last.Messages), bytesOf(again.model.requests[len(again.model.requests)-1].Messages))
			})
		}
	}
}

// In a run whose messages are all minutes old, what is relevant and early comes before what is new.
func TestRecencyDoesNotDrownRelevance(t *testing.T) {
	t.Parallel()
	_, s := longRun(t, "heuristic", 400, func(n int) string {
		if n == 3 {
			return "island lighthouse"
		}
		return "meadow cows"
	})
	first := 0
	for i := range s.Scores {
		if s.Scores[i].Rank == 1 {
			first = i
		}
	}
	require.Equal(t, 4, first, "the fourth turn of the first phase, after its task")
	require.True(t, s.Scores[first].Chosen)
}

// A session that is read off its record is the one that was run: the same candidates with the same
// words.
func TestTryOnARecord(t *testing.T) {
	t.Parallel()
	b, s := longRun(t, "heuristic", 1500, inTurn)
	sel := phasecontext.Trial{Task: "What is there at the lighthouse of the island?", Before: "last", Count: countThirds}
	sel.Selection.Strategy, sel.Selection.MaxTokens, sel.Selection.KeywordWeight = "heuristic", 1500, 0.4
	sel.Now = time.Now
	got, err := phasecontext.Try(t.Context(), "s1", b.entries.list, sel)
	require.NoError(t, err)
	require.Equal(t, len(s.Scores)+len(s.Anchors), len(got.Scores))
	ids := map[echo.Hash]echo.Score{}
	for _, sc := range got.Scores {
		ids[sc.ID] = sc
	}
	for _, sc := range s.Scores {
		require.Equal(t, sc.Tokens, ids[sc.ID].Tokens)
		require.Equal(t, sc.Messages, ids[sc.ID].Messages)
	}
	_, err = phasecontext.Try(t.Context(), "s1", b.entries.list, phasecontext.Trial{Before: "p0", Now: sel.Now})
	require.EqualError(t, err, "no phase of session s1 had finished with anything to select from")
	_, err = json.Marshal(got)
	require.NoError(t, err)
}
