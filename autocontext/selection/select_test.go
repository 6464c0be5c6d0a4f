package selection

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// selecting returns the defaults of a selection.
func selecting(s echo.Strategy, tokens int64) Settings {
	return Settings{
		Strategy: s, MaxTokens: tokens, MaxMessages: 50,
		KeywordWeight: 0.4, RecencyWeight: 0.3, CalloutWeight: 0.3, Threshold: 0.5,
	}
}

// choose selects and returns the indices of what was chosen.
func choose(t *testing.T, task string, groups []Group, s Settings, answer *MenuAnswer) ([]int, *echo.Selected) {
	t.Helper()
	sel, menu := NewIndex().Select(task, groups, s, answer)
	require.Nil(t, menu)
	var out []int
	for i := range sel.Scores {
		if sel.Scores[i].Chosen {
			out = append(out, i)
		}
	}
	return out, sel
}

// apart makes groups with nothing in common, each a visit of its own, so that nothing spreads.
func apart(texts ...string) []Group {
	out := saidAll(texts...)
	for i := range out {
		out[i].Segment = i
	}
	return out
}

func TestHeuristicTakesWhatTheTaskIsAbout(t *testing.T) {
	t.Parallel()
	groups := apart("the pump is broken", "lunch at noon", "a new pump was ordered", "the weather is fine")
	chosen, sel := choose(t, "What about the pumps?", groups, selecting(echo.StrategyHeuristic, 1000), nil)
	require.Equal(t, []int{0, 2}, chosen, "what has nothing to do with it stays away, though there is room")
	require.Equal(t, []echo.Hash{groups[0].ID, groups[2].ID}, sel.Chosen)
	require.Equal(t, echo.StrategyHeuristic, sel.Strategy)
	require.Empty(t, sel.Notes)
	require.Equal(t, 4, sel.Candidates)
	require.EqualValues(t, 40, sel.CandidateTokens)
	require.EqualValues(t, 20, sel.Used)
	require.Equal(t, 2, sel.Messages)
	require.Zero(t, sel.Scores[1].Rank)
	require.Zero(t, sel.Scores[1].Total)
}

// A run whose messages are all minutes old: what is about the task comes first, however old in the
// run, and the newest messages, which are about something else, do not come in at all.
func TestRecencyDoesNotDrownRelevance(t *testing.T) {
	t.Parallel()
	groups := apart("the reactor's limit is 17 bar", "the pump of the reactor was replaced")
	for i := range 60 {
		groups = append(groups, said(fmt.Sprintf("tidied up folder %d", i)))
		groups[len(groups)-1].Segment = len(groups)
	}
	groups = append(groups, said("the reactor of another plant"))
	groups[len(groups)-1].Segment = len(groups)
	s := selecting(echo.StrategyHeuristic, 20)
	s.RecencyWeight = 1
	chosen, sel := choose(t, "What is the limit of the reactor, in bar?", groups, s, nil)
	require.Equal(t, []int{0, 62}, chosen)
	require.Equal(t, 1, sel.Scores[0].Rank, "the oldest message of all")
	for i := 2; i < 62; i++ {
		require.Zero(t, sel.Scores[i].Rank)
	}
}

func TestRecencyDecidesBetweenEquals(t *testing.T) {
	t.Parallel()
	groups := apart("pump one", "pump two", "pump three")
	for _, weight := range []float64{0.3, 0} {
		s := selecting(echo.StrategyHeuristic, 10)
		s.RecencyWeight = weight
		chosen, sel := choose(t, "pump", groups, s, nil)
		require.Equal(t, []int{2}, chosen, "recency_weight %v", weight)
		require.Equal(t, []int{3, 2, 1}, []int{sel.Scores[0].Rank, sel.Scores[1].Rank, sel.Scores[2].Rank})
	}
	require.InDelta(t, 1, newestRecency(t, 30)[29], 1e-12)
	require.InDelta(t, 0.5, newestRecency(t, 30)[19], 1e-12, "it halves every ten groups")
}

func newestRecency(t *testing.T, n int) []float64 {
	t.Helper()
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("text %d", i))
	}
	_, sel := choose(t, "", apart(texts...), selecting(echo.StrategyHeuristic, 1), nil)
	var out []float64
	for _, s := range sel.Scores {
		out = append(out, s.Recency)
	}
	return out
}

// Without a keyword weight there is no relevance that recency could multiply.
func TestRecencyAlone(t *testing.T) {
	t.Parallel()
	groups := apart("pump", "b", "c", "d")
	s := selecting(echo.StrategyHeuristic, 20)
	s.KeywordWeight = 0
	chosen, _ := choose(t, "pump", groups, s, nil)
	require.Equal(t, []int{2, 3}, chosen)
}

func TestCallouts(t *testing.T) {
	t.Parallel()
	groups := apart("nothing of the kind", "the pump is broken", "pump", "other")
	groups[0].Callout = true
	chosen, sel := choose(t, "pump", groups, selecting(echo.StrategyHeuristic, 1000), nil)
	require.Equal(t, []int{0, 1, 2}, chosen)
	require.True(t, sel.Scores[0].Callout)
	require.InDelta(t, 0.3, sel.Scores[0].Total, 1e-12)
	s := selecting(echo.StrategyHeuristic, 1000)
	s.CalloutWeight = 0
	chosen, _ = choose(t, "pump", groups, s, nil)
	require.Equal(t, []int{1, 2}, chosen)
}

// A question and its answer have no word in common; the answer comes with the question, but not
// across visits.
func TestNeighboursComeAlong(t *testing.T) {
	t.Parallel()
	groups := saidAll("Which animal did you adopt?", "A greyhound!", "Lovely.", "Other things.")
	groups[2].Segment, groups[3].Segment = 2, 2
	chosen, sel := choose(t, "What did she adopt?", groups, selecting(echo.StrategyHeuristic, 1000), nil)
	require.Equal(t, []int{0, 1}, chosen)
	require.InDelta(t, 0.6, sel.Scores[1].Keyword, 1e-12)
}

// What does not fit is passed over, and smaller ones behind it are taken.
func TestBudgetPassesOver(t *testing.T) {
	t.Parallel()
	groups := apart("pump", "pump x", "pump x y")
	groups[0].Tokens = 90
	groups[1].Tokens = 30
	groups[2].Tokens = 70
	groups[2].Items = append(groups[2].Items, groups[2].Items[0])
	order := func(s Settings) []int { c, _ := choose(t, "pump", groups, s, nil); return c }
	require.Equal(t, []int{0}, order(selecting(echo.StrategyHeuristic, 90)))
	require.Equal(t, []int{1}, order(selecting(echo.StrategyHeuristic, 60)))
	require.Equal(t, []int{0, 1}, order(selecting(echo.StrategyHeuristic, 120)))
	require.Empty(t, order(selecting(echo.StrategyHeuristic, 0)))
	s := selecting(echo.StrategyHeuristic, 1000)
	s.MaxMessages = 3
	require.Equal(t, []int{0, 1}, order(s), "the third has two messages")
	s.MaxMessages = 0
	require.Equal(t, []int{0, 1, 2}, order(s), "any number")
}

// Two groups with the same words are one thing to know: the newer is taken.
func TestNothingIsChosenTwice(t *testing.T) {
	t.Parallel()
	groups := apart("the pump", "other", "the pump")
	for _, s := range []Settings{selecting(echo.StrategyHeuristic, 1000), selecting(echo.StrategyHybrid, 1000)} {
		chosen, sel := choose(t, "pump", groups, s, nil)
		require.Contains(t, chosen, 2)
		require.NotContains(t, chosen, 0, s.Strategy)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(sel.Chosen))), len(sel.Chosen))
	}
}

func TestSemantic(t *testing.T) {
	t.Parallel()
	groups := apart("a", "b", "c", "pump")
	for i, m := range []float64{0.2, 0.8, 0.5, -0.3} {
		groups[i].Similarity, groups[i].Embedded = m, true
	}
	chosen, sel := choose(t, "pump", groups, selecting(echo.StrategySemantic, 1000), nil)
	require.Equal(t, []int{1, 2}, chosen, "what is less than half as similar as the best stays away")
	require.Equal(t, echo.StrategySemantic, sel.Strategy)
	require.Equal(t, []int{0, 1, 2, 0}, []int{sel.Scores[0].Rank, sel.Scores[1].Rank, sel.Scores[2].Rank, sel.Scores[3].Rank})
	require.InDelta(t, 1+rawShare, sel.Scores[1].Total, 1e-12)
	require.InDelta(t, 0.2, *sel.Scores[0].Similarity, 1e-12)
	require.Equal(t, 1.0, sel.Scores[3].Keyword, "the words are told, too")
	s := selecting(echo.StrategySemantic, 1000)
	s.Threshold = 0
	chosen, _ = choose(t, "pump", groups, s, nil)
	require.Equal(t, []int{0, 1, 2}, chosen, "what is unlike the task is never taken by itself")
}

// Any two texts are somewhat similar to some embedders. What stands out comes first and takes its
// answer along; a place in the middle of a visit, with similar things all around, is worth nothing
// by itself.
func TestSemanticStandsOut(t *testing.T) {
	t.Parallel()
	var groups []Group
	for i := range 40 {
		groups = append(groups, said(fmt.Sprintf("text %d", i)))
		groups[i].Segment, groups[i].Embedded, groups[i].Similarity = i/20, true, 0.4
	}
	groups[0].Similarity, groups[1].Similarity = 0.6, 0.1 // a question at the beginning of a visit, and its short answer
	groups[25].Embedded, groups[25].Similarity = false, 0.9
	chosen, sel := choose(t, "task", groups, selecting(echo.StrategySemantic, 20), nil)
	require.Equal(t, []int{0, 1}, chosen)
	require.Nil(t, sel.Scores[25].Similarity)
	require.Zero(t, sel.Scores[25].Total)
}

func TestSemanticWithoutEmbeddings(t *testing.T) {
	t.Parallel()
	chosen, sel := choose(t, "pump", apart("a", "pump"), selecting(echo.StrategySemantic, 1000), nil)
	require.Equal(t, []int{1}, chosen)
	require.Equal(t, echo.StrategySemantic, sel.Asked)
	require.Equal(t, echo.StrategyHeuristic, sel.Strategy)
	require.Equal(t, []string{"no embeddings: chosen by words"}, sel.Notes)
	_, sel = choose(t, "pump", nil, selecting(echo.StrategySemantic, 1000), nil)
	require.Equal(t, echo.StrategySemantic, sel.Strategy, "of nothing, nothing is chosen by any strategy")
	require.Equal(t, []echo.Hash{}, sel.Chosen)
	require.Empty(t, sel.Notes)
}

// many are 30 groups of 10 tokens; those that can be divided by three are about the pump, those by
// five similar to it.
func many() []Group {
	out := make([]Group, 30)
	for i := range out {
		text := fmt.Sprintf("note %d", i)
		if i%3 == 0 {
			text += " pump"
		}
		out[i] = said(text)
		out[i].Segment, out[i].Embedded = i, true
		out[i].Cards[0].Summary = "of " + text
		if i%5 == 0 {
			out[i].Similarity = 0.9 - float64(i)/100
		}
	}
	return out
}

func TestModelIsNotAskedWhenEverythingFits(t *testing.T) {
	t.Parallel()
	for _, strategy := range []echo.Strategy{echo.StrategyHybrid, echo.StrategyLLM} {
		chosen, sel := choose(t, "pump", many(), Settings{Strategy: strategy, MaxTokens: 300, MaxMessages: 30, KeywordWeight: 1}, nil)
		require.Len(t, chosen, 30)
		require.Equal(t, strategy, sel.Strategy)
		require.Equal(t, []string{"everything fits: no model was asked"}, sel.Notes)
		_, menu := NewIndex().Select("pump", many(), Settings{Strategy: strategy, MaxTokens: 299, MaxMessages: 30, KeywordWeight: 1}, nil)
		require.NotNil(t, menu)
		_, menu = NewIndex().Select("pump", many(), Settings{Strategy: strategy, MaxTokens: 300, MaxMessages: 29, KeywordWeight: 1}, nil)
		require.NotNil(t, menu)
	}
}

// offered returns the ids of a menu.
func offeredIn(menu *Menu) []string {
	var ids []string
	for line := range strings.Lines(menu.Messages[1].Text()) {
		if id, _, ok := strings.Cut(line, " | "); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestMenusHoldTwiceTheBudget(t *testing.T) {
	t.Parallel()
	sel, menu := NewIndex().Select("pump", many(), selecting(echo.StrategyHybrid, 50), nil)
	require.Nil(t, sel)
	require.Len(t, offeredIn(menu), 10)
	require.Contains(t, menu.Messages[1].Text(), "of note 15 pump", "both words and meaning are for it")
	s := selecting(echo.StrategyHybrid, 200)
	s.MaxMessages = 4
	_, menu = NewIndex().Select("pump", many(), s, nil)
	require.Len(t, offeredIn(menu), 8, "twice the messages")
	_, menu = NewIndex().Select("pump", many(), selecting(echo.StrategyLLM, 50), nil)
	require.Len(t, offeredIn(menu), 30, "llm sees everything")

	groups := many()
	groups[15].Tokens = 60
	_, menu = NewIndex().Select("pump", groups, selecting(echo.StrategyHybrid, 50), nil)
	require.NotContains(t, menu.Messages[1].Text(), "note 15", "what is larger than the budget could not be chosen")
}

func TestMenusAreBounded(t *testing.T) {
	t.Parallel()
	groups := manyGroups(500)
	for i := range groups {
		groups[i].Cards[0].Summary = strings.Repeat(fmt.Sprintf("long %d ", i), 1000)
	}
	s := selecting(echo.StrategyLLM, 10_000)
	_, menu := NewIndex().Select(strings.Repeat("a long task ", 10_000), groups, s, nil)
	require.Len(t, offeredIn(menu), menuMost)
	require.Less(t, len(menu.Messages[1].Text()), menuTaskLimit+menuMost*(menuSummaryLimit+100))
	_, sel := choose(t, "pump", groups, s, &MenuAnswer{Text: `{"ids": ["m1"]}`})
	require.Equal(t, []string{"the menu has 200 of 500 candidates"}, sel.Notes)
}

func TestModelChooses(t *testing.T) {
	t.Parallel()
	groups := many()
	s := selecting(echo.StrategyLLM, 25)
	chosen, sel := choose(t, "pump", groups, s, &MenuAnswer{Text: `{"ids": ["m9", "m2", "m30", "m1", "m999", ""]}`})
	require.Equal(t, []int{1, 8}, chosen, "the budget is enforced on what comes back, the most important first")
	require.Equal(t, echo.StrategyLLM, sel.Strategy)
	require.Equal(t, []string{"m999", ""}, sel.Ignored)
	require.Equal(t, []int{1, 2, 3, 4}, []int{sel.Scores[8].Rank, sel.Scores[1].Rank, sel.Scores[29].Rank, sel.Scores[0].Rank})
	require.Positive(t, sel.Scores[3].Total, "what words say of the others is kept")
	require.Zero(t, sel.Scores[3].Rank)

	chosen, sel = choose(t, "pump", groups, s, &MenuAnswer{Text: `{"ids": []}`})
	require.Empty(t, chosen, "nothing is a choice, too")
	require.Equal(t, echo.StrategyLLM, sel.Strategy)
	require.Empty(t, sel.Notes)
}

func TestModelDoesNotChoose(t *testing.T) {
	t.Parallel()
	plain := apart("a", "pump one", "pump two", "pump three", "b")
	embedded := apart("a", "pump one", "pump two", "pump three", "b")
	embedded[1].Similarity, embedded[1].Embedded = 1, true
	for name, c := range map[string]struct {
		strategy echo.Strategy
		groups   []Group
		answer   MenuAnswer
		used     echo.Strategy
		chosen   []int
		notes    []string
	}{
		"llm, no answer": {
			echo.StrategyLLM, plain,
			MenuAnswer{Failed: "gpt-5-nano: status 500"},
			echo.StrategyHeuristic,
			[]int{2, 3},
			[]string{"no model chose: gpt-5-nano: status 500"},
		},
		"llm, prose": {
			echo.StrategyLLM, plain,
			MenuAnswer{Text: "I would take the second."},
			echo.StrategyHeuristic,
			[]int{2, 3},
			[]string{`no model chose: its answer has no JSON object with a list "ids"`},
		},
		"llm, unknown": {
			echo.StrategyLLM, plain,
			MenuAnswer{Text: `{"ids": ["x"]}`},
			echo.StrategyHeuristic,
			[]int{2, 3},
			[]string{"no model chose: none of the ids that it gave is in the menu"},
		},
		"hybrid, meaning and words": {
			echo.StrategyHybrid, embedded,
			MenuAnswer{Failed: "timeout"},
			echo.StrategyPrefilter,
			[]int{1, 3},
			[]string{"the menu has 3 of 5 candidates", "no model chose: timeout"},
		},
		"hybrid, words": {
			echo.StrategyHybrid, plain,
			MenuAnswer{Failed: "timeout"},
			echo.StrategyHeuristic,
			[]int{2, 3},
			[]string{"no embeddings: prefiltered by words", "the menu has 3 of 5 candidates", "no model chose: timeout"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := selecting(c.strategy, 20)
			chosen, sel := choose(t, "pump", c.groups, s, &c.answer)
			require.Equal(t, c.chosen, chosen)
			require.Equal(t, c.used, sel.Strategy)
			require.Equal(t, c.strategy, sel.Asked)
			require.Equal(t, c.notes, sel.Notes)
		})
	}
}

func TestNothingToChooseFrom(t *testing.T) {
	t.Parallel()
	groups := apart("pump", "pump x")
	groups[0].Tokens, groups[1].Tokens = 100, 100
	chosen, sel := choose(t, "pump", groups, selecting(echo.StrategyHybrid, 50), nil)
	require.Empty(t, chosen)
	require.Contains(t, sel.Notes, "no model chose: there is nothing to choose from")
	for _, strategy := range []echo.Strategy{echo.StrategyHeuristic, echo.StrategySemantic, echo.StrategyLLM, echo.StrategyHybrid} {
		chosen, sel := choose(t, "pump", nil, selecting(strategy, 50), nil)
		require.Empty(t, chosen)
		require.NotNil(t, sel.Chosen, "an empty list, in JSON")
	}
}

func TestPrefilterAsksNobody(t *testing.T) {
	t.Parallel()
	s := selecting(echo.StrategyHybrid, 50)
	s.Prefilter = true
	chosen, sel := choose(t, "pump", many(), s, nil)
	require.Len(t, chosen, 5)
	require.Equal(t, echo.StrategyPrefilter, sel.Strategy)
	require.ElementsMatch(t, []int{1, 2}, []int{sel.Scores[0].Rank, sel.Scores[15].Rank}, "words and meaning are for these")
	require.Empty(t, sel.Notes)

	s.MaxTokens, s.MaxMessages = 300, 30
	chosen, sel = choose(t, "pump", many(), s, nil)
	require.Len(t, chosen, 30)
	require.Equal(t, echo.StrategyPrefilter, sel.Strategy, "it is the same when everything fits")
	require.Equal(t, []string{"everything fits"}, sel.Notes)
}

func TestLateCardsAreTold(t *testing.T) {
	t.Parallel()
	groups := apart("a", "b")
	groups[1].Cards[0].Late = true
	_, sel := choose(t, "a", groups, selecting(echo.StrategyHeuristic, 50), nil)
	require.False(t, sel.Scores[0].Late)
	require.True(t, sel.Scores[1].Late)
}

// randomGroups makes groups of one to four messages, some of them equal, some embedded, some
// callouts.
func randomGroups(r *rand.Rand) []Group {
	words := []string{"pump", "seal", "valve", "the", "src/main.go", "failed", "東京", "42", "noted"}
	out := make([]Group, r.IntN(60))
	for i := range out {
		var text strings.Builder
		for range 1 + r.IntN(20) {
			text.WriteString(words[r.IntN(len(words))] + " ")
		}
		g := said(text.String())
		for range r.IntN(4) {
			m := echo.NewToolResult(echo.ToolCall{ID: "c", Name: "look"}, echo.Text(words[r.IntN(len(words))]), false)
			g.Items = append(g.Items, echo.Item{Message: m})
			g.Cards = append(g.Cards, contextcards.Card{Hash: m.Hash(), Summary: m.Text()})
		}
		g.Segment, g.Tokens, g.Callout = i/7, r.Int64N(200), r.IntN(10) == 0
		if r.IntN(3) > 0 {
			g.Embedded, g.Similarity = true, 2*r.Float64()-1
		}
		out[i] = g
	}
	return out
}

// Whatever the groups, the strategy and the answer: budgets hold, order and counts are right,
// groups are whole, nothing is there twice, and the same again gives the same bytes, with an index
// that is new or not.
func TestSelectionsKeepTheirRules(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 2))
	used := map[echo.Strategy]int{}
	for n := range 3000 {
		groups := randomGroups(r)
		s := selecting([]echo.Strategy{echo.StrategyHeuristic, echo.StrategySemantic, echo.StrategyLLM, echo.StrategyHybrid}[r.IntN(4)], r.Int64N(3000))
		s.MaxMessages, s.Prefilter, s.Threshold = r.IntN(40), r.IntN(4) == 0, r.Float64()
		task := []string{"the pump", "Which valve failed?", "", "main.go 東京", "nothing known"}[r.IntN(5)]
		x := NewIndex()
		sel, menu := x.Select(task, groups, s, nil)
		if menu != nil {
			require.Nil(t, sel)
			answer := &MenuAnswer{Text: `{"ids": ["m3", "m1", "m2", "m1", "m40", 7]}`}
			if r.IntN(4) == 0 {
				answer = &MenuAnswer{Failed: "no"}
			}
			sel, menu = x.Select(task, groups, s, answer)
			again, _ := NewIndex().Select(task, groups, s, answer)
			require.Equal(t, encoded(t, again), encoded(t, sel))
		}
		require.Nil(t, menu)
		used[sel.Strategy]++
		checkSelected(t, groups, s, sel)
		if t.Failed() {
			t.Fatalf("selection %d", n)
		}
	}
	for _, strategy := range []echo.Strategy{echo.StrategyHeuristic, echo.StrategySemantic, echo.StrategyLLM, echo.StrategyHybrid, echo.StrategyPrefilter} {
		require.Greater(t, used[strategy], 50, strategy)
	}
}

func encoded(t *testing.T, sel *echo.Selected) string {
	t.Helper()
	data, err := json.Marshal(sel)
	require.NoError(t, err)
	return string(data)
}

func checkSelected(t *testing.T, groups []Group, s Settings, sel *echo.Selected) {
	t.Helper()
	var tokens, all int64
	messages := 0
	chosen := []echo.Hash{}
	ranks := map[int]bool{}
	for i, sc := range sel.Scores {
		g := &groups[i]
		all += g.Tokens
		require.Equal(t, []any{g.ID, g.Tokens, len(g.Items)}, []any{sc.ID, sc.Tokens, sc.Messages})
		if sc.Rank > 0 {
			require.False(t, ranks[sc.Rank], "two groups have rank %d", sc.Rank)
			ranks[sc.Rank] = true
		}
		if sc.Chosen {
			require.Positive(t, sc.Rank)
			require.NotContains(t, chosen, g.ID)
			chosen = append(chosen, g.ID)
			tokens += g.Tokens
			messages += len(g.Items)
		}
	}
	require.Equal(t, chosen, sel.Chosen, "in the order of their places")
	require.Equal(t, tokens, sel.Used)
	require.Equal(t, messages, sel.Messages)
	require.LessOrEqual(t, tokens, s.MaxTokens)
	if s.MaxMessages > 0 {
		require.LessOrEqual(t, messages, s.MaxMessages)
	}
	require.Equal(t, all, sel.CandidateTokens)
	require.Equal(t, len(groups), sel.Candidates)
	require.Equal(t, s.MaxTokens, sel.Budget)
	for rank := range len(ranks) {
		require.True(t, ranks[rank+1], "rank %d is missing", rank+1)
	}
}

// otherCards returns groups with other cards for the same messages: from a model, from the message
// itself, with other keywords, late. Some groups show their message in other words than its own, as
// what a tool's phase said comes in.
func otherCards(r *rand.Rand, groups []Group) []Group {
	out := slices.Clone(groups)
	for i := range out {
		g := &out[i]
		g.Cards = slices.Clone(g.Cards)
		for k := range g.Cards {
			c := &g.Cards[k]
			switch r.IntN(5) {
			case 0:
				c.Summary, c.Generator = "a pump that failed", "model"
			case 1:
				c.Generator, c.Role = contextcards.GeneratorMessage, echo.RoleUser
			case 2:
				c.Keywords = []string{"valve", "main.go"}[:r.IntN(3)]
			case 3:
				c.Late = true
			}
		}
		if r.IntN(6) == 0 && len(g.Items) > 0 {
			framed := echo.NewText(echo.RoleUser, echo.KindContext, "Output: valve "+g.Items[0].Message.Text())
			g.Items = append([]echo.Item{{Message: framed}}, g.Items[1:]...)
		}
	}
	return out
}

// An index that is kept through all selections of a session chooses what a new one for each of them
// does, with the same scores to the last bit: whatever the cards were before, and however a message
// was looked at.
func TestKeptIndexChoosesTheSame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 28))
	tasks := []string{"the pump", "Which valve failed?", "", "main.go 東京", "a pump that failed", "nothing known"}
	for range 50 {
		kept := NewIndex()
		session := randomGroups(r)
		for range 8 {
			session = append(session, randomGroups(r)...)
			groups := otherCards(r, session)
			s := selecting([]echo.Strategy{echo.StrategyHeuristic, echo.StrategySemantic, echo.StrategyHybrid}[r.IntN(3)], r.Int64N(3000))
			s.Prefilter = true
			task := tasks[r.IntN(len(tasks))]
			want, _ := NewIndex().Select(task, groups, s, nil)
			got, _ := kept.Select(task, groups, s, nil)
			require.Equal(t, encoded(t, want), encoded(t, got))
		}
	}
}
