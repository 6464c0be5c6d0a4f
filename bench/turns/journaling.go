package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/bench/turns/loop"
)

// journaling has a process of its own measure what journaling adds to a run, and prints it.
func (b *bench) journaling(ctx context.Context, w io.Writer, rounds int) error {
	p := peer{home: filepath.Join(b.dir, "journaling")}
	out, err := output(ctx, p, filepath.Join(b.dir, "programs", "journaling"), strconv.Itoa(rounds), b.url)
	if err != nil {
		return fmt.Errorf("measure journaling: %w", err)
	}
	var m loop.Journaling
	if err := json.Unmarshal(out, &m); err != nil {
		return fmt.Errorf("read what journaling costs: %w", err)
	}
	printJournaling(w, m)
	return nil
}

var journalVariants = []string{"no journal", "no journal, again", "journal, not synced", "journal"}

func printJournaling(w io.Writer, m loop.Journaling) {
	t := table{{"", "ms a turn", "added, %", "CPU ms a turn", "added, %"}}
	for i, name := range journalVariants {
		wall, cpu := middle(slices.Clone(m.Wall[i]))/loop.JournalTurns, middle(slices.Clone(m.CPU[i]))/loop.JournalTurns
		row := []string{name, fmt.Sprintf("%.3f", wall), "", fmt.Sprintf("%.3f", cpu), ""}
		if i > 0 {
			row[2], row[4] = addedTo(m.Wall, i).String(), addedTo(m.CPU, i).String()
		}
		t.add(row...)
	}
	t.print(w)
	rounds := len(m.Wall[0])
	turns := float64(rounds * loop.JournalTurns)
	fmt.Fprintf(w, "\nMedians of %d rounds; %.2f syncs and %.1f KiB a turn.\n", rounds, float64(m.Syncs)/turns, float64(m.Bytes)/turns/1024)
}

// added is by how many per cent a variant took longer than the first one, round by round: the median, and the range in which
// the true median is 19 times out of 20.
type added struct{ median, from, to float64 }

func addedTo(times [][]float64, variant int) added {
	v := make([]float64, len(times[0]))
	for round := range v {
		v[round] = 100 * (times[variant][round]/times[0][round] - 1)
	}
	mid := middle(v) // which sorts them
	n := len(v)
	half := int(math.Ceil(0.98 * math.Sqrt(float64(n)))) // of the binomial distribution's ranks around the median
	return added{mid, v[max(n/2-half, 0)], v[min((n-1)/2+half, n-1)]}
}

func (a added) String() string { return fmt.Sprintf("%.1f (%.1f to %.1f)", a.median, a.from, a.to) }
