package contexts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestSoundings: candidates beside each other, ballots in pairs, and why one is kept, as a terminal of 80 and of 200
// columns shows them, and a pipe.
func TestSoundings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 6)
	first := inspect.SoundingStep{
		Candidates: []inspect.Candidate{
			{Number: 1, Model: "small", Status: echo.StatusFailed, Error: "the model could not be reached", Turns: 1, Calls: 1, Standing: &echo.Standing{Number: 1, State: echo.CandidateFailed}},
			{
				Number: 2, Index: 1, Model: "large", Mutation: &echo.Mutation{Mode: "augment", Entry: "Think of the reader first, and of what can be left out"}, Status: echo.StatusCompleted, Turns: 3, Calls: 3,
				Usage: echo.Usage{In: 12000, Out: 345}, CostUSD: new(0.0421), Output: long, Kept: true, Standing: &echo.Standing{Number: 2, State: echo.CandidateWon, Copies: 2, Votes: 4, EValue: 18.25},
			},
			{Number: 3, Index: 2, Model: "small", Status: echo.StatusCompleted, Turns: 2, Calls: 2, Usage: echo.Usage{In: 900, Out: 20}, CostUSD: new(0.0021), Output: "Short.\x1b[31m", Standing: &echo.Standing{Number: 3, State: echo.CandidateLost, Votes: 1, EValue: 0.031}},
			{Number: 4, Index: 3, Model: "large", Status: echo.StatusCompleted, Standing: &echo.Standing{Number: 4, State: echo.CandidateSame, SameAs: 2}, CostUSD: new(0.04), Calls: 1, Output: long},
		},
		Pairs: []inspect.BallotPair{
			{
				Pair: 1, First: &echo.Ballot{Judge: "judge", Order: []int{2, 3}, Said: "K", Winner: new(2)},
				Second: &echo.Ballot{Judge: "judge", Order: []int{3, 2}, Said: "Q", Winner: new(2), Vote: new(2), Why: "It answers the question in the first line and gives the figures that were asked for."},
			},
			{Pair: 2, First: &echo.Ballot{Judge: "judge", Order: []int{3, 2}, Said: "A", Winner: new(3)}, Second: &echo.Ballot{Judge: "judge", Order: []int{2, 3}, Said: "B", Winner: new(2), Why: "Clearer."}},
			{Pair: 3, First: &echo.Ballot{Judge: "judge", Order: []int{3, 2}, Said: "tie"}, Second: &echo.Ballot{Judge: "judge", Order: []int{2, 3}, Problem: "it named no label"}},
		},
		Judges: []inspect.Judge{{Model: "judge", Ballots: 6, Pairs: 2, Flips: 1, Ties: 1, Problems: 1, CostUSD: new(0.0123)}},
		Choice: &echo.Choice{Winner: 2, How: echo.ChoiceVotes, Confidence: 0.9, EValue: 14.5, Pairs: 3, Flipped: 1, Prefix: &echo.Prefix{Shared: 21000, Waited: 2, Cached: 42000, SavedUSD: new(0.11)}},
	}
	second := inspect.SoundingStep{
		Step: 1,
		Candidates: []inspect.Candidate{{
			Number: 1, Model: "large", Status: echo.StatusCompleted, Calls: 2, PriceAs: "gpt-5", Pretend: 0.02, CostUSD: new(0.0), Output: "Better.",
			Standing: &echo.Standing{Number: 1, State: echo.CandidateLost, Quality: new(0.75), Value: new(0.5)},
		}},
		Scores: []echo.Ballot{{Judge: "judge", Order: []int{1}, Score: new(7.5), Why: "Fine."}, {Judge: "judge", Order: []int{0}, Problem: "no number"}},
		Judges: []inspect.Judge{{Model: "judge", Ballots: 2}},
		Choice: &echo.Choice{Step: 1, Winner: 0, How: echo.ChoiceCheapest, Tie: true, Confidence: 0.9, EValue: 2.5, Pairs: 10, Flipped: 4},
	}
	running := inspect.SoundingStep{Candidates: []inspect.Candidate{{Number: 1, Status: echo.StatusRunning, Session: "c1"}, {Number: 2, Status: echo.StatusRunning}}}
	failed := inspect.SoundingStep{Candidates: []inspect.Candidate{{Number: 1, Status: echo.StatusFailed, Error: "no key"}, {Number: 2, Status: echo.StatusFailed, Error: "no key"}}}
	graded := inspect.SoundingStep{
		Candidates: []inspect.Candidate{
			{Number: 1, Status: echo.StatusCompleted, Output: "a", CostUSD: new(0.02), Kept: true, Standing: &echo.Standing{Number: 1, State: echo.CandidateWon, Quality: new(0.85), Value: new(0.9)}},
			{Number: 2, Status: echo.StatusCompleted, Output: "b", CostUSD: new(0.03), Standing: &echo.Standing{Number: 2, State: echo.CandidateDominated, Quality: new(0.6)}},
			{Number: 3, Status: echo.StatusCompleted, Output: "c", CostUSD: new(0.01), Standing: &echo.Standing{Number: 3, State: echo.CandidateRejected, Why: "too long"}},
		},
		Choice: &echo.Choice{Winner: 1, How: echo.ChoicePareto, Frontier: []echo.FrontierPoint{
			{Number: 1, Quality: 0.85, WeighedUSD: new(0.02)}, {Number: 2, Quality: 0.6, WeighedUSD: new(0.03), DominatedBy: []int{1}},
		}},
	}
	all := []inspect.Sounding{
		{Key: echo.MustKey("draft"), Phase: "draft", Steps: []inspect.SoundingStep{first, second}},
		{Key: echo.RunKey(), Steps: []inspect.SoundingStep{running}},
		{Key: echo.MustKey("failed"), Phase: "failed", Steps: []inspect.SoundingStep{failed}},
		{Key: echo.MustKey("code"), Phase: "code", Steps: []inspect.SoundingStep{graded}},
	}
	for _, width := range []int{0, 80, 200} {
		var out strings.Builder
		require.NoError(t, Soundings(Out{W: &out, Width: width, Safe: true}, all))
		require.NotContains(t, out.String(), "\x1b")
		path := filepath.Join("testdata", fmt.Sprintf("soundings_%d.golden", width))
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), out.String())
	}
}

// What decided is said as it is: what a tie was decided by, and why no candidate was added.
func TestChoicesInWords(t *testing.T) {
	t.Parallel()
	tie := func(how echo.ChoiceHow, value float64) string {
		return chosen.Why(&echo.Choice{Winner: 1, How: how, Tie: true, Confidence: 0.9, Needed: 10, EValue: value, Pairs: 2, Flipped: 1})
	}
	require.Equal(t, "candidate 1, a tie, of which the cheapest is taken: the evidence is 2 and 10 was needed for confidence 0.9, after 2 pairs of ballots", tie(echo.ChoiceCheapest, 2))
	require.Contains(t, tie(echo.ChoiceFirst, 2), "a tie, of which the first is taken: the evidence")
	require.Contains(t, tie(echo.ChoiceUnpriced, 2), "a tie, of which the first is taken, as no cost is known: the evidence")
	require.Contains(t, tie(echo.ChoiceFirst, 12), "the evidence is 12 and 10 was needed for confidence 0.9, but it does not tell the best from each other one, after")
	require.Equal(t, "candidate 1, as no answer got points, and of a tie the first is taken, as no cost is known", chosen.Why(&echo.Choice{Winner: 1, How: echo.ChoiceUnpriced, Tie: true}))
	for want, room := range map[string]echo.Room{
		"$0.6200 by the estimate, and $0.4000 is left":     {NeededUSD: 0.62, LeftUSD: 0.4},
		"2,000 tokens by the estimate, and 1,500 are left": {NeededUSD: 0.1, LeftUSD: 0.4, NeededTokens: 2000, LeftTokens: 1500},
		"what some calls cost is not known":                {NeededUSD: 0.62, LeftUSD: 0.4, Unknown: true},
	} {
		require.Equal(t, "no candidate was added, as the budget does not cover one more and its judging: "+want, chosen.Room(&room, term.Count))
	}
}
