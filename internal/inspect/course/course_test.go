package course_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/inspect/course"
)

// walk visits a span and all below.
func walk(s *course.Span, see func(s, in *course.Span), in *course.Span) {
	see(s, in)
	for _, b := range s.Below {
		walk(b, see, s)
	}
}

// TestFrozen: of every frozen journal the spans hold what is below them, and take together what the record says.
func TestFrozen(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../../cmd/windlass/testdata/frozen/*/*.jsonl")
	require.NoError(t, err)
	require.Greater(t, len(paths), 20)
	for _, path := range paths {
		rec, err := journal.Read(path)
		require.NoError(t, err, path)
		root := course.Of(rec.Entries)
		own, below := 0, 0
		walk(root, func(s, in *course.Span) {
			require.False(t, s.To.Before(s.From), "%s: %s", path, s.Name)
			if in != nil {
				require.False(t, s.From.Before(in.From) || s.To.After(in.To), "%s: %s reaches out of %s", path, s.Name, in.Name)
			}
			switch s.Kind { //nolint:exhaustive // the others are no calls
			case course.Model:
				own += s.Took.Calls
			case course.Child:
				below += s.Took.Calls
			}
		}, nil)
		sums := record.Of(rec.Entries).Sums()
		require.Equal(t, sums.Totals.Requests(), own, path)
		require.Equal(t, sums.Children.Totals.Calls, below, path)
		require.Equal(t, own+below, root.Took.Calls, path)
		tokens := sums.Totals.Usage.In + sums.Totals.Usage.Out + sums.Children.Totals.Usage.In + sums.Children.Totals.Usage.Out
		require.Equal(t, tokens, root.Took.Tokens, path)
	}
}

// TestUncached: the money without the tokens of the cache is at the prices that the run knew for the size of the request.
func TestUncached(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	usd := func(v float64) *float64 { return &v }
	tariff := echo.Tariff{Input: 2, Cached: 0.2, Output: 8, Over: 1000, Long: &echo.Tariff{Input: 4, Cached: 0.4, Output: 16}}
	visit := echo.PhaseKey("draft", 1)
	entry := func(e *echo.Entry, key echo.Key, seq uint64) *echo.Entry {
		e.Key, e.Seq, e.At, e.CascadeID = key, seq, at.Add(time.Duration(seq)*time.Second), "c"
		return e
	}
	call := func(turn int, model string, u echo.Usage, cost *float64, seq uint64) *echo.Entry {
		return entry(&echo.Entry{NodeType: echo.NodeModelCall, Model: model, Usage: &u, CostUSD: cost, DurationMS: 500}, visit.Attempt(1).Turn(turn).Step(echo.StepModel), seq)
	}
	short, long := echo.Usage{In: 1000, Cached: 400, Out: 10}, echo.Usage{In: 2000, Cached: 1000, Out: 10}
	facts := echo.NewEntry(echo.RunKey().Named(echo.StepFacts, "m"), echo.ModelFacts{Tariff: &tariff})
	facts.NodeType = echo.NodeValue
	root := course.Of([]*echo.Entry{
		entry(facts, facts.Key, 1),
		call(1, "m", short, usd(tariff.Cost(short)), 2),
		call(2, "m", long, usd(tariff.Cost(long)), 3),
		call(3, "other", short, usd(1), 4),
		call(4, "m", short, nil, 5),
	})
	calls := root.Below[0].Below
	require.InDelta(t, tariff.Cost(short)-400*0.2e-6, calls[0].Took.UncachedUSD, 1e-12)
	require.InDelta(t, tariff.Cost(long)-1000*0.4e-6, calls[1].Took.UncachedUSD, 1e-12, "the prices of long requests")
	require.Equal(t, course.Took{Seconds: 0.5, USD: 1, UncachedUSD: 1, Tokens: 1010, Calls: 1, Unpriced: 1}, calls[2].Took, "no price is known")
	require.Equal(t, 1, calls[3].Took.Unknown)
	require.Equal(t, []int{4, 1, 1}, []int{root.Took.Calls, root.Took.Unknown, root.Took.Unpriced})
	require.InDelta(t, 2, root.Took.Seconds, 1e-9)
}

// TestBranchesSideBySide: a branch lasts from its first call to its last, however long those beside it take.
func TestBranchesSideBySide(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	keys := []echo.Key{echo.MustKey("each/item1"), echo.MustKey("each/item2")}
	var entries []*echo.Entry
	add := func(seconds int, e *echo.Entry) {
		e.At, e.Seq = at.Add(time.Duration(seconds)*time.Second), uint64(len(entries)+1)
		entries = append(entries, e)
	}
	add(0, &echo.Entry{NodeType: echo.NodePhaseStart, Key: echo.MustKey("each/start")})
	for _, k := range keys {
		add(1, &echo.Entry{NodeType: echo.NodeBranchStart, Key: k.Step(echo.StepStart)})
	}
	add(4, &echo.Entry{NodeType: echo.NodeModelCall, Key: keys[0].Attempt(1).Turn(1).Step(echo.StepModel), DurationMS: 2000})
	add(9, &echo.Entry{NodeType: echo.NodeModelCall, Key: keys[1].Attempt(1).Turn(1).Step(echo.StepModel), DurationMS: 3000})
	for _, k := range keys {
		add(10, &echo.Entry{NodeType: echo.NodeBranchEnd, Key: k.Step(echo.StepFinish)})
	}
	took := map[string][2]float64{}
	walk(course.Of(entries), func(s, _ *course.Span) {
		if s.Kind == course.Branch {
			took[s.Name] = [2]float64{s.From.Sub(at).Seconds(), s.To.Sub(at).Seconds()}
		}
	}, nil)
	require.Equal(t, map[string][2]float64{"item 1": {2, 4}, "item 2": {6, 9}}, took)
}

// TestOwn: what a fork has copied is not of its own time.
func TestOwn(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../../cmd/windlass/testdata/frozen/*/*fork*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	copied := 0
	for _, path := range paths {
		rec, err := journal.Read(path)
		require.NoError(t, err)
		root := course.Of(rec.Entries)
		walk(root, func(s, _ *course.Span) {
			if s.Copied {
				copied++
			}
		}, nil)
		own := root.Own()
		require.NotNil(t, own)
		require.Equal(t, root.Took, own.Took)
		walk(own, func(s, in *course.Span) {
			require.False(t, s.Copied)
			require.True(t, in == nil || !s.From.Before(in.From), "%s", s.Name)
		}, nil)
	}
	require.Positive(t, copied)
}
