package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// show writes the tables.
func show(w io.Writer, b *bench, rows []*row) {
	fmt.Fprintf(w, "%d candidates of %d turns", b.candidates, b.turns)
	if b.steps > 0 {
		fmt.Fprintf(w, ", and %d steps of refinement", b.steps)
	}
	fmt.Fprintf(w, "; tool results of %d to %d tokens. US dollars, by the server's bill; in the sounding with its judging.\n\n",
		int(b.scale*float64(slices.Min(sizes))), int(b.scale*float64(slices.Max(sizes))))
	fmt.Fprintln(w, "| prefix (tokens) | five runs, full history, no cache | five runs, full history, a cache in each | one sounding, full history | one sounding, masked | of that the judging | one sounding, masked, no cache |")
	fmt.Fprintln(w, "|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range rows {
		fmt.Fprintf(w, "| %d | %.4f | %.4f | %.4f | %.4f | %.4f (%d ballots) | %.4f |\n", r.prefix, r.uncached.usd(), r.separate.usd(), r.shared.usd(), r.masked.usd(), r.masked.judged.usd, r.masked.judged.calls, r.maskedNoCache.usd())
	}
	fmt.Fprintln(w, "\nWhat saves how much, each against the one before it, and all together:")
	fmt.Fprintln(w, "\n| prefix (tokens) | caching inside each run | sharing the prefix, less the judging | masking | the sounding against five runs with a cache | against no cache at all |")
	fmt.Fprintln(w, "|--:|--:|--:|--:|--:|--:|")
	for _, r := range rows {
		fmt.Fprintf(w, "| %d | %s | %s | %s | **%s** | **%s** |\n", r.prefix, less(r.separate.usd(), r.uncached.usd()), less(r.shared.usd(), r.separate.usd()),
			less(r.masked.usd(), r.shared.usd()), less(r.masked.usd(), r.separate.usd()), less(r.masked.usd(), r.uncached.usd()))
	}
	fmt.Fprintln(w, "\nCandidates alone, without the judging, and what was asked for:")
	fmt.Fprintln(w, "\n| prefix (tokens) | five runs | candidates, full history | candidates, masked | less than five runs | read from the cache | the record says that the shared prefix saved |")
	fmt.Fprintln(w, "|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range rows {
		all := r.masked.tried
		all.add(r.masked.judged)
		fmt.Fprintf(w, "| %d | %.4f | %.4f | %.4f | %s | %.0f %% | $%.4f |\n", r.prefix, r.separate.usd(), r.shared.tried.usd, r.masked.tried.usd,
			less(r.masked.tried.usd, r.separate.usd()), 100*float64(all.cached)/float64(all.in), r.masked.said)
	}
	fmt.Fprintln(w, "\nWhere the money goes:")
	fmt.Fprintln(w, "\n| prefix (tokens) | | calls | sent anew | read from the cache | written by the model | all |")
	fmt.Fprintln(w, "|--:|---|--:|--:|--:|--:|--:|")
	for _, r := range rows {
		for _, of := range []struct {
			what string
			sum
		}{
			{"five runs, a cache in each", r.separate.tried},
			{"candidates, full history", r.shared.tried},
			{"candidates, masked", r.masked.tried},
			{"judging", r.masked.judged},
		} {
			sent, read, written := parts(of.sum)
			fmt.Fprintf(w, "| %d | %s | %d | %.4f | %.4f | %.4f | %.4f |\n", r.prefix, of.what, of.calls, sent, read, written, of.usd)
		}
	}
}

// parts are what a bill is made of, in US dollars.
func parts(s sum) (sent, read, written float64) {
	usd := func(tokens, price int64) float64 { return float64(tokens*price) / llmtest.Nano }
	return usd(s.in-s.cached, prices.Input), usd(s.cached, prices.Cached), usd(s.out, prices.Output)
}

// less says by how much a sum is less than another one.
func less(now, before float64) string {
	if now > before {
		return fmt.Sprintf("%.1f %% more", 100*(now/before-1))
	}
	return fmt.Sprintf("%.1f %% less", 100*(1-now/before))
}
