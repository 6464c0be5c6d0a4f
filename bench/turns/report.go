package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/bench/turns/loop"
)

// figure reads one figure from a sample.
type figure func(loop.Sample) float64

// Figures that are compared.
var (
	wall  figure = func(s loop.Sample) float64 { return s.Wall }
	cpu   figure = func(s loop.Sample) float64 { return s.CPU }
	alloc figure = func(s loop.Sample) float64 { return float64(s.Allocs) }
	kib   figure = func(s loop.Sample) float64 { return float64(s.AllocKB) }
	start figure = func(s loop.Sample) float64 { return s.StartMiB }
	peak  figure = func(s loop.Sample) float64 { return s.PeakMiB }
	drain figure = func(s loop.Sample) float64 { return s.Drain }
)

// printTurns prints the medians of every peer, as docs/performance.md has them.
func printTurns(w io.Writer, results []result) {
	t := table{{"", "ms a turn", "CPU ms a turn", "allocations a turn", "KiB allocated a turn", "peak MiB", "of it before the first turn"}}
	for _, r := range results {
		t.add("**"+r.load.String()+"**", "", "", "", "", "", "")
		for _, p := range r.peers {
			t.add(p.name, fmt.Sprintf("%.2f", r.perTurn(p.name, wall)), fmt.Sprintf("%.2f", r.perTurn(p.name, cpu)),
				count(r.perTurn(p.name, alloc)), count(r.perTurn(p.name, kib)), count(r.median(p.name, peak)), count(r.median(p.name, start)))
		}
	}
	t.print(w)
	fmt.Fprintln(w)
	for _, r := range results {
		fmt.Fprintf(w, "%s: the rows were delivered %.0f ms after the last answer.\n", r.load, r.median(nameWindlass, drain))
	}
	printUndelivered(w, results)
}

func printUndelivered(w io.Writer, results []result) {
	for _, r := range results {
		for _, line := range r.undelivered() {
			fmt.Fprintf(w, "\n%s\n", line)
		}
	}
}

// printRatios prints how windlass, and the one before, compare with the floors and with each other.
func printRatios(w io.Writer, results []result) {
	t := table{{""}}
	for _, r := range results {
		t[0] = append(t[0], r.load.String())
	}
	for _, pair := range pairs(results[0].peers) {
		for _, of := range []struct {
			what string
			figure
		}{{"time", wall}, {"CPU", cpu}} {
			row := []string{fmt.Sprintf("%s / %s, %s", pair[0], pair[1], of.what)}
			for _, r := range results {
				row = append(row, ratios(r.samples[pair[0]], r.samples[pair[1]], of.figure).String())
			}
			t.add(row...)
		}
	}
	t.print(w)
}

// pairs returns who is compared with whom.
func pairs(peers []peer) [][2]string {
	out := [][2]string{{nameWindlass, nameOpenAI}, {nameWindlass, nameHTTP}}
	if slices.ContainsFunc(peers, func(p peer) bool { return p.name == nameBefore }) {
		out = append(out, [2]string{nameBefore, nameOpenAI}, [2]string{nameWindlass, nameBefore})
	}
	return out
}

func (r result) median(name string, of figure) float64 {
	var v []float64
	for _, s := range r.samples[name] {
		v = append(v, of(s))
	}
	return middle(v)
}

func (r result) perTurn(name string, of figure) float64 {
	return r.median(name, of) / float64(r.load.turns*r.load.conversations)
}

// middle returns the median, and sorts what it is given.
func middle(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

// span is a median with the range of all rounds.
type span struct{ median, from, to float64 }

func (s span) String() string { return fmt.Sprintf("%.2f (%.2f to %.2f)", s.median, s.from, s.to) }

// ratios compares a figure of two peers round by round.
func ratios(a, b []loop.Sample, of figure) span {
	var v []float64
	for i := range a {
		v = append(v, of(a[i])/of(b[i]))
	}
	return spanOf(v)
}

func spanOf(v []float64) span {
	mid := middle(v)
	return span{mid, v[0], v[len(v)-1]}
}

// table is a table in Markdown; its first row is the head.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

func (t table) print(w io.Writer) {
	fmt.Fprintln(w)
	for i, row := range t {
		fmt.Fprintln(w, strings.ReplaceAll("| "+strings.Join(row, " | ")+" |", "  ", " "))
		if i == 0 {
			fmt.Fprintln(w, "|"+strings.Repeat("---|", len(row)))
		}
	}
}

// count returns a figure without decimals.
func count(f float64) string { return thousands(int(f + 0.5)) }

// thousands returns a number of at most six digits with a comma between the thousands.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// machine says what the figures were measured on.
func machine(began, ended string) string {
	return fmt.Sprintf("Measured with %s on %s/%s, %d CPUs; load %s when it began, %s when it ended.",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), began, ended)
}

// loadAverage returns how many processes wanted to run, on average of the last minute.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(data), " ")
	return load
}
