package main

import (
	"fmt"
	"io"
)

// bar is what a figure has to keep to.
type bar struct {
	what     string
	measured float64
	shown    string // the measured figure with its range
	most     float64
	aim      float64
}

func (b bar) met() bool { return b.measured <= b.most }

// turnBars returns the bars of `make bench`: the time of windlass in that of the loop over openai-go, that all of its work was
// done, and the peak with 64 conversations at once. The results are those of turnLoads.
func turnBars(results []result) []bar {
	limits := []struct{ most, aim float64 }{{0.7, 0.6}, {0.4, 0.3}, {0.8, 0.5}}
	var bars []bar
	for i, r := range results {
		s := ratios(r.samples[nameWindlass], r.samples[nameOpenAI], wall)
		bars = append(bars, bar{r.load.String() + ", time / openai-go", s.median, s.String(), limits[i].most, limits[i].aim})
	}
	left := 0
	for _, r := range results {
		left += r.left(nameWindlass)
	}
	bars = append(bars, bar{"processes that left rows undelivered", float64(left), fmt.Sprint(left), 0, 0})
	many := results[len(results)-1]
	mib := many.median(nameWindlass, peak)
	return append(bars, bar{many.load.String() + ", peak MiB", mib, fmt.Sprintf("%.0f", mib), 100, 60})
}

// judge prints every bar, and returns an error when one is missed.
func judge(w io.Writer, bars []bar) error {
	t := table{{"", "measured", "bar", "aim", ""}}
	missed := 0
	for _, b := range bars {
		word := "met"
		if !b.met() {
			word = "**missed**"
			missed++
		}
		t.add(b.what, b.shown, fmt.Sprint(b.most), fmt.Sprint(b.aim), word)
	}
	t.print(w)
	if missed > 0 {
		return fmt.Errorf("%d of %d bars are missed", missed, len(bars))
	}
	return nil
}
