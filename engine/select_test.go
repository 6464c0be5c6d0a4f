package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
)

// threePhases: research with two tool turns and an answer, plan, then a phase that selects.
const threePhases = `{"cascade_id":"c","phases":[
	{"name":"research","instructions":"Look around.","tackle":["look"]},
	{"name":"plan","instructions":"Plan it.","callouts":%s},
	{"name":"write","instructions":"Write about the harbour crane.","tackle":["look"],"context":%s}]}`

func threeAnswers(last ...answerFunc) []answerFunc {
	return append([]answerFunc{
		call("look", `{"at":"harbour"}`), call("look", `{"at":"meadow"}`), say("There is a crane."),
		say("First the crane, then the rest."),
	}, last...)
}

func setupThree(t *testing.T, last ...answerFunc) *testBundle {
	b := setup(t, threeAnswers(last...)...)
	b.tools.add("look", `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		if strings.Contains(string(req.Arguments), "harbour") {
			return effect.ToolResult{Parts: echo.Text("A crane of steel stands in the harbour.")}, nil
		}
		return effect.ToolResult{Parts: echo.Text("Cows eat grass.")}, nil
	})
	return b
}

func selectionOf(t *testing.T, b *testBundle) *echo.InterSelection {
	t.Helper()
	list := b.entries.of(echo.NodeInter)
	require.Len(t, list, 1)
	s, err := echo.Read[echo.InterSelection](list[0])
	require.NoError(t, err)
	return &s
}

func TestSelectBringsAnchorsAndWhatMatters(t *testing.T) {
	t.Parallel()
	b := setupThree(t, say("done"))
	_, err := b.run(fmt.Sprintf(threePhases, `""`, `{"mode":"auto","selection":{"max_messages":3}}`), nil)
	require.NoError(t, err)
	last := b.model.requests[len(b.model.requests)-1]
	require.Equal(t, []string{
		`user: From phase "research", turn 1:`,
		`assistant:  +look`,
		`tool: A crane of steel stands in the harbour.`,
		`user: From phase "research", turn 3:`,
		`assistant: There is a crane.`,
		`user: From phase "plan", turn 1:`,
		`assistant: First the crane, then the rest.`,
		`user: Here ends what was brought in from earlier phases. Your own task follows.`,
		`user: Write about the harbour crane.`,
	}, roles(last))
	s := selectionOf(t, b)
	require.Equal(t, echo.StrategyHeuristic, s.Strategy)
	require.Len(t, s.Anchors, 1)
	require.EqualValues(t, "output", s.Anchors[0].Why)
	require.Equal(t, s.AnchorTokens+s.CandidateTokens, s.Everything)
	require.Empty(t, b.entries.of(echo.NodeWarning))
}

// fakeCards are cards that are late, of a summariser that works or fails.
type fakeCards struct {
	added  []contextcards.Source
	marked []echo.Hash
	late   int
	by     string
}

func (f *fakeCards) Add(s contextcards.Source) { f.added = append(f.added, s) }
func (f *fakeCards) Mark(_ string, anchors []echo.Hash) {
	f.marked = append(f.marked, anchors...)
}

func (f *fakeCards) Wait(_ context.Context, sources []contextcards.Source) ([]contextcards.Card, int) {
	cards := make([]contextcards.Card, len(sources))
	for i, s := range sources {
		cards[i] = contextcards.Extract(s, s.At)
		cards[i].Late = i < f.late
		if f.by != "" {
			cards[i].Generator = f.by
		}
	}
	return cards, f.late
}

// fakeSimilarity finds similar what a test says.
type fakeSimilarity struct {
	list     []contextcards.Ranked
	degraded string
	err      error
}

func (fakeSimilarity) Name() string { return "fake@2" }

// spelling must not be asked.
type spelling struct{ fakeSimilarity }

func (spelling) Name() string { return contextcards.NewHashed(0).Name() }

func (f fakeSimilarity) Similar(context.Context, string, string, int) ([]contextcards.Ranked, string, error) {
	return f.list, f.degraded, f.err
}

func TestSelectDegrades(t *testing.T) {
	t.Parallel()
	hit := func(text string) []contextcards.Ranked {
		m := echo.NewToolResult(echo.ToolCall{ID: "x", Name: "look"}, echo.Text(text), false)
		return []contextcards.Ranked{{Hash: m.Hash(), Similarity: 0.9}}
	}
	for _, tt := range []struct {
		name, selection string
		meaning         lookup.Similarity
		cards           lookup.Cards
		cardModel       string
		answers         []answerFunc
		strategy        echo.Strategy
		warning         string
		has, hasNot     string
	}{
		{
			name: "no embedder", selection: `{"strategy":"semantic"}`, answers: []answerFunc{say("done")}, strategy: "heuristic",
			warning: "context was selected by semantic with less than it asks for: there is no embedder; no embeddings: chosen by words", has: "crane of steel",
		},
		{
			name: "embedder fails", selection: `{"strategy":"semantic"}`, meaning: fakeSimilarity{err: errors.New("refused")}, answers: []answerFunc{say("done")},
			strategy: "heuristic", warning: "context was selected by semantic with less than it asks for: nothing could be compared by meaning with fake@2: refused; no embeddings: chosen by words",
			has: "crane of steel",
		},
		{
			name: "store away", selection: `{"strategy":"semantic"}`, meaning: fakeSimilarity{list: hit("Cows eat grass."), degraded: "ranked in memory"},
			answers: []answerFunc{say("done")}, strategy: "semantic", has: "Cows",
			warning: "context was selected by semantic with less than it asks for: ranked in memory; 4 of 5 candidates have no embedding of fake@2",
		},
		{
			name: "spelling only", selection: `{"strategy":"hybrid"}`, meaning: spelling{fakeSimilarity{list: hit("Cows eat grass.")}}, answers: []answerFunc{say("done")},
			strategy: "hybrid", has: "crane of steel",
			warning: "context was selected by hybrid with less than it asks for: hybrid goes by words alone: hashed-ngrams@256 compares spelling, not meaning",
		},
		{
			name: "cards late", selection: `{}`, cards: &fakeCards{late: 2}, answers: []answerFunc{say("done")}, strategy: "heuristic", has: "crane of steel",
			warning: "context was selected by heuristic with less than it asks for: 2 cards of 7 not ready after 5s: judged by what could be extracted at once",
		},
		{
			name: "summariser fails", selection: `{}`, cards: &fakeCards{by: "extraction"}, cardModel: "cheap", answers: []answerFunc{say("done")},
			strategy: "heuristic", has: "crane of steel",
			warning: "context was selected by heuristic with less than it asks for: 7 cards of 7 extracted, as cheap gave no summary",
		},
		{
			name: "model fails", selection: `{"strategy":"llm","max_tokens":120}`, answers: []answerFunc{refuse(&effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Message: "down"}), say("done")},
			strategy: "heuristic", warning: "context was selected by llm with less than it asks for: no model chose: model m: down", has: "crane of steel",
		},
		{
			name: "model says nothing", selection: `{"strategy":"llm","max_tokens":120}`, answers: []answerFunc{say(" "), say("done")},
			strategy: "heuristic", warning: "context was selected by llm with less than it asks for: no model chose: the answer is empty (finish reason \"stop\")", has: "crane of steel",
		},
		{
			name: "model chooses", selection: `{"strategy":"llm","max_tokens":120}`, answers: []answerFunc{say(`{"ids":["m3"]}`), say("done")},
			strategy: "llm", has: "Cows", hasNot: "crane of steel",
		},
		{
			name: "everything fits", selection: `{"strategy":"hybrid"}`, meaning: fakeSimilarity{list: hit("Cows eat grass.")}, answers: []answerFunc{say("done")},
			strategy: "hybrid", has: "Cows", warning: "context was selected by hybrid with less than it asks for: 4 of 5 candidates have no embedding of fake@2",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setupThree(t, tt.answers...)
			b.runner.Similarity, b.runner.Cards, b.runner.CardModel = tt.meaning, tt.cards, tt.cardModel
			_, err := b.run(fmt.Sprintf(threePhases, `""`, `{"mode":"auto","selection":`+tt.selection+`}`), nil)
			require.NoError(t, err)
			s := selectionOf(t, b)
			require.Equal(t, tt.strategy, s.Strategy)
			text := strings.Join(roles(b.model.requests[len(b.model.requests)-1]), "\n")
			require.Contains(t, text, tt.has)
			if tt.hasNot != "" {
				require.NotContains(t, text, tt.hasNot)
			}
			var warnings []string
			for _, w := range b.entries.of(echo.NodeWarning) {
				d, err := echo.Read[echo.Warning](w)
				require.NoError(t, err)
				warnings = append(warnings, d.Message)
			}
			if tt.warning == "" {
				require.Empty(t, warnings)
			} else {
				require.Equal(t, []string{tt.warning}, warnings)
			}
			require.LessOrEqual(t, s.Used, s.Budget)
		})
	}
}

func TestEveryMessageGetsACardOnce(t *testing.T) {
	t.Parallel()
	b := setupThree(t, say("done"))
	cards := &fakeCards{}
	b.runner.Cards = cards
	_, err := b.run(fmt.Sprintf(threePhases, `"the plan"`, `{"mode":"auto"}`), nil)
	require.NoError(t, err)
	var got []string
	for _, s := range cards.added {
		require.Equal(t, "s1", s.SessionID)
		got = append(got, fmt.Sprintf("%d %s %d/%d %s %s", s.Order, s.Phase, s.Attempt, s.Turn, s.Message.Role(), s.Callout))
	}
	require.Equal(t, []string{
		"1 research 0/0 user ", "2 research 1/1 assistant ", "3 research 1/1 tool ", "4 research 1/2 assistant ", "5 research 1/2 tool ",
		"6 research 1/3 assistant ", "7 plan 0/0 user ", "8 plan 1/1 assistant ", "8 plan 1/1 assistant the plan",
		"9 write 0/0 user ", "10 write 1/1 assistant ",
	}, got)
	require.Len(t, cards.marked, 1)
}

// The same session selected again, with the same cards, gives the same bytes.
func TestSelectTwiceGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	var first []byte
	for range 3 {
		b := setupThree(t, say("done"))
		_, err := b.run(fmt.Sprintf(threePhases, `""`, `{"mode":"auto","selection":{"max_tokens":200}}`), nil)
		require.NoError(t, err)
		var sent []byte
		for _, m := range b.model.requests[len(b.model.requests)-1].Messages {
			sent = append(append(sent, m.JSON()...), '\n')
		}
		if first == nil {
			first = sent
		}
		require.Equal(t, string(first), string(sent))
	}
}
