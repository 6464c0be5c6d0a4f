package election

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var usual = Rules{Min: 3, Max: 10, Confidence: 0.9}

// among returns candidates 1 to k, with so many copies each; the last number is that of those that are left.
func among(k int, copies ...int) []Candidate {
	all := make([]Candidate, k)
	for i := range all {
		all[i] = Candidate{Number: i + 1, Copies: 1}
		if len(copies) > 0 {
			all[i].Copies = copies[min(i, len(copies)-1)]
		}
	}
	return all
}

// castFor adds pairs that are votes for the numbers; 0 is none.
func (e *Election) castFor(numbers ...int) *Election {
	for _, n := range numbers {
		e.Add(e.pairs+1, Names(n), Names(n))
	}
	return e
}

func times(n, number int) []int { return slices.Repeat([]int{number}, n) }

func TestWhatAPairIsWorth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		first, second Said
		vote          int
		ok            bool
		flipped       int
	}{
		{"both name the same", Names(2), Names(2), 2, true, 0},
		{"both name number 0", Names(0), Names(0), 0, true, 0},
		{"they differ", Names(2), Names(0), 0, false, 1},
		{"two ties", Said{}, Said{}, 0, false, 0},
		{"a tie, then a name", Said{}, Names(2), 0, false, 0},
		{"a name, then a tie", Names(2), Said{}, 0, false, 0},
		{"a number that is not there", Names(7), Names(7), 0, false, 0},
		{"and one that is", Names(7), Names(2), 0, false, 0},
		{"a number without a name", Said{Number: 2}, Said{Number: 2}, 0, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := New("s", []Candidate{{Number: 2}, {Number: 0}}, usual)
			vote, ok := e.Add(1, c.first, c.second)
			require.Equal(t, c.vote, vote)
			require.Equal(t, c.ok, ok)
			d := e.Decision()
			require.Equal(t, 1, d.Pairs)
			require.Equal(t, c.flipped, d.Flipped)
			require.False(t, d.Decided)
			if ok {
				require.Equal(t, 1, d.Standings[slices.Index(e.Numbers(), vote)].Votes)
			} else {
				require.Equal(t, []float64{1, 1}, e.EValues())
				require.InDelta(t, 1, d.EValue, 0)
			}
		})
	}
}

// The figures are recorded, so a change of any of them changes what a replay comes to.
func TestDecisions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		candidates []Candidate
		rules      Rules
		votes      []int
		winner     int
		eValue     float64
		eValues    []float64
		notBeaten  []int
	}{
		{"no votes", among(2), usual, nil, 0, 1, []float64{1, 1}, []int{1, 2}},
		{"pairs without a vote", among(2), usual, times(6, 0), 0, 1, []float64{1, 1}, []int{1, 2}},
		{"four of two", among(2), usual, times(4, 2), 0, 5.55048, []float64{0.002398, 11.0986}, []int{2}},
		{"five of two", among(2), usual, times(5, 2), 2, 10.1564, []float64{0.0008518, 20.3119}, []int{2}},
		{"pairs without a vote between them", among(2), usual, []int{0, 2, 2, 0, 2, 2, 0, 2}, 2, 10.1564, []float64{0.0008518, 20.3119}, []int{2}},
		{"eight to one", among(2), usual, append([]int{2}, times(8, 1)...), 1, 10.2199, []float64{20.4396, 0.000120418}, []int{1}},
		{"eleven to two", among(2), Rules{Min: 3, Max: 20, Confidence: 0.9}, append([]int{2, 2}, times(11, 1)...), 1, 10.8447, []float64{21.6894, 2.20191e-05}, []int{1}},
		{"four to one", among(2), usual, []int{2, 2, 2, 1, 2}, 0, 0.944566, []float64{0.0039442, 1.88519}, []int{2}},
		{"two to one", among(2), usual, []int{2, 2, 1}, 0, 0.3202, []float64{0.06322, 0.57718}, []int{2}},
		{"three to two", among(3), usual, []int{2, 1, 1, 2, 2}, 0, 0.214832, []float64{0.0500512, 0.593594, 0.0008518}, []int{1, 2}},
		{"level", among(2), usual, []int{1, 2, 1, 2}, 0, 0.112078, []float64{0.112078, 0.112078}, []int{1, 2}},
		{"four of three: not all are equal, but no other is beaten", among(3), usual, times(4, 1), 0, 16.5078, []float64{49.5187, 0.002398, 0.002398}, []int{1}},
		{"five of five", among(5), usual, times(5, 4), 4, 299.28, []float64{0.0008518, 0.0008518, 0.0008518, 1496.39, 0.0008518}, []int{4}},
		{"all others are beaten but one", among(5), usual, []int{4, 4, 1, 4, 4}, 0, 11.3844, []float64{0.0085828, 0.0008518, 0.0008518, 56.9106, 0.0008518}, []int{4}},
		{"two level of five", among(5), Rules{Min: 3, Max: 60, Confidence: 0.9}, slices.Repeat([]int{1, 2}, 15), 0, 3.52363, []float64{8.80908, 8.80908, 1.86265e-11, 1.86265e-11, 1.86265e-11}, []int{1, 2}},
		{"before min", among(2), Rules{Min: 7, Max: 10, Confidence: 0.9}, times(6, 2), 0, 18.6048, []float64{0.00035758, 37.2092}, []int{2}},
		{"at min", among(2), Rules{Min: 7, Max: 10, Confidence: 0.9}, append(times(6, 2), 0), 2, 18.6048, []float64{0.00035758, 37.2092}, []int{2}},
		{"copies count", among(2, 19, 1), usual, times(4, 1), 1, 10.5437, []float64{11.0986, 0.002398}, []int{1}},
		{"but not enough", among(2, 4, 1), usual, times(4, 1), 0, 8.87933, []float64{11.0986, 0.002398}, []int{1}},
		{"copies against", among(2, 4, 1), usual, times(5, 2), 0, 4.06307, []float64{0.0008518, 20.3119}, []int{2}},
		{"copies of three", among(3, 19, 1, 20), usual, times(4, 1), 0, 23.5226, []float64{49.5187, 0.002398, 0.002398}, []int{1}},
		{"less confidence", among(2), Rules{Min: 1, Max: 10, Confidence: 0.6}, times(3, 1), 1, 3.0394, []float64{6.07042, 0.00838}, []int{1}},
		{"no confidence is enough", among(2), Rules{Min: 1, Max: 60, Confidence: 1}, times(50, 1), 0, 1.41595e+13, []float64{2.83189e+13, 1.77636e-17}, []int{1}},
		{"confidence of nothing", among(2), Rules{Min: 1, Max: 10}, times(9, 1), 0, 114.986, []float64{229.973, 3.94212e-05}, []int{1}},
		{"confidence above one", among(2), Rules{Min: 1, Max: 10, Confidence: 2}, times(9, 1), 0, 114.986, []float64{229.973, 3.94212e-05}, []int{1}},
		{"confidence that is none", among(2), Rules{Min: 1, Max: 10, Confidence: math.NaN()}, times(9, 1), 0, 114.986, []float64{229.973, 3.94212e-05}, []int{1}},
		{"one candidate", among(1), usual, times(9, 1), 0, 1, []float64{0}, []int{1}},
		{"no candidate", nil, usual, times(9, 1), 0, 1, []float64{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := New("s", c.candidates, c.rules).castFor(c.votes...)
			d := e.Decision()
			require.Equal(t, c.winner > 0, d.Decided)
			require.Equal(t, c.winner, d.Winner)
			require.Equal(t, c.notBeaten, d.NotBeaten)
			require.Equal(t, len(c.votes), d.Pairs)
			require.Equal(t, c.eValues, e.EValues())
			require.Equal(t, fmt.Sprint(c.eValue), fmt.Sprint(d.EValue))
			for i, n := range e.Numbers() {
				require.Equal(t, fmt.Sprint(c.eValues[i]), fmt.Sprint(e.EValue(n)))
				require.Equal(t, fmt.Sprint(c.eValues[i]), fmt.Sprint(d.Standings[i].EValue))
			}
		})
	}
}

func TestTheEValueOfNobodyIsZero(t *testing.T) {
	t.Parallel()
	require.Zero(t, New("s", among(2), usual).EValue(3))
}

// A winner stays the winner, whatever is added.
func TestAWinnerStays(t *testing.T) {
	t.Parallel()
	e := New("s", among(2), Rules{Min: 1, Max: 40, Confidence: 0.9}).castFor(times(5, 1)...)
	require.Equal(t, 1, e.Decision().Winner)
	require.Nil(t, e.Next())
	e.castFor(times(20, 2)...)
	require.Equal(t, 1, e.Decision().Winner)
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		k     int
		rules Rules
		votes []int
		next  []int
	}{
		{"two: fewer than five cannot decide", 2, usual, nil, []int{1, 2, 3, 4, 5}},
		{"five: likewise", 5, usual, nil, []int{1, 2, 3, 4, 5}},
		{"min is more", 5, Rules{Min: 7, Max: 10, Confidence: 0.9}, nil, []int{1, 2, 3, 4, 5, 6, 7}},
		{"a vote is missing", 2, usual, []int{1, 1, 0, 1, 1}, []int{6}},
		{"three votes are missing, and there is room for two that are none", 2, usual, []int{1, 1, 0, 0, 0}, []int{6, 7, 8}},
		{"no room", 2, usual, []int{1, 1, 0, 0, 0, 0, 0}, []int{8}},
		{"out of reach", 2, usual, []int{1, 1, 0, 0, 0, 0, 0, 0}, nil},
		{"eight to one is still possible", 2, usual, []int{1, 1, 1, 2, 0}, []int{6}},
		{"and now it is not", 2, usual, []int{1, 1, 1, 2, 0, 0}, nil},
		{"not before min", 2, Rules{Min: 10, Max: 10, Confidence: 0.9}, []int{1, 1, 1, 2, 0}, []int{6, 7, 8, 9, 10}},
		{"too few for any decision", 2, Rules{Min: 2, Max: 4, Confidence: 0.9}, nil, []int{1, 2}},
		{"held", 2, Rules{Min: 2, Max: 4, Confidence: 0.9}, []int{1, 1}, nil},
		{"decided", 2, usual, times(5, 1), nil},
		{"max below min", 2, Rules{Min: 3, Max: 2, Confidence: 0.9}, nil, []int{1, 2, 3}},
		{"nothing is set", 2, Rules{}, nil, []int{1}},
		{"one candidate", 1, usual, nil, nil},
		{"none", 0, usual, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.next, New("s", among(c.k), c.rules).castFor(c.votes...).Next())
		})
	}
}

func TestFewest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k          int
		confidence float64
		pairs      int
	}{
		{2, 0.6, 3},
		{2, 0.8, 4},
		{2, 0.9, 5},
		{2, 0.95, 7},
		{2, 0.99, 9},
		{2, 0.999, 13},
		{3, 0.9, 5},
		{4, 0.9, 5},
		{5, 0.9, 5},
		{5, 0.6, 3},
		{5, 0.95, 7},
		{5, 0.99, 9},
		{64, 0.9, 5},
	} {
		pairs, ok := Fewest(c.k, c.confidence)
		require.True(t, ok)
		require.Equal(t, c.pairs, pairs, c)
	}
	for _, c := range []float64{0, 1, -1, math.NaN()} {
		_, ok := Fewest(2, c)
		require.False(t, ok, c)
	}
	_, ok := Fewest(1, 0.9)
	require.False(t, ok)
}

func TestPairsAreAddedInOrder(t *testing.T) {
	t.Parallel()
	e := New("s", among(2), Rules{Min: 1, Max: 2, Confidence: 0.9}).castFor(1)
	require.PanicsWithValue(t, "election: pair 3 is added after pair 1 of 2", func() { e.Add(3, Said{}, Said{}) })
	require.PanicsWithValue(t, "election: pair 1 is added after pair 1 of 2", func() { e.Add(1, Said{}, Said{}) })
	e.castFor(1)
	require.PanicsWithValue(t, "election: pair 3 is added after pair 2 of 2", func() { e.Add(3, Said{}, Said{}) })
}

// Against each other candidate alone less confidence may be enough; it does not replace that of the election.
func TestAlone(t *testing.T) {
	t.Parallel()
	fewest := func(k int, alone float64) int {
		e := New("s", among(k), Rules{Min: 1, Max: 50, Confidence: 0.999, Alone: alone})
		need, ok := e.need(50)
		require.True(t, ok)
		return need
	}
	require.Equal(t, fewest(5, 0), fewest(5, 0.999))
	require.Less(t, fewest(5, 0.9), fewest(5, 0))
	require.Equal(t, fewest(2, 0), fewest(2, 0.9), "of two candidates each is against the other one alone")
}
