package contexts

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
)

func TestSelection(t *testing.T) {
	t.Parallel()
	near := 0.5
	var b strings.Builder
	require.NoError(t, Selection(To(&b), &echo.InterSelection{Everything: 1300, Ending: 22, Selected: echo.Selected{
		Strategy: echo.Strategy("heuristic"), Candidates: 2, Chosen: []echo.Hash{"aa"}, Used: 32, Budget: 4000, Why: "it is \x1b[31mnear",
		Scores: []echo.Score{
			{ID: "aa", Phase: "look", Tokens: 10, Keyword: 1, Recency: 0.5, Similarity: &near, Total: 0.75, Rank: 1, Chosen: true},
			{ID: "bb", Phase: "look", Tokens: 1290, Callout: true},
		},
		Notes: []string{"a \x1b[31mnote"},
	}}))
	require.Equal(t, ""+
		"hash  phase  tokens  keyword  recency  meaning  callout  total  rank  chosen\n"+
		"----  -----  ------  -------  -------  -------  -------  -----  ----  ------\n"+
		"aa    look       10     1.00     0.50     0.50           0.750     1  yes\n"+
		"bb    look    1,290     0.00     0.00           yes      0.000\n"+
		"\nchosen by heuristic: 1 of 2 candidates, 10 of 1,300 tokens; with the line behind them 32 of the budget of 4,000\n"+
		"because: it is [31mnear\n"+
		"note: a [31mnote\n", b.String())
}

// What is chosen is a part of everything, and the line behind it is of the budget only.
func TestSelectionOfAllAndOfNothing(t *testing.T) {
	t.Parallel()
	last := func(s *echo.InterSelection) string {
		var b strings.Builder
		require.NoError(t, Selection(To(&b), s))
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		return lines[len(lines)-1]
	}
	s := &echo.InterSelection{Everything: 236, Ending: 22, Selected: echo.Selected{
		Strategy: "heuristic", Candidates: 2, Chosen: []echo.Hash{"aa", "bb"}, Used: 258, Budget: 4000, CandidateTokens: 236,
		Scores: []echo.Score{{ID: "aa", Tokens: 36, Rank: 1, Chosen: true}, {ID: "bb", Tokens: 200, Rank: 2, Chosen: true}},
	}}
	require.Equal(t, "chosen by heuristic: 2 of 2 candidates, 236 of 236 tokens; with the line behind them 258 of the budget of 4,000", last(s))
	s.Chosen, s.Used, s.Budget, s.Scores[0].Chosen, s.Scores[1].Chosen = nil, 0, 50, false, false
	require.Equal(t, "chosen by heuristic: 0 of 2 candidates, 0 of 236 tokens; "+
		"the smallest that was ranked takes 36 tokens with the line before it, and the line behind what is chosen 22: more than the budget of 50", last(s))
	s.Scores[0].Rank, s.Scores[1].Rank = 0, 0
	require.Equal(t, "chosen by heuristic: 0 of 2 candidates, 0 of 236 tokens; 0 of the budget of 50", last(s))
}

// A text keeps its bytes unless it is shown on a terminal.
func TestText(t *testing.T) {
	t.Parallel()
	const text = "one\n\x1b[31mtwo\x07\n"
	var piped, shown strings.Builder
	require.NoError(t, Text(To(&piped), text))
	require.Equal(t, text, piped.String())
	require.NoError(t, Text(Out{W: &shown, Safe: true, Painter: term.Painter{On: true}}, text))
	require.Equal(t, term.CleanLines(text), shown.String())
	require.NotContains(t, shown.String(), "\x1b")
}

type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFailuresToWriteAreReported(t *testing.T) {
	t.Parallel()
	o := To(full{})
	require.ErrorIs(t, Text(o, "text"), errFull)
	require.ErrorIs(t, Selection(o, &echo.InterSelection{}), errFull)
	require.ErrorIs(t, Stats(o, "id", &inspect.Sums{}, nil), errFull)
}
