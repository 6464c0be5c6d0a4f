package flow

import "slices"

// Waits are, by step, the steps that it waits for.
type Waits [][]int

// order returns the steps in an order in which each comes after those that it waits for; those that
// wait for themselves are not among them.
func (w Waits) order() []int {
	left, next := make([]int, len(w)), make([][]int, len(w))
	var ready, out []int
	for i, on := range w {
		left[i] = len(on)
		for _, j := range on {
			next[j] = append(next[j], i)
		}
		if len(on) == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[0]
		ready, out = ready[1:], append(out, i)
		for _, j := range next[i] {
			if left[j]--; left[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	return out
}

// Circle returns the steps of a shortest circle of the first step that waits for itself, each before
// the one that waits for it, or nil.
func (w Waits) Circle() []int {
	sorted := w.order()
	if len(sorted) == len(w) {
		return nil
	}
	done := make([]bool, len(w))
	for _, i := range sorted {
		done[i] = true
	}
	for i := range w {
		if done[i] {
			continue
		}
		if circle := (Graph{Next: w}).Circle(i); circle != nil {
			slices.Reverse(circle[1:])
			return circle
		}
	}
	return nil
}

// Before returns, by step, which steps end before it begins: those that it waits for, and those
// before them. It returns nil for a circle.
func (w Waits) Before() [][]bool {
	sorted := w.order()
	if len(sorted) < len(w) {
		return nil
	}
	before := make([][]bool, len(w))
	for _, i := range sorted {
		before[i] = make([]bool, len(w))
		for _, j := range w[i] {
			before[i][j] = true
			for k, is := range before[j] {
				before[i][k] = before[i][k] || is
			}
		}
	}
	return before
}
