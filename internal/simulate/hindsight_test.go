package simulate

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// made is a random conversation as the search of schedules sees it: messages that take other forms
// as the frontier moves. Two sheets stand for two attempts.
func made(r *rand.Rand) []stage {
	calls := 1 + r.IntN(5)
	length := calls + r.IntN(8)
	var sheets []*sheet
	for range 1 + r.IntN(2) {
		sheets = append(sheets, randomSheet(r, calls+1, length))
	}
	var stages []stage
	at := 1
	for k := range calls {
		s := sheets[k*len(sheets)/calls]
		stages = append(stages, stage{at: at, last: k + 1 - r.IntN(2), sheet: s})
		at = min(length, at+1+r.IntN(2))
	}
	for k := 1; k < calls; k++ { // a later call may always go as far as an earlier one
		stages[k].last = max(stages[k].last, stages[k-1].last)
	}
	return stages
}

func randomSheet(r *rand.Rand, frontiers, length int) *sheet {
	s := &sheet{diffs: make([][]int, frontiers)}
	forms := make([]uint32, length)
	sizes := make([]int64, length)
	for i := range forms {
		forms[i], sizes[i] = uint32(i), 1+r.Int64N(200)
	}
	for range frontiers {
		for i := range forms {
			if r.IntN(4) == 0 {
				forms[i] = uint32(r.IntN(3 * length)) // a form may come back
				sizes[i] = 1 + r.Int64N(sizes[i])
			}
		}
		sums := make([]int64, length+1)
		for i, n := range sizes {
			sums[i+1] = sums[i] + n
		}
		s.ids = append(s.ids, append([]uint32(nil), forms...))
		s.sums = append(s.sums, sums)
	}
	return s
}

// cost returns what the requests of a schedule cost: a frontier for each stage.
func cost(stages []stage, schedule []int, p Prices) float64 {
	total := 0.0
	for k, st := range stages {
		shared := int64(0)
		if k > 0 {
			before := stages[k-1]
			shared = st.sheet.shared(before, schedule[k-1], schedule[k])
		}
		total += p.Money(st.sheet.sums[schedule[k]][st.at], shared)
	}
	return total
}

// shared returns the tokens at the beginning of a request with frontier f that the request before
// it, with frontier g, has as well.
func (s *sheet) shared(before stage, g, f int) int64 {
	return s.sums[f][min(firstDifference(before.sheet.ids[g], s.ids[f]), before.at)]
}

// everySchedule yields all schedules: every frontier for every call that does not go back and is
// not ahead.
func everySchedule(stages []stage, yield func([]int)) {
	schedule := make([]int, len(stages))
	var from func(k int)
	from = func(k int) {
		if k == len(stages) {
			yield(schedule)
			return
		}
		low := 0
		if k > 0 {
			low = schedule[k-1]
		}
		for f := low; f <= stages[k].last; f++ {
			schedule[k] = f
			from(k + 1)
		}
	}
	from(0)
}

func search(t *testing.T, stages []stage, p Prices) ([]int, float64) {
	t.Helper()
	schedule, found, err := best(t.Context(), stages, p)
	require.NoError(t, err)
	return schedule, found
}

// The programme finds what trying every schedule finds, and what it says a schedule costs is what
// it costs.
func TestBestScheduleIsTheCheapestOfAll(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	moved := 0
	for range 2000 {
		stages := made(r)
		p := Prices{Input: 1, Cached: []float64{0, 0.1, 0.5, 1}[r.IntN(4)]}
		least, tried := -1.0, 0
		everySchedule(stages, func(schedule []int) {
			tried++
			if c := cost(stages, schedule, p); least < 0 || c < least {
				least = c
			}
		})
		schedule, found := search(t, stages, p)
		require.Positive(t, tried)
		require.InDelta(t, least, found, 1e-6)
		require.InDelta(t, found, cost(stages, schedule, p), 1e-6)
		if schedule[len(schedule)-1] > 0 {
			moved++
		}
	}
	require.Greater(t, moved, 200, "the conversations give no reason to move")
}

func TestBestScheduleOfNothing(t *testing.T) {
	t.Parallel()
	schedule, found := search(t, nil, Prices{Input: 1})
	require.Empty(t, schedule)
	require.Zero(t, found)
}

// Of schedules that cost the same the one that leaves the frontier where it is wins.
func TestBestScheduleMovesOnlyForAReason(t *testing.T) {
	t.Parallel()
	s := &sheet{diffs: make([][]int, 3)}
	for range 3 {
		s.ids, s.sums = append(s.ids, []uint32{0, 1, 2}), append(s.sums, []int64{0, 10, 20, 30})
	}
	schedule, _ := search(t, []stage{{1, 1, s}, {2, 2, s}, {3, 2, s}}, Prices{Input: 1, Cached: 0.1})
	require.Equal(t, []int{0, 0, 0}, schedule)
}

func TestFrontierTurns(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{0, 1, 2, 3}, frontierTurns(3))
	require.Len(t, frontierTurns(maxFrontiers-1), maxFrontiers)
	many := frontierTurns(10 * maxFrontiers)
	require.LessOrEqual(t, len(many), maxFrontiers)
	require.Zero(t, many[0])
	require.Equal(t, many[1], many[2]-many[1], "it stops at every n-th turn")
}
