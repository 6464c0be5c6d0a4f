package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/windlass-run/windlass/engine/election"
)

// show writes the figures as a table.
func show(w io.Writer, o options, rules election.Rules, all []figures) error {
	fmt.Fprintf(w, "%d elections for each line, through engine/%s; seed %s; %d to %d pairs of ballots, confidence %v\n"+
		"shares in %%; money: 1 is what it costs a judge to read one answer, and the task is as long as one; one call has a\n"+
		"winner among equals in 100%%\n\n",
		o.elections, o.through, o.seed, rules.Min, rules.Max, rules.Confidence)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "judge\tcandidates\tpreferred\tturned\tdecided\tright of those\twrong of all\tequals: winners\tbest is kept\tpairs\tballots\tmoney\tone call: best is kept\tmoney\t")
	for i := range all {
		f := &all[i]
		right, wrong, equals, kept, one := percent(f.Right), percent(f.Wrong), "-", percent(f.Kept), percent(f.OneRight)
		if f.Best > 1 {
			equals = percent(f.Decided - f.Wrong)
		}
		if f.Best == f.Candidates {
			wrong, kept, one = "-", "-", "-"
		}
		if f.Best == f.Candidates || f.Decided == 0 {
			right = "-"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%.1f\t%.0f\t%s\t%.0f\t\n", f.Judge, f.Candidates, f.preferred(),
			percent(f.Turned), percent(f.Decided), right, wrong, equals, kept, f.Pairs, f.Ballots, f.Money, one, f.OneMoney)
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// preferred says who is.
func (c cell) preferred() string {
	switch c.Best {
	case c.Candidates:
		return "none"
	case 1:
		return fmt.Sprintf("%.1f", c.Preference)
	default:
		return fmt.Sprintf("%d, %.1f", c.Best, c.Preference)
	}
}

func percent(share float64) string { return fmt.Sprintf("%.1f", 100*share) }
