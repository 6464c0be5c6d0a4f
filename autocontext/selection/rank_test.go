package selection

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// said is a group of one message with a card that adds nothing to be found by.
func said(text string) Group {
	m := echo.NewText(echo.RoleAssistant, echo.KindAnswer, text)
	return Group{
		ID: m.Hash(), Items: []echo.Item{{Message: m, Attempt: 1}}, Phase: "talk", Segment: 1, Tokens: 10,
		Cards: []contextcards.Card{{Hash: m.Hash(), Role: m.Role()}},
	}
}

func saidAll(texts ...string) []Group {
	out := make([]Group, len(texts))
	for i, t := range texts {
		out[i] = said(t)
	}
	return out
}

// Scores against values by hand. There are three texts of 3, 1 and 2 terms: 2 on average. "apple"
// is in two of them, its IDF is ln(1 + (3-2+.5)/(2+.5)) = ln 1.6 = .4700; "pear" in one, ln(1 +
// 2.5/1.5) = ln 2.6667 = .9808.
func TestRelevanceByHand(t *testing.T) {
	t.Parallel()
	groups := saidAll("apple apple pear", "apple", "cherry plum")
	got := NewIndex().relevance("apples", groups)
	// 2 x 2.2 / (2 + 1.2 x (.25 + .75 x 3/2)) = 4.4/3.65; 2.2 / (1 + 1.2 x (.25 + .75 x 1/2)) =
	// 2.2/1.75
	require.InDeltaSlice(t, []float64{0.4700036 * 4.4 / 3.65, 0.4700036 * 2.2 / 1.75, 0}, got, 1e-6)

	got = NewIndex().relevance("apple pear pear", groups) // a word asked for twice counts once
	// pear in the first: 2.2 / (1 + 1.2 x (.25 + .75 x 3/2)) = 2.2/2.65
	require.InDelta(t, 0.4700036*4.4/3.65+0.9808293*2.2/2.65, got[0], 1e-6)

	require.Equal(t, []float64{0, 0, 0}, NewIndex().relevance("the who and what", groups))
	require.Equal(t, []float64{0, 0, 0}, NewIndex().relevance("", groups))
	require.Empty(t, NewIndex().relevance("apple", nil))
}

// A group is found by what its messages say and call, and by what their cards say of them.
func TestRelevanceReadsMessagesAndCards(t *testing.T) {
	t.Parallel()
	call := echo.ToolCall{ID: "c1", Name: "read_file", Arguments: `{"path": "src/engine.go"}`}
	ask := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("Let me look."), ToolCalls: []echo.ToolCall{call}})
	result := echo.NewToolResult(call, echo.Text("func ignite() {}"), false)
	g := Group{
		ID: ask.Hash(), Items: []echo.Item{{Message: ask}, {Message: result}},
		Cards: []contextcards.Card{{Hash: ask.Hash(), Summary: "opens the motor"}, {Hash: result.Hash(), Keywords: []string{"combustion"}}},
	}
	alone := Group{ID: "gone", Cards: []contextcards.Card{{Hash: "gone", Summary: "a message that is not at hand"}}}
	x := NewIndex()
	for _, word := range []string{"looking", "read_file", "engine.go", "ignite", "motors", "combustion"} {
		got := x.relevance(word, []Group{alone, g})
		require.Positive(t, got[1], word)
		require.Zero(t, got[0], word)
	}
	require.Positive(t, x.relevance("message", []Group{alone, g})[0])
}

// An index that has seen other groups, other tasks and older cards gives what a new one gives.
func TestIndexForgetsNothingAndChangesNothing(t *testing.T) {
	t.Parallel()
	groups := saidAll("the pump fails", "replace the seal", "a seal of rubber", "pump pump pump")
	x := NewIndex()
	for i := range groups {
		x.relevance(fmt.Sprintf("something else %d seal", i), groups[i:])
	}
	require.Equal(t, NewIndex().relevance("pump seal", groups), x.relevance("pump seal", groups))

	late := saidAll("the pump fails")
	late[0].Cards[0].Summary = "extracted"
	require.Zero(t, x.relevance("overheating", late)[0])
	late[0].Cards[0].Summary = "overheating, says a model"
	require.Positive(t, x.relevance("overheating", late)[0], "a better card is read")
}

func TestSpreadStaysWithinAVisit(t *testing.T) {
	t.Parallel()
	groups := saidAll("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
	for i := range groups {
		groups[i].Segment = 1
	}
	scores := make([]float64, len(groups))
	scores[5] = 1
	// Those after it get the share of their previous one, those before it that of their next one; half
	// with each step.
	require.InDeltaSlice(t,
		[]float64{0, 0.45 / 8, 0.45 / 4, 0.45 / 2, 0.45, 1, 0.6, 0.6 / 2, 0.6 / 4, 0.6 / 8, 0}, spread(groups, scores), 1e-12)
	for i := 6; i < len(groups); i++ {
		groups[i].Segment = 2
	}
	got := spread(groups, scores)
	require.Equal(t, make([]float64, 5), got[6:])
	require.InDelta(t, 0.45, got[4], 1e-12)
	require.Equal(t, 1.0, scores[5], "the scores given are left alone")
	require.Empty(t, spread(nil, nil))
}

func TestRankedAndFused(t *testing.T) {
	t.Parallel()
	require.Equal(t, []place{{3, 2}, {4, 1}, {1, 1}}, ranked([]float64{0, 1, -1, 2, 1}), "of equal ones the newer first")

	words := []place{{2, 9}, {0, 8}, {1, 7}}
	meaning := []place{{1, 0.5}, {2, 0.4}}
	got := fuse(4, words, meaning)
	require.Len(t, got, 3, "what neither ranks is left out")
	require.Equal(t, []int{2, 1, 0}, []int{got[0].group, got[1].group, got[2].group})
	require.InDelta(t, 1.0/21+0.5/22, got[0].score, 1e-12)
	require.InDelta(t, 1.0/23+0.5/21, got[1].score, 1e-12)
	require.InDelta(t, 1.0/22, got[2].score, 1e-12)
}

func TestMeaningThatIsNoNumber(t *testing.T) {
	t.Parallel()
	groups := saidAll("a", "b", "c", "d")
	for i, m := range []float64{math.NaN(), math.Inf(1), 0.5, -1} {
		groups[i].Similarity, groups[i].Embedded, groups[i].Segment = m, true, i
	}
	sel, _ := NewIndex().Select("task", groups, Settings{Strategy: echo.StrategySemantic, MaxTokens: 100}, nil)
	require.Equal(t, []echo.Hash{groups[1].ID, groups[2].ID}, sel.Chosen)
	require.InDelta(t, 0.5, *sel.Scores[2].Similarity, 1e-12)
}

// A session of a size that few reach, and the second selection in it.
func BenchmarkSelect(b *testing.B) {
	groups := manyGroups(2000)
	s := Settings{Strategy: echo.StrategyHybrid, Prefilter: true, MaxTokens: 4000, KeywordWeight: 0.4, RecencyWeight: 0.3, CalloutWeight: 0.3}
	const task = "Why does the pump of reactor 17 fail, and which file has the seal's limits?"
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewIndex().Select(task, groups, s, nil)
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		x := NewIndex()
		x.Select(task, groups, s, nil)
		for b.Loop() {
			x.Select(task, groups, s, nil)
		}
	})
}

// manyGroups makes groups of about 40 words, as people and models write them.
func manyGroups(n int) []Group {
	words := strings.Fields(`pump reactor seal pressure valve limit check reading failed restarted because engineer noted temperature
rises after midnight while we were looking at the logs of config/limits.yaml and src/pump_control.go the value was too high so I
changed it back again`)
	out := make([]Group, n)
	for i := range out {
		var b strings.Builder
		for k := range 40 {
			fmt.Fprintf(&b, "%s ", words[(i*7+k*k*3+i*k)%len(words)])
		}
		fmt.Fprintf(&b, "item%d", i)
		out[i] = said(b.String())
		out[i].Segment, out[i].Tokens = i/50, 60
		out[i].Similarity, out[i].Embedded = float64(i*37%101)/101, true
		out[i].Cards[0].Summary, out[i].Cards[0].Generator = b.String(), contextcards.GeneratorMessage
	}
	return out
}
