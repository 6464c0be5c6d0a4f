package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/vectors"
)

const (
	runsDatabase = "windlass_bench_runs"
	fastModel    = 20 * time.Millisecond // a turn
	settle       = 20 * time.Millisecond // before a run, so that ClickHouse is done with the one before
	maxAdded     = 2.0                   // per cent of the time of a run that making cards may add, at the median
)

// variant is the run in one of the ways in which it is compared.
type variant struct {
	name  string
	cards bool
	by    contextcards.Embedder // nil: cards have no embeddings
}

// The first variant is what all others are compared with. The second is the same again: what it differs by is noise.
const (
	withoutCards = "no cards"
	again        = "no cards, again"
)

// generation is what was measured of one model: for each variant the times of every round.
type generation struct {
	delay    time.Duration
	variants []variant
	times    [][]took // by variant, then by round
}

// runVariants returns the variants. Cards are embedded by word vectors when they are on this machine: nothing is fetched here.
func runVariants(ctx context.Context, cache string) ([]variant, error) {
	embedded := variant{name: "cards, hashed n-grams", cards: true, by: contextcards.NewHashed(0)}
	if c := vectors.ConfigFromEnv(cache); c.Here() {
		words, err := vectors.Open(ctx, c, nil)
		if err != nil {
			return nil, err
		}
		embedded.name, embedded.by = "cards, word vectors", words
	}
	return []variant{{name: withoutCards}, {name: again}, {name: "cards", cards: true}, embedded}, nil
}

// measureRuns measures what making cards adds to a run, in a database of its own, and reports whether it is little enough:
// quick rounds of a model that answers at once, slow rounds of a fast one.
func measureRuns(ctx context.Context, o clickhouse.Options, quick, slow int) (passed bool, err error) {
	variants, err := runVariants(ctx, o.CacheDir)
	if err != nil {
		return false, err
	}
	o.Database = runsDatabase
	db, err := clickhouse.Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx), db, runsDatabase), db.Close()) }()
	calm, err := newCalm(ctx, db, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, calm.end(context.WithoutCancel(ctx))) }()
	passed = true
	for _, part := range []struct {
		delay  time.Duration
		rounds int
	}{{0, quick}, {fastModel, slow}} {
		c, err := newCourse(o, db, part.delay)
		if err != nil {
			return false, err
		}
		g := &generation{delay: part.delay, variants: variants}
		if err := g.measure(ctx, c, calm, part.rounds); err != nil {
			return false, err
		}
		passed = g.report(os.Stdout) && passed
	}
	return passed, nil
}

// measure has every variant in turn, round by round. Each round begins with another one, so that none always comes behind
// the same one.
func (g *generation) measure(ctx context.Context, c *course, calm *calm, rounds int) error {
	g.times = make([][]took, len(g.variants))
	for round := range warmUp + rounds {
		if err := calm.empty(ctx); err != nil {
			return err
		}
		for i := range g.variants {
			at := (i + round) % len(g.variants)
			v := g.variants[at]
			runtime.GC() // the garbage of the run before is not this one's
			time.Sleep(settle)
			t, err := c.run(ctx, fmt.Sprintf("run-%d-%d-%d", g.delay.Milliseconds(), round, at), v.cards, v.by)
			if err != nil {
				return fmt.Errorf("a run with %s: %w", v.name, err)
			}
			if round >= warmUp {
				g.times[at] = append(g.times[at], t)
			}
		}
	}
	return nil
}

// added is by how many per cent a variant took longer than the first one, round by round: the median, the range in which
// the true median is 19 times out of 20, and the middle half of the rounds.
type added struct{ median, from, to, low, high float64 }

func (g *generation) added(i int, of func(took) float64) added {
	v := make([]float64, len(g.times[i]))
	for round := range v {
		v[round] = 100 * (of(g.times[i][round])/of(g.times[0][round]) - 1)
	}
	slices.Sort(v)
	n := len(v)
	half := int(math.Ceil(0.98 * math.Sqrt(float64(n)))) // of the binomial distribution's ranks around the median
	_, mid, _ := spread(v)
	return added{mid, v[max(n/2-half, 0)], v[min((n-1)/2+half, n-1)], v[n/4], v[n-1-n/4]}
}

func (t took) untilAnswer() float64    { return t.answer }
func (t took) untilDelivered() float64 { return t.delivered }
func (t took) inCalls() float64        { return t.calls }

// report prints what was found and reports whether making cards stays under the bar.
func (g *generation) report(w io.Writer) bool {
	fmt.Fprintf(w, "\na run of %d turns, the scripted model answers %s (medians of %d rounds; added: %% of the time without cards, with the range of the median)\n",
		runTurns, pace(g.delay), len(g.times[0]))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tms to the answer\tadded\tmiddle half of the rounds\tms in calls\tms until delivered\tadded\t")
	for i, v := range g.variants {
		_, answer, _ := spread(column(g.times[i], took.untilAnswer))
		_, delivered, _ := spread(column(g.times[i], took.untilDelivered))
		_, calls, _ := spread(column(g.times[i], took.inCalls))
		if i == 0 {
			fmt.Fprintf(t, "%s\t%.1f\t\t\t\t%.1f\t\t\n", v.name, answer, delivered)
			continue
		}
		a, d := g.added(i, took.untilAnswer), g.added(i, took.untilDelivered)
		fmt.Fprintf(t, "%s\t%.1f\t%+.1f (%+.1f to %+.1f)\t%+.1f to %+.1f\t%.2f\t%.1f\t%+.1f (%+.1f to %+.1f)\t\n",
			v.name, answer, a.median, a.from, a.to, a.low, a.high, calls, delivered, d.median, d.from, d.to)
	}
	_ = t.Flush() // to a terminal
	fmt.Fprintln(w)
	return g.judge(w)
}

// judge holds the variants to the bar. Noise as large as the bar is a failure too: such a measurement says nothing.
func (g *generation) judge(w io.Writer) bool {
	passed := true
	for i, v := range g.variants {
		switch a := g.added(i, took.untilAnswer); {
		case v.name == again:
			noise := max(-a.from, a.to)
			passed = bar(w, noise < maxAdded, "a model that answers %s: the noise is %.1f %%, under %.0f", pace(g.delay), noise, maxAdded) && passed
		case v.cards:
			passed = bar(w, a.median < maxAdded, "a model that answers %s: %s add %.1f %% to the time of a run, under %.0f", pace(g.delay), v.name, a.median, maxAdded) && passed
		}
	}
	return passed
}

func pace(delay time.Duration) string {
	if delay == 0 {
		return "at once"
	}
	return "within " + delay.String()
}

func column(list []took, of func(took) float64) []float64 {
	out := make([]float64, len(list))
	for i, t := range list {
		out[i] = of(t)
	}
	return out
}
