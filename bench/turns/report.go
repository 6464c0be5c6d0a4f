package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// result is one workload with the samples of every variant, in the order of the rounds.
type result struct {
	load    load
	peers   []peer
	samples map[string][]sample // by the names of peers
}

// printResult prints medians, and the ratios of windlass to each floor, round by round.
func printResult(w io.Writer, r result) {
	fmt.Fprintf(w, "\n%s, %d-character tool results (medians of %d rounds)\n", r.load, resultSize, len(r.samples[variantWindlass]))
	fmt.Fprintf(w, "  %-10s %12s %12s %12s %12s %10s %12s\n", "", "ms/turn", "cpu ms/turn", "allocs/turn", "KiB/turn", "peak MiB", "drain ms")
	turns := float64(r.load.turns * r.load.conversations)
	for _, p := range r.peers {
		s := r.samples[p.name]
		fmt.Fprintf(w, "  %-10s %12.3f %12.3f %12.0f %12.1f %10.1f %12.1f\n", p.name,
			median(s, func(s sample) float64 { return s.WallMS })/turns, median(s, func(s sample) float64 { return s.CPUMS })/turns,
			median(s, func(s sample) float64 { return float64(s.Allocs) })/turns, median(s, func(s sample) float64 { return float64(s.AllocKB) })/turns,
			median(s, func(s sample) float64 { return s.PeakMiB }), median(s, func(s sample) float64 { return s.DrainMS }))
	}
	for _, p := range r.peers {
		if p.variant != variantWindlass {
			continue
		}
		for _, floor := range []string{variantOpenAI, variantHTTP} {
			lo, mid, hi := ratios(r.samples[p.name], r.samples[floor])
			fmt.Fprintf(w, "  %-8s / %-10s %.2f  (%.2f to %.2f)\n", p.name, floor, mid, lo, hi)
		}
	}
	fmt.Fprintf(w, "  rows delivered per run: %.0f\n", median(r.samples[variantWindlass], func(s sample) float64 { return float64(s.Delivered) }))
}

func median(s []sample, of func(sample) float64) float64 {
	v := make([]float64, len(s))
	for i := range s {
		v[i] = of(s[i])
	}
	return middle(v)
}

func middle(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

// ratios compares two variants round by round.
func ratios(a, b []sample) (lo, mid, hi float64) {
	var v []float64
	for i := range a {
		v = append(v, a[i].WallMS/b[i].WallMS)
	}
	mid = middle(v)
	return v[0], mid, v[len(v)-1]
}

// measureStart times whole one-turn runs of the command with a warm engine, from start to exit. The sessions of the
// other measurements are removed first: they have no mark of delivery, so each run would spend two seconds on delivering them.
func measureStart(ctx context.Context, n int, url, dir string) error {
	bin, err := buildCommand(ctx, dir)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "sessions")); err != nil {
		return err
	}
	file := filepath.Join(dir, "one.json")
	if err := os.WriteFile(file, []byte(`{"cascade_id":"one","phases":[{"name":"p","instructions":"Say done."}]}`), 0o600); err != nil {
		return err
	}
	var walls []float64
	for i := range n + 1 {
		cmd := exec.CommandContext(ctx, bin, "run", file, "--model", "bench")
		cmd.Env = append(os.Environ(), "WINDLASS_HOME="+dir, "OPENAI_API_KEY=bench", fmt.Sprintf("OPENAI_BASE_URL=%s/start%d/1", url, i))
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("one-turn run: %w\n%s", err, out)
		}
		if i > 0 {
			walls = append(walls, ms(time.Since(start)))
		}
	}
	mid := middle(walls)
	fmt.Printf("\none-turn run of the command, warm engine, rows delivered: %.0f ms  (%.0f to %.0f, %d runs)\n", mid, walls[0], walls[len(walls)-1], n)
	return nil
}
