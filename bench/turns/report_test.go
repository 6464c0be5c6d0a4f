package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/bench/turns/loop"
)

// constant returns a result in which every round of a peer took the same for a turn.
func constant(l load, rounds int, perTurn map[string]float64) result {
	r := result{load: l, samples: map[string][]loop.Sample{}}
	turns := float64(l.turns * l.conversations)
	for _, name := range []string{nameOpenAI, nameHTTP, nameWindlass, nameBefore} {
		ms, ok := perTurn[name]
		if !ok {
			continue
		}
		r.peers = append(r.peers, peer{name: name})
		for range rounds {
			r.samples[name] = append(r.samples[name], loop.Sample{
				Wall: ms * turns, CPU: 2 * ms * turns, Drain: 20, Allocs: uint64(1200 * turns), AllocKB: uint64(80 * turns), StartMiB: 30, PeakMiB: 99.6,
			})
		}
	}
	return r
}

func TestReadSample(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		out  string
		want loop.Sample
		err  string
	}{
		{
			`{"wall_ms":12.5,"drain_ms":3,"cpu_ms":10,"allocs":7,"alloc_kb":8,"start_mib":6,"peak_mib":11.5,"delivered":157}` + "\n",
			loop.Sample{Wall: 12.5, Drain: 3, CPU: 10, Allocs: 7, AllocKB: 8, StartMiB: 6, PeakMiB: 11.5, Delivered: 157},
			"",
		},
		{`{"wall_ms":1,"undelivered":"gone"}`, loop.Sample{Wall: 1, Undelivered: "gone"}, ""},
		{`done`, loop.Sample{}, `read the sample "done": invalid character 'd' looking for beginning of value`},
		{``, loop.Sample{}, `read the sample "": unexpected end of JSON input`},
		{`{}`, loop.Sample{}, `read the sample "{}": it took no time`},
	} {
		s, err := readSample([]byte(tc.out))
		if tc.err != "" {
			require.EqualError(t, err, tc.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, tc.want, s)
	}
}

func TestMedians(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		assert.InDelta(t, tc.want, middle(tc.values), 1e-9)
	}
}

func TestRatios(t *testing.T) {
	t.Parallel()
	walls := func(ms ...float64) (s []loop.Sample) {
		for _, v := range ms {
			s = append(s, loop.Sample{Wall: v, CPU: 1})
		}
		return s
	}
	got := ratios(walls(1, 6, 2), walls(2, 2, 2), wall)
	assert.Equal(t, span{1, 0.5, 3}, got)
	assert.Equal(t, "1.00 (0.50 to 3.00)", got.String())
	assert.Equal(t, span{1, 1, 1}, ratios(walls(1, 2), walls(3, 4), cpu))
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1361: "1,361", 123045: "123,045"} {
		assert.Equal(t, want, thousands(n))
	}
	assert.Equal(t, "2", count(1.5))
}

func TestPrintTurns(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	printTurns(&b, []result{
		constant(load{200, 1}, 3, map[string]float64{nameHTTP: 0.25, nameWindlass: 0.5}),
		constant(load{50, 64}, 3, map[string]float64{nameHTTP: 0.125, nameWindlass: 0.25}),
	})
	assert.Equal(t, `
| | ms a turn | CPU ms a turn | allocations a turn | KiB allocated a turn | peak MiB | of it before the first turn |
|---|---|---|---|---|---|---|
| **200 turns** | | | | | | |
| net/http | 0.25 | 0.50 | 1,200 | 80 | 100 | 30 |
| windlass | 0.50 | 1.00 | 1,200 | 80 | 100 | 30 |
| **64 conversations of 50 turns at once** | | | | | | |
| net/http | 0.12 | 0.25 | 1,200 | 80 | 100 | 30 |
| windlass | 0.25 | 0.50 | 1,200 | 80 | 100 | 30 |

200 turns: the rows were delivered 20 ms after the last answer.
64 conversations of 50 turns at once: the rows were delivered 20 ms after the last answer.
`, b.String())
}

func TestPrintUndelivered(t *testing.T) {
	t.Parallel()
	r := constant(load{50, 256}, 3, map[string]float64{nameHTTP: 1, nameWindlass: 1})
	r.samples[nameWindlass][1].Undelivered = "157 rows of the session wait for ClickHouse"
	var b bytes.Buffer
	printUndelivered(&b, []result{r})
	assert.Equal(t, "\n256 conversations of 50 turns at once, windlass: rows were left in 1 of 3 processes: "+
		"157 rows of the session wait for ClickHouse\n", b.String())
}

func TestPrintRatios(t *testing.T) {
	t.Parallel()
	results := []result{constant(load{50, 1}, 1, map[string]float64{nameOpenAI: 1, nameHTTP: 0.5, nameWindlass: 0.75, nameBefore: 1.5})}
	var b bytes.Buffer
	printRatios(&b, results)
	assert.Equal(t, `
| | 50 turns |
|---|---|
| windlass / openai-go, time | 0.75 (0.75 to 0.75) |
| windlass / openai-go, CPU | 0.75 (0.75 to 0.75) |
| windlass / net/http, time | 1.50 (1.50 to 1.50) |
| windlass / net/http, CPU | 1.50 (1.50 to 1.50) |
| before / openai-go, time | 1.50 (1.50 to 1.50) |
| before / openai-go, CPU | 1.50 (1.50 to 1.50) |
| windlass / before, time | 0.50 (0.50 to 0.50) |
| windlass / before, CPU | 0.50 (0.50 to 0.50) |
`, b.String())
}

func TestBars(t *testing.T) {
	t.Parallel()
	const head = "\n| | measured | bar | aim | |\n|---|---|---|---|---|\n"
	for name, tc := range map[string]struct {
		perTurn [3]float64 // of windlass, as openai-go takes 1 ms
		left    string     // why a process of windlass left rows
		err     string
		want    string
	}{
		"all met": {
			[3]float64{0.7, 0.25, 0.5},
			"",
			"",
			"| 50 turns, time / openai-go | 0.70 (0.70 to 0.70) | 0.7 | 0.6 | met |\n" +
				"| 200 turns, time / openai-go | 0.25 (0.25 to 0.25) | 0.4 | 0.3 | met |\n" +
				"| 64 conversations of 50 turns at once, time / openai-go | 0.50 (0.50 to 0.50) | 0.8 | 0.5 | met |\n" +
				"| processes that left rows undelivered | 0 | 0 | 0 | met |\n" +
				"| 64 conversations of 50 turns at once, peak MiB | 100 | 100 | 60 | met |\n",
		},
		"three missed": {
			[3]float64{0.75, 0.25, 2},
			"ClickHouse is away",
			"3 of 5 bars are missed",
			"| 50 turns, time / openai-go | 0.75 (0.75 to 0.75) | 0.7 | 0.6 | **missed** |\n" +
				"| 200 turns, time / openai-go | 0.25 (0.25 to 0.25) | 0.4 | 0.3 | met |\n" +
				"| 64 conversations of 50 turns at once, time / openai-go | 2.00 (2.00 to 2.00) | 0.8 | 0.5 | **missed** |\n" +
				"| processes that left rows undelivered | 1 | 0 | 0 | **missed** |\n" +
				"| 64 conversations of 50 turns at once, peak MiB | 100 | 100 | 60 | met |\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var results []result
			for i, l := range turnLoads {
				results = append(results, constant(l, 3, map[string]float64{nameOpenAI: 1, nameWindlass: tc.perTurn[i]}))
			}
			results[1].samples[nameWindlass][2].Undelivered = tc.left
			var b bytes.Buffer
			err := judge(&b, turnBars(results))
			assert.Equal(t, head+tc.want, b.String())
			if tc.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, tc.err)
			}
		})
	}
}

func TestPrintJournaling(t *testing.T) {
	t.Parallel()
	m := loop.Journaling{
		Wall:  [][]float64{{10, 20, 30}, {10, 20, 30}, {11, 22, 33}, {20, 40, 60}},
		CPU:   [][]float64{{5, 5, 5}, {5, 5, 5}, {6, 6, 6}, {10, 10, 10}},
		Syncs: 300, Bytes: 150 * 2048,
	}
	var b bytes.Buffer
	printJournaling(&b, m)
	assert.Equal(t, `
| | ms a turn | added, % | CPU ms a turn | added, % |
|---|---|---|---|---|
| no journal | 0.400 | | 0.100 | |
| no journal, again | 0.400 | 0.0 (0.0 to 0.0) | 0.100 | 0.0 (0.0 to 0.0) |
| journal, not synced | 0.440 | 10.0 (10.0 to 10.0) | 0.120 | 20.0 (20.0 to 20.0) |
| journal | 0.800 | 100.0 (100.0 to 100.0) | 0.200 | 100.0 (100.0 to 100.0) |

Medians of 3 rounds; 2.00 syncs and 2.0 KiB a turn.
`, b.String())
}

func TestMachine(t *testing.T) {
	t.Parallel()
	assert.Regexp(t, `^Measured with go\S+ on \w+/\w+, \d+ CPUs; load 1.5 when it began, 2 when it ended\.$`, machine("1.5", "2"))
}
