package contexts

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
)

// tried explains a selection without terms and texts.
func tried(s *echo.InterSelection) *phasecontext.Tried {
	out := &phasecontext.Tried{InterSelection: *s}
	for _, sc := range s.Scores {
		out.Explained = append(out.Explained, phasecontext.Explained{Score: sc})
	}
	return out
}

// Candidates stand by rank, with the terms of their scores and their first words, and lines say where
// the budget ended and from where nothing was ranked. A narrow terminal has shorter hashes, and leaves
// out the rank and the tokens first.
func TestSelection(t *testing.T) {
	t.Parallel()
	s := &echo.InterSelection{Everything: 1300, Ending: 22, Selected: echo.Selected{
		Strategy: echo.Strategy("heuristic"), Candidates: 4, Chosen: []echo.Hash{"aa", "dd"}, Used: 62, Budget: 2000, Why: "it is \x1b[31mnear",
		Scores: []echo.Score{
			{ID: "bb0123456789abcd", Phase: "look", Tokens: 310, Rank: 2, Total: 0.5, Callout: true},
			{ID: "cc0123456789abcd", Phase: "look", Tokens: 900},
			{ID: "aa0123456789abcd", Phase: "look", Tokens: 10, Total: 0.775, Rank: 1, Chosen: true},
			{ID: "dd0123456789abcd", Phase: "look", Tokens: 30, Total: 0.2, Rank: 3, Chosen: true},
		},
		Notes: []string{"a \x1b[31mnote"},
	}}
	found := tried(s)
	found.Cut = &selection.Cut{Rank: 2, Left: 290, Needs: 310, Smaller: 1}
	found.Explained[0].Terms = []selection.Term{{Name: "words", Weight: 0.4, Value: 0.5}, {Name: "callout", Weight: 0.3, Value: 1}}
	found.Explained[2].Terms = []selection.Term{{Name: "words", Weight: 0.4, Value: 1}, {Name: "recency", Weight: 0.12, Value: 0.625}, {Name: "callout", Weight: 0.3, Value: 1}}
	found.Explained[3].Terms = []selection.Term{{Name: "words", Weight: 0.4, Value: 0.5}}
	found.Explained[2].Text = "an \x1b[31manswer\nwith two lines that go on for more than a narrow terminal can show"
	var b strings.Builder
	require.NoError(t, Selection(To(&b), found))
	require.Equal(t, ""+
		"hash              phase  tokens      words     recency  callout  total  rank  in   text\n"+
		"----------------  -----  ------  ---------  ----------  -------  -----  ----  ---  --------------------------------------------------------------------------------\n"+
		"aa0123456789abcd  look       10  0.4x1.000  0.12x0.625    0.3x1  0.775     1  yes  an [31manswer⏎with two lines that go on for more than a narrow terminal can show\n"+
		"budget of 2,000 tokens ends here: 290 left, next would need 310; 1 of what follows still fit\n"+
		"bb0123456789abcd  look      310  0.4x0.500                0.3x1  0.500     2\n"+
		"dd0123456789abcd  look       30  0.4x0.500                       0.200     3  yes\n"+
		"not ranked: not enough in common with the task\n"+
		"cc0123456789abcd  look      900                                  0.000\n"+
		"\nchosen by heuristic: 2 of 4 candidates, 40 of 1,300 tokens; with the line behind them 62 of the budget of 2,000\n"+
		"because: it is [31mnear\n"+
		"note: a [31mnote\n", b.String())
	b.Reset()
	require.NoError(t, Selection(Out{W: &b, Width: 80}, found))
	require.True(t, strings.HasPrefix(b.String(), ""+
		"hash    phase      words     recency  callout  total  in   text\n"+
		"------  -----  ---------  ----------  -------  -----  ---  ---------------------\n"+
		"aa0123  look   0.4x1.000  0.12x0.625    0.3x1  0.775  yes  an [31manswer⏎with t…\n"+
		"budget of 2,000 tokens ends here: 290 left, next would need 310; 1 of what\nfollows still fit\n"), b.String())
}

// Where a model chose, what it left out may have a score.
func TestSelectionOfAModel(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Selection(To(&b), tried(&echo.InterSelection{Selected: echo.Selected{Strategy: echo.StrategyLLM, Scores: []echo.Score{
		{ID: "aa", Total: 0.5}, {ID: "bb", Total: 0.2, Rank: 1, Chosen: true},
	}}})))
	require.Regexp(t, `bb +0 +0\.200 +1  yes\nnot chosen by the model\naa +0 +0\.500\n`, b.String())
}

// What is chosen is a part of everything, and the line behind it is of the budget only.
func TestSelectionOfAllAndOfNothing(t *testing.T) {
	t.Parallel()
	last := func(s *echo.InterSelection) string {
		var b strings.Builder
		require.NoError(t, Selection(To(&b), tried(s)))
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
	require.ErrorIs(t, Selection(o, &phasecontext.Tried{}), errFull)
	require.ErrorIs(t, Stats(o, "id", &inspect.Sums{}, nil), errFull)
}
