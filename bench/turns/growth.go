package main

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// Sizes that a growth table has a row for.
var (
	growthTurns         = []int{500, 1000, 2000, 4000, 8000} // of one conversation
	growthConversations = []int{1, 4, 16, 64, 256}           // of 50 turns each, at once
)

// growth prints how a turn grows with the length of one conversation, against the leanest loop, and with the number of
// conversations at once, against both floors.
func (b *bench) growth(ctx context.Context, w io.Writer, rounds int) error {
	db, err := openDatabase(ctx, b.dir)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing was written through it
	// openai-go encodes the whole history on every turn, so a long conversation would take it hours.
	lean := slices.DeleteFunc(slices.Clone(b.peers), func(p peer) bool { return p.variant == variantOpenAI })
	if err := b.lengths(ctx, w, lean, rounds); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nms of a turn and peak MiB, by conversations of 50 turns at once (medians of %d rounds)\n", rounds)
	growthHead(w, "at once", b.peers)
	for _, n := range growthConversations {
		r, err := b.measure(ctx, load{50, n}, b.peers, rounds)
		if err != nil {
			return err
		}
		growthRow(w, n, r)
	}
	return nil
}

// lengths prints the table of conversations that get longer, and by how much each message of the history slows a turn down.
func (b *bench) lengths(ctx context.Context, w io.Writer, peers []peer, rounds int) error {
	fmt.Fprintf(w, "\nms of a turn and peak MiB, by turns of one conversation (medians of %d rounds)\n", rounds)
	growthHead(w, "turns", peers)
	results := make([]result, len(growthTurns))
	for i, n := range growthTurns {
		r, err := b.measure(ctx, load{n, 1}, peers, rounds)
		if err != nil {
			return err
		}
		growthRow(w, n, r)
		results[i] = r
	}
	fmt.Fprintln(w, "growth of a turn, for each message of the history:")
	for _, p := range peers {
		fmt.Fprintf(w, "  %-10s %.2f µs\n", p.name, perMessage(results, p.name))
	}
	return nil
}

func growthHead(w io.Writer, what string, peers []peer) {
	fmt.Fprintf(w, "  %8s", what)
	for _, p := range peers {
		fmt.Fprintf(w, " %12s %8s", p.name, "MiB")
	}
	fmt.Fprintln(w)
}

func growthRow(w io.Writer, n int, r result) {
	fmt.Fprintf(w, "  %8d", n)
	for _, p := range r.peers {
		fmt.Fprintf(w, " %12.3f %8.1f", r.perTurn(p.name), median(r.samples[p.name], func(s sample) float64 { return s.PeakMiB }))
	}
	fmt.Fprintln(w)
}

// perTurn returns the median of the milliseconds that a turn took.
func (r result) perTurn(name string) float64 {
	return median(r.samples[name], func(s sample) float64 { return s.WallMS }) / float64(r.load.turns*r.load.conversations)
}

// perMessage returns the microseconds that each message of the history adds to a turn: the slope of the line, fitted by
// least squares, through the mean time of a turn over the mean number of messages, which is one for each turn of the
// conversation: two messages a turn, over half of its turns.
func perMessage(results []result, name string) float64 {
	var sx, sy, sxx, sxy float64
	for _, r := range results {
		x, y := float64(r.load.turns), 1000*r.perTurn(name)
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(results))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
