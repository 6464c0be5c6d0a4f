package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
)

const (
	warmUp   = 3
	maxTime  = 30.0 // milliseconds of a selection, at the median
	maxRatio = 1.5  // of what is asked of ClickHouse to the bare query
)

// bench holds what is measured and, by name, the milliseconds of each round.
type bench struct {
	store *clickhouse.Cards
	conn  driver.Conn
	made  made
	times map[string][]float64

	cards  []contextcards.Card
	ranked []contextcards.Ranked
	bare   int // rows of the last bare query
}

// The bare queries are what a person would write: from the tables, with plain variables for the columns.
const bareCards = `SELECT content_hash, summary, keywords, estimated_tokens, phase_name, message_order, callout_name
	FROM unified_cards FINAL WHERE session_id = ? ORDER BY message_order`

func bareRank(v []float32) string {
	numbers := make([]string, len(v))
	for i, x := range v {
		numbers[i] = strconv.FormatFloat(float64(x), 'g', -1, 32)
	}
	return `SELECT content_hash, cosineDistance(embedding, [` + strings.Join(numbers, ", ") + `]) AS distance
		FROM unified_embeddings FINAL WHERE session_id = ? AND embedding_model = ? ORDER BY distance LIMIT ?`
}

// measure runs everything in turn, round by round, so that the drift of the machine meets all alike.
func (b *bench) measure(ctx context.Context, rounds int) error {
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"words: bare query", b.queryCards},
		{"words: store", b.readSummaries},
		{"words: selection", b.selects(echo.StrategyHeuristic, false)},
		{"meaning: bare query", b.queryRank},
		{"meaning: store", b.rank},
		{"meaning: selection", b.selects(echo.StrategySemantic, true)},
		{"whole cards: store", b.readCards},
	}
	b.times = map[string][]float64{}
	for round := range warmUp + rounds {
		for _, s := range steps {
			start := time.Now()
			if err := s.do(ctx); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if round >= warmUp {
				b.times[s.name] = append(b.times[s.name], float64(time.Since(start).Microseconds())/1000)
			}
		}
	}
	return b.check()
}

// check makes sure that all of it was measured on what it should be.
func (b *bench) check() error {
	own := 0
	for _, g := range b.made.groups {
		own += len(g.Items)
	}
	if len(b.cards) != own || len(b.ranked) != own || b.bare != own {
		return fmt.Errorf("the session has %d cards, but %d were read, %d ranked and %d ranked by the bare query",
			own, len(b.cards), len(b.ranked), b.bare)
	}
	return nil
}

func (b *bench) queryCards(ctx context.Context) error {
	rows, err := b.conn.Query(ctx, bareCards, ownSession)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // what went wrong is in Err
	for rows.Next() {
		var hash, summary, phase, callout string
		var keywords []string
		var tokens, order int64
		if err := rows.Scan(&hash, &summary, &keywords, &tokens, &phase, &order, &callout); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (b *bench) queryRank(ctx context.Context) error {
	rows, err := b.conn.Query(ctx, bareRank(b.made.vector), ownSession, embedder, len(b.made.all))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // what went wrong is in Err
	b.bare = 0
	for rows.Next() {
		var hash string
		var distance float64
		if err := rows.Scan(&hash, &distance); err != nil {
			return err
		}
		b.bare++
	}
	return rows.Err()
}

func (b *bench) readSummaries(ctx context.Context) (err error) {
	b.cards, err = b.store.Summaries(ctx, ownSession)
	return err
}

func (b *bench) readCards(ctx context.Context) (err error) {
	b.cards, err = b.store.Cards(ctx, ownSession)
	return err
}

func (b *bench) rank(ctx context.Context) (err error) {
	b.ranked, err = b.store.Rank(ctx, ownSession, embedder, b.made.vector, len(b.made.all))
	return err
}

// selects puts what was read into groups and chooses, with nothing kept from the round before.
func (b *bench) selects(strategy echo.Strategy, bySimilarity bool) func(context.Context) error {
	return func(context.Context) error {
		cards := make(map[echo.Hash]contextcards.Card, len(b.cards))
		for _, c := range b.cards {
			cards[c.Hash] = c
		}
		meaning := map[echo.Hash]float64{}
		if bySimilarity {
			for _, r := range b.ranked {
				meaning[r.Hash] = r.Similarity
			}
		}
		groups := slices.Clone(b.made.groups)
		for i := range groups {
			g := &groups[i]
			for _, item := range g.Items {
				h := item.Message.Hash()
				g.Cards = append(g.Cards, cards[h])
				if m, ok := meaning[h]; ok && (!g.Embedded || m > g.Similarity) {
					g.Similarity, g.Embedded = m, true
				}
			}
		}
		sel, _ := selection.NewIndex().Select(b.made.task, groups, selection.Settings{
			Strategy: strategy, MaxTokens: 30_000, MaxMessages: 50, KeywordWeight: 0.4, RecencyWeight: 0.3, CalloutWeight: 0.3, Threshold: 0.5,
		}, nil)
		if len(sel.Chosen) == 0 || sel.Strategy != strategy {
			return fmt.Errorf("%d groups were chosen by %s: %s", len(sel.Chosen), sel.Strategy, strings.Join(sel.Notes, "; "))
		}
		return nil
	}
}

// report prints what was found and reports whether every bar was reached.
func (b *bench) report(w io.Writer, s size) bool {
	fmt.Fprintf(w, "\na selection in a session of %d cards, milliseconds (median, range of %d rounds)\n", s.own, len(b.times["words: store"]))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, name := range []string{
		"words: bare query", "words: store", "words: selection", "meaning: bare query", "meaning: store", "meaning: selection", "whole cards: store",
	} {
		lo, mid, hi := spread(b.times[name])
		fmt.Fprintf(t, "%s\t%.1f\t%.1f to %.1f\t\n", name, mid, lo, hi)
	}
	_ = t.Flush() // to a terminal
	fmt.Fprintln(w)
	passed := true
	for _, k := range []struct{ name, kind string }{{"heuristic", "words"}, {"semantic", "meaning"}} {
		bare, store, whole := b.times[k.kind+": bare query"], b.times[k.kind+": store"], b.times[k.kind+": selection"]
		_, ratio, _ := spread(each(store, bare, func(a, b float64) float64 { return a / b }))
		_, total, _ := spread(each(store, whole, func(a, b float64) float64 { return a + b }))
		passed = bar(w, ratio <= maxRatio, "%s: ClickHouse's part is %.2f times the bare query, at most %.1f", k.name, ratio, maxRatio) && passed
		passed = bar(w, total < maxTime, "%s: with the selection %.1f ms, under %.0f", k.name, total, maxTime) && passed
	}
	return passed
}

func bar(w io.Writer, passed bool, format string, args ...any) bool {
	verdict := "pass"
	if !passed {
		verdict = "FAIL"
	}
	fmt.Fprintf(w, "%s  %s\n", verdict, fmt.Sprintf(format, args...))
	return passed
}

// each combines two measurements round by round.
func each(a, b []float64, f func(a, b float64) float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = f(a[i], b[i])
	}
	return out
}

// spread returns the least, the median and the greatest value.
func spread(v []float64) (lo, mid, hi float64) {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return v[0], (v[(n-1)/2] + v[n/2]) / 2, v[n-1]
}
