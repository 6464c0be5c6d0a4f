package flow

import "slices"

// Order says which steps can have come before another. A nil one says nothing. It is for one
// goroutine.
type Order struct {
	before  [][]int        // by step: which lead to it
	reached []bool         // from the first step
	cache   map[int][]bool // by step: which can have come before it
}

// NewOrder returns the order of steps that lead where next says, when the first step begins.
func NewOrder(next [][]int) *Order {
	o := &Order{before: make([][]int, len(next)), reached: Spread([]int{0}, next), cache: map[int][]bool{}}
	for i := range next {
		for _, to := range next[i] {
			o.before[to] = append(o.before[to], i)
		}
	}
	return o
}

// OrderOf returns the order of steps of which it is known, by step, what is before it.
func OrderOf(before [][]bool) *Order {
	o := &Order{before: make([][]int, len(before)), reached: make([]bool, len(before)), cache: map[int][]bool{}}
	for i, of := range before {
		o.reached[i], o.cache[i] = true, of
		for j, is := range of {
			if is {
				o.before[i] = append(o.before[i], j)
			}
		}
	}
	return o
}

// Never reports whether step i cannot have come before another. Of what is never reached nothing is
// said.
func (o *Order) Never(i, at int) bool {
	if o == nil || !o.reached[at] {
		return false
	}
	seen, ok := o.cache[at]
	if !ok {
		seen = Spread(slices.Clone(o.before[at]), o.before)
		o.cache[at] = seen
	}
	return !seen[i]
}

// First reports whether nothing can have come before a step that is reached.
func (o *Order) First(at int) bool {
	return o != nil && o.reached[at] && len(o.before[at]) == 0
}
