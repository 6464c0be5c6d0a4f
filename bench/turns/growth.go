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

// growthBar is how many microseconds each message of the history may add to a turn.
const growthBar = 0.85

// growth prints how a turn grows with the length of one conversation, against the leanest loop, and with the number of
// conversations at once, against both floors.
func (b *bench) growth(ctx context.Context, w io.Writer, rounds int) error {
	// openai-go encodes the whole history for every call, which takes too long here.
	lean := slices.DeleteFunc(slices.Clone(b.peers), func(p peer) bool { return p.name == nameOpenAI })
	lengths, err := b.sizes(ctx, growthTurns, lean, rounds, func(n int) load { return load{n, 1} })
	if err != nil {
		return err
	}
	growthTable("turns", lean, lengths, func(l load) int { return l.turns }).print(w)
	slopeTable(lean, lengths).print(w)
	many, err := b.sizes(ctx, growthConversations, b.peers, rounds, func(n int) load { return load{50, n} })
	if err != nil {
		return err
	}
	growthTable("at once", b.peers, many, func(l load) int { return l.conversations }).print(w)
	printUndelivered(w, append(lengths, many...))
	slope := perMessage(lengths, nameWindlass, wall)
	return judge(w, []bar{{"µs a turn for each message of the history", slope, fmt.Sprintf("%.2f", slope), growthBar, growthBar}})
}

func (b *bench) sizes(ctx context.Context, sizes []int, peers []peer, rounds int, of func(int) load) ([]result, error) {
	var results []result
	for _, n := range sizes {
		r, err := b.measure(ctx, of(n), peers, rounds)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

func growthTable(what string, peers []peer, results []result, size func(load) int) table {
	t := table{{what}}
	for _, p := range peers {
		t[0] = append(t[0], p.name+": µs a turn", "CPU µs", "allocations", "peak MiB")
	}
	for _, r := range results {
		row := []string{thousands(size(r.load))}
		for _, p := range peers {
			row = append(row, count(1000*r.perTurn(p.name, wall)), count(1000*r.perTurn(p.name, cpu)),
				count(r.perTurn(p.name, alloc)), count(r.median(p.name, peak)))
		}
		t.add(row...)
	}
	return t
}

// slopeTable has by how much each message of the history lengthens a turn.
func slopeTable(peers []peer, results []result) table {
	t := table{{"each message of the history adds to a turn", "µs", "CPU µs"}}
	for _, p := range peers {
		t.add(p.name, fmt.Sprintf("%.2f", perMessage(results, p.name, wall)), fmt.Sprintf("%.2f", perMessage(results, p.name, cpu)))
	}
	return t
}

// perMessage returns the microseconds that each message of the history adds to a turn: the slope of the line, fitted by
// least squares, through the mean time of a turn over the mean number of messages, which is one for each turn of the
// conversation: two messages a turn, over half of its turns.
func perMessage(results []result, name string, of figure) float64 {
	var sx, sy, sxx, sxy float64
	for _, r := range results {
		x, y := float64(r.load.turns), 1000*r.perTurn(name, of)
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(results))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
