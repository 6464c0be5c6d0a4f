//go:build unix

package billed

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var overBudget = regexp.MustCompile(`max_usd is \$([0-9.]+), used \$([0-9.]+); the (?:next )?call is estimated at .* and \$([0-9.]+)`)

// TestBudget gives a run less money than it needs, at many sizes, in percent. At no time may more be spent, and still be
// to come of calls in parallel, than there is; it stops only when the next call does not fit; and with enough it goes on
// to the same end: the same requests, the same record, the same output. Stopped is given what is recorded at each stop; it
// may be nil.
func (s *Suite) TestBudget(t *testing.T, c *Case, percents []int, stopped func(*Tree)) {
	t.Helper()
	c.MaxUSD = 0
	free := s.New(t, c.Answers)
	r := free.Result(free.MustRun(0, c.Arguments("b")...))
	whole := free.Tree("b")
	require.NoError(t, whole.Agree())
	require.Zero(t, free.SettleBill(whole))
	all := whole.Root.WithChildren().CostUSD
	require.Positive(t, all)
	for _, percent := range percents {
		t.Run(fmt.Sprintf("%d percent", percent), func(t *testing.T) {
			t.Parallel()
			w := s.New(t, c.Answers)
			w.Provider.Late = Lateness
			limit := strconv.FormatFloat(all*float64(percent)/100, 'f', 7, 64)
			bound, err := strconv.ParseFloat(limit, 64)
			require.NoError(t, err)
			w.Provider.Limit(bound)
			e := w.Start(nil, append(c.Arguments("b"), "--max-usd", limit)...)
			w.keeps(e, bound)
			if percent == slices.Max(percents) || percent > 100 && e.Code == 0 { // what a call may take at most is more than it takes
				require.Zero(t, e.Code, e.Err)
				require.Equal(t, echo.AsText(r.Output), echo.AsText(w.Result(e).Output))
				return
			}
			require.Equal(t, 5, e.Code, e.Err)
			stop := overBudget.FindStringSubmatch(e.Err)
			require.NotNil(t, stop, "the error says what is used and what the call would take:\n%s", e.Err)
			used, next := number(t, stop[2]), number(t, stop[3])
			require.Greater(t, used+next, bound-rounding(stop[2])-rounding(stop[3]), "the call would have fitted")
			require.LessOrEqual(t, used, w.Tree("b").Root.WithChildren().CostUSD+rounding(stop[2]), "what is used is recorded; calls in flight end after the one that did not fit")
			if stopped != nil {
				stopped(w.Tree("b"))
			}
			w.Provider.Limit(0)
			done := w.MustRun(0, "resume", "b", "--max-usd", "0", "--json", "--progress", "plain")
			require.Equal(t, echo.AsText(r.Output), echo.AsText(w.Result(done).Output))
			tree := w.Tree("b")
			require.NoError(t, tree.Agree())
			require.Zero(t, w.SettleBill(tree))
			require.Empty(t, w.Provider.Wrong())
			require.Len(t, w.Provider.Bill(), len(free.Provider.Bill()), "no call was made twice")
			require.ElementsMatch(t, slices.Collect(maps.Keys(free.Provider.Asked())), slices.Collect(maps.Keys(w.Provider.Asked())), "the requests are the same")
			require.Equal(t, whole.Shape(), tree.Shape())
			w.MustRun(0, "verify", "b")
		})
	}
}

// keeps demands that a tree has not spent more than it may, by its record and by the server, and that the record has all
// that the server has billed: a stop lets calls in flight come to their ends.
func (w *World) keeps(e *Ended, bound float64) {
	w.T.Helper()
	require.Empty(w.T, w.Provider.Wrong())
	require.Empty(w.T, w.Provider.Over())
	tree := w.Tree("b")
	require.NoError(w.T, tree.Agree())
	var bill int64
	for _, c := range w.Provider.Bill() {
		bill += c.Nano
	}
	require.LessOrEqual(w.T, float64(bill)/llmtest.Nano, bound+1e-9)
	require.LessOrEqual(w.T, tree.Root.WithChildren().CostUSD, bound+1e-9)
	require.Zero(w.T, w.SettleBill(tree), e.Err)
	for _, s := range tree.All {
		require.NotEqual(w.T, echo.StatusInterrupted, record.EndOf(s.Entries).Status, "%s\n%s", s.Header.SessionID, e.Err)
	}
	require.NotEqual(w.T, echo.StatusRunning, record.EndOf(tree.Root.Entries).Status)
	w.MustRun(0, "verify", "b")
}

// rounding is how far an amount may be from the one that is written, by its decimals.
func rounding(amount string) float64 {
	_, decimals, _ := strings.Cut(amount, ".")
	return math.Pow10(-len(decimals))
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return n
}
