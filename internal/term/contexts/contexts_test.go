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
	require.NoError(t, Selection(To(&b), &echo.InterSelection{Everything: 1300, Selected: echo.Selected{
		Strategy: echo.Strategy("heuristic"), Candidates: 2, Chosen: []echo.Hash{"aa"}, Used: 10, Budget: 4000,
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
		"\nchosen by heuristic: 1 of 2 candidates, 10 of 4,000 tokens; everything is 1,300 tokens\n"+
		"note: a [31mnote\n", b.String())
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
