//go:build unix

package trees

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// account is what a server knows of the money of a run: what it has charged, and what the answers that are still to come
// may cost at most. It is part of a provider, under its lock.
type account struct {
	limit int64         // of both together, in billionths of a dollar; 0: none
	most  map[int]int64 // what an answer may cost, by the number of its request
	over  []string
}

// asks opens the account of a request: what is spent, and what may still come of all that are open, is within the limit.
func (a *account) asks(r *llmtest.Request, bill []llmtest.Charge) {
	if a.limit == 0 {
		return
	}
	longest, ok := r.Options["max_completion_tokens"].(float64)
	if !ok {
		a.over = append(a.over, fmt.Sprintf("request %d has no max_completion_tokens", r.Number))
		return
	}
	if a.most == nil {
		a.most = map[int]int64{}
	}
	a.most[r.Number] = int64(longest) * thePrices.Output // and what it sends: cached it costs next to nothing
	spent, open := int64(0), int64(0)
	for i := range bill {
		spent += bill[i].Nano
		delete(a.most, bill[i].Number)
	}
	for _, n := range a.most {
		open += n
	}
	if spent+open > a.limit {
		a.over = append(a.over, fmt.Sprintf("request %d: $%.6f are spent, and %d answers that are open may cost $%.6f: more than $%.6f",
			r.Number, float64(spent)/llmtest.Nano, len(a.most), float64(open)/llmtest.Nano, float64(a.limit)/llmtest.Nano))
	}
}

var overBudget = regexp.MustCompile(`max_usd is \$([0-9.]+), used \$([0-9.]+); the (?:next )?call is estimated at .* and \$([0-9.]+)`)

// TestBudget gives a tree of runs less money than it needs, at many sizes. At no time may more be spent, and still be to
// come of calls in parallel, than there is; it stops only when the next call does not fit; and with enough it goes on to
// the same end.
func TestBudget(t *testing.T) {
	t.Parallel()
	c := readCase(t, "testdata/deep/paid.json")
	free := newWorld(t, c.Answers)
	r := free.result(free.run(0, c.arguments("free")...))
	whole := free.tree("free")
	require.NoError(t, whole.agree())
	require.Zero(t, free.settleBill(whole))
	all := whole.root.withChildren().CostUSD
	require.Positive(t, all)
	for _, percent := range []int{1, 5, 10, 20, 30, 45, 60, 75, 90, 97, 140} {
		t.Run(fmt.Sprintf("%d percent", percent), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.Answers)
			w.server.Late = lateness
			limit := strconv.FormatFloat(all*float64(percent)/100, 'f', 7, 64)
			bound, err := strconv.ParseFloat(limit, 64)
			require.NoError(t, err)
			w.server.account.limit = int64(bound * llmtest.Nano)
			e := w.start(nil, append(c.arguments("b"), "--max-usd", limit)...)
			w.keeps(e, bound)
			if percent > 100 {
				require.Zero(t, e.code, e.err)
				return
			}
			require.Equal(t, 5, e.code, e.err)
			stop := overBudget.FindStringSubmatch(e.err)
			require.NotNil(t, stop, "the error says what is used and what the call would take:\n%s", e.err)
			used, next := number(t, stop[2]), number(t, stop[3])
			require.Greater(t, used+next, bound-rounding(stop[2])-rounding(stop[3]), "the call would have fitted")
			require.LessOrEqual(t, used, w.tree("b").root.withChildren().CostUSD+rounding(stop[2]), "what is used is recorded; calls in flight end after the one that did not fit")
			w.server.account.limit = 0
			done := w.run(0, "resume", "b", "--max-usd", "0", "--json", "--progress", "plain")
			require.Equal(t, echo.AsText(r.Output), echo.AsText(w.result(done).Output))
			tree := w.tree("b")
			require.NoError(t, tree.agree())
			require.Zero(t, w.settleBill(tree))
			require.Empty(t, w.server.wrong())
			require.Len(t, w.server.Bill(), len(free.server.Bill()), "no call was made twice")
			w.run(0, "verify", "b")
		})
	}
}

// keeps demands that a tree has not spent more than it may, by its record and by the server, and that the record has all
// that the server has billed: a stop lets calls in flight come to their ends.
func (w *world) keeps(e *ended, bound float64) {
	w.t.Helper()
	require.Empty(w.t, w.server.wrong())
	require.Empty(w.t, w.server.account.over)
	tree := w.tree("b")
	require.NoError(w.t, tree.agree())
	var bill int64
	for _, c := range w.server.Bill() {
		bill += c.Nano
	}
	require.LessOrEqual(w.t, float64(bill)/llmtest.Nano, bound+1e-9)
	require.LessOrEqual(w.t, tree.root.withChildren().CostUSD, bound+1e-9)
	require.Zero(w.t, w.settleBill(tree), e.err)
	for _, s := range tree.all {
		require.NotEqual(w.t, echo.StatusInterrupted, record.EndOf(s.Entries).Status, "%s\n%s", s.Header.SessionID, e.err)
	}
	require.NotEqual(w.t, echo.StatusRunning, record.EndOf(tree.root.Entries).Status)
	w.run(0, "verify", "b")
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
