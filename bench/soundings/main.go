// Command soundings measures what five candidates of a long tool phase cost: as one sounding of windlass, and as five runs of
// their own that send their full history, as most tools do. Both are the built program against the same local server, which
// bills every request by its bytes and has a prefix cache. What sharing a prefix, caching and masking save is told apart.
// `make bench-soundings` runs it; docs/soundings.md explains the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, w io.Writer) error {
	fs := flag.NewFlagSet("soundings", flag.ContinueOnError)
	prefixes := fs.String("prefixes", "1000,20000,60000", "`TOKENS` of the instructions, which all candidates share")
	turns := fs.Int("turns", 15, "model calls of a candidate, the last of which answers")
	candidates := fs.Int("candidates", 5, "how many there are")
	steps := fs.Int("steps", 0, "steps of refinement after the choice, each with two more candidates")
	scale := fs.Float64("results", 1, "how much longer tool results are than those of the table")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var sizes []int
	for _, text := range strings.Split(*prefixes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return errors.New("--prefixes is a list of numbers above 0, as 1000,20000")
		}
		sizes = append(sizes, n)
	}
	b := &bench{candidates: *candidates, turns: *turns, steps: *steps, scale: *scale}
	if err := b.build(ctx); err != nil {
		return err
	}
	defer b.close()
	var rows []*row
	for _, n := range sizes {
		r, err := b.measure(ctx, n)
		if err != nil {
			return fmt.Errorf("with a prefix of %d tokens: %w", n, err)
		}
		rows = append(rows, r)
	}
	show(w, b, rows)
	return nil
}
