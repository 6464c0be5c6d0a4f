// Command context measures the context settings on recorded conversations and holds the figures to the bars that the
// project has set itself. It is run by `make bench-context DATA=FOLDER` and ends with 1 when a bar is missed.
//
// The folder has transcripts/*.jsonl, files for windlass simulate, and retry/*.jsonl, a line per attempt of texts that were
// rewritten until they were accepted. It is not part of the project.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/windlass-run/windlass/internal/simulate"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: make bench-context DATA=FOLDER")
		os.Exit(2)
	}
	passed, err := measure(context.Background(), os.Stdout, os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
	if !passed {
		os.Exit(1)
	}
}

// The prices that bars are set for: nothing cached, cached at a tenth, and at a half.
var prices = []simulate.Prices{
	{Name: "1", Input: 1, Cached: 1},
	{Name: "0.1", Input: 1, Cached: 0.1},
	{Name: "0.5", Input: 1, Cached: 0.5},
}

// measure prints what it finds and reports whether every bar was reached.
func measure(ctx context.Context, w io.Writer, data string) (bool, error) {
	report, err := replayTranscripts(ctx, data)
	if err != nil {
		return false, err
	}
	retries, err := replayRetries(ctx, data)
	if err != nil {
		return false, err
	}
	for _, g := range append(report.Groups, report.Total...) {
		if err := printGroup(w, g); err != nil {
			return false, err
		}
	}
	passed := true
	for _, b := range append(barsOf(report), retries...) {
		verdict := "pass"
		if !b.passed {
			verdict, passed = "FAIL", false
		}
		fmt.Fprintf(w, "%s  %s: %s\n", verdict, b.name, b.found)
	}
	return passed, nil
}

func replayTranscripts(ctx context.Context, data string) (*simulate.Report, error) {
	paths, err := filepath.Glob(filepath.Join(data, "transcripts", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has no transcripts/*.jsonl", data)
	}
	var all []*simulate.Conversation
	for _, path := range paths {
		found, err := simulate.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			c.File = filepath.Base(path)
		}
		all = append(all, found...)
	}
	sim := &simulate.Simulation{Policies: simulate.WithHindsight(simulate.ComparisonSet()), Prices: prices}
	sum := simulate.NewCollector(sim)
	err = sim.Run(ctx, all, func(o *simulate.Outcome) error {
		sum.Add(o)
		return nil
	})
	return sum.Report(), err
}

func printGroup(w io.Writer, g *simulate.Group) error {
	name := g.File
	if name == "" {
		name = "all files"
	}
	fmt.Fprintf(w, "%s: %d conversations, %d calls, %d tokens with full history; %s\n", name, g.Conversations, g.Calls, g.TokensFull, g.Prices)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "policy\ttokens sent\tsaved\tcached\tcost\tof best\tof full\tworst of full\tconversation\tinvalid\treferences kept\t")
	for _, s := range g.Policies {
		fmt.Fprintf(t, "%s\t%d\t%.1f%%\t%.1f%%\t%.0f\t%s\t%.3f\t%.3f\t%d\t%d\t%s\t\n", s.Policy, s.TokensSent, s.Saved*100, s.Cached*100,
			s.Money, figure("%.3f", s.OfBest), s.OfFull, s.Worst, s.WorstAt, s.Invalid, figure("%.1f%%", percent(s.KeptShare)))
	}
	err := t.Flush()
	fmt.Fprintln(w)
	return err
}

func figure(format string, v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

func percent(v *float64) *float64 {
	if v == nil {
		return nil
	}
	p := *v * 100
	return &p
}

var errNoRecords = errors.New("there is no record in it")
