package main

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/engine/election"
)

// cell is what is measured together: many elections with one judge.
type cell struct {
	Judge      string
	Candidates int
	Best       int     // so many are preferred to the others, equally; as many as there are: all are equal
	Preference float64 // for these
}

// outcome is what one election has come to.
type outcome struct {
	decided bool
	winner  int
	level   []int // of a tie
	pairs   int
	flipped int
	ballots float64 // that were paid for
}

// hold holds one election.
type hold func(seed string, k int, rules election.Rules, says func(pair, ballot int, order []int) int) (outcome, error)

// direct holds it with engine/election alone.
func direct(seed string, k int, rules election.Rules, says func(pair, ballot int, order []int) int) (outcome, error) {
	candidates := make([]election.Candidate, k)
	for i := range candidates {
		candidates[i] = election.Candidate{Number: i + 1, Copies: 1}
	}
	e := election.New(seed, candidates, rules)
	for pairs := e.Next(); pairs != nil; pairs = e.Next() {
		for _, pair := range pairs {
			first, second := e.Orders(pair)
			e.Add(pair, verdict(says(pair, 0, first)), verdict(says(pair, 1, second)))
		}
	}
	d := e.Decision()
	return outcome{d.Decided, d.Winner, d.NotBeaten, d.Pairs, d.Flipped, float64(2 * d.Pairs)}, nil
}

func verdict(number int) election.Said {
	if number == 0 {
		return election.Said{}
	}
	return election.Names(number)
}

// figures are what a cell has come to, as shares of the elections, and means.
type figures struct {
	cell
	Elections int
	Turned    float64 // of the pairs: the second ballot named another candidate
	Decided   float64
	Right     float64 // of those that are decided: the winner is one of the best
	Wrong     float64 // of all: it is not
	Kept      float64 // one of the best is kept: the winner, or of a tie any of those that are level
	Pairs     float64
	Ballots   float64
	Money     float64 // where 1 is what it costs a judge to read one answer; the task is as long as an answer
	OneRight  float64 // one call in the order of the numbers names one of the best
	OneMoney  float64
}

// measure holds the elections of a cell.
func measure(j *judge, c cell, elections int, seed string, rules election.Rules, hold hold) (figures, error) {
	f := figures{cell: c, Elections: elections}
	fixed := make([]int, c.Candidates)
	for i := range fixed {
		fixed[i] = i + 1
	}
	flipped, right := 0, 0
	for n := range elections {
		name := fmt.Sprintf("%s/%s/%d/%d/%v/%d", seed, c.Judge, c.Candidates, c.Best, c.Preference, n)
		t := taste{c.Candidates, c.Best, c.Preference, random(name + "/first").IntN(c.Candidates)}
		o, err := hold(name, c.Candidates, rules, func(pair, ballot int, order []int) int {
			return j.says(j.mindOf(t, name, pair), ballot, order)
		})
		if err != nil {
			return f, fmt.Errorf("hold election %s: %w", name, err)
		}
		flipped += o.flipped
		f.Pairs += float64(o.pairs)
		f.Ballots += o.ballots
		f.count(o, t, &right)
		if one := j.says(j.mindOf(t, name, 0), 0, fixed); one > 0 && t.preferred(one) {
			f.OneRight++
		}
	}
	f.mean(flipped, right)
	return f, nil
}

// count counts an election.
func (f *figures) count(o outcome, t taste, right *int) {
	if o.decided {
		f.Decided++
		if t.preferred(o.winner) {
			*right++
			f.Kept++
		} else {
			f.Wrong++
		}
		return
	}
	best := len(slices.DeleteFunc(slices.Clone(o.level), func(n int) bool { return !t.preferred(n) }))
	f.Kept += float64(best) / float64(len(o.level))
}

// mean makes shares and means of what was counted.
func (f *figures) mean(flipped, right int) {
	n, all := float64(f.Elections), f.Pairs
	if all > 0 {
		f.Turned = float64(flipped) / all
	}
	if f.Decided > 0 {
		f.Right = float64(right) / f.Decided
	}
	f.Decided, f.Wrong, f.Kept, f.Pairs, f.OneRight = f.Decided/n, f.Wrong/n, f.Kept/n, f.Pairs/n, f.OneRight/n
	f.Ballots /= n
	f.OneMoney = float64(f.Candidates + 1)
	f.Money = f.Ballots * f.OneMoney
}

// cells returns what is measured of a judge.
func cells(j *judge, k int, useful bool) []cell {
	all := []cell{{j.name, k, k, 0}}
	if !useful {
		return append(all, cell{j.name, k, 1, 0.9})
	}
	if k > 2 {
		all = append(all, cell{j.name, k, 2, 0.9})
	}
	for _, p := range []float64{0.6, 0.7, 0.8, 0.9} {
		all = append(all, cell{j.name, k, 1, p})
	}
	return all
}

// everything measures all judges, or those with the names.
func everything(elections int, seed string, rules election.Rules, ks []int, names []string, hold hold) ([]figures, error) {
	var all []figures
	for i, j := range slices.Concat(judges, odd) {
		if len(names) > 0 && !slices.Contains(names, j.name) {
			continue
		}
		for _, k := range ks {
			for _, c := range cells(&j, k, i < len(judges)) {
				f, err := measure(&j, c, elections, seed, rules, hold)
				if err != nil {
					return nil, err
				}
				all = append(all, f)
			}
		}
	}
	return all, nil
}
