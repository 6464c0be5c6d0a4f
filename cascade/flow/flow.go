// Package flow says how steps lead to each other: what leads where, what can come before what, and
// which ways have no end. Steps are numbers.
package flow

import "slices"

// Graph is where steps lead.
type Graph struct {
	Next [][]int // by step
	Ends []bool  // what follows can end there
}

// Spread marks the steps that the edges lead to from some steps, and those.
func Spread(from []int, edges [][]int) []bool {
	seen := make([]bool, len(edges))
	for len(from) > 0 {
		i := from[len(from)-1]
		from = from[:len(from)-1]
		if !seen[i] {
			seen[i] = true
			from = append(from, edges[i]...)
		}
	}
	return seen
}

// Free marks the steps from which an end can be reached.
func (f Graph) Free() []bool {
	before := make([][]int, len(f.Next))
	var ends []int
	for i := range f.Next {
		for _, to := range f.Next[i] {
			before[to] = append(before[to], i)
		}
		if f.Ends[i] {
			ends = append(ends, i)
		}
	}
	return Spread(ends, before)
}

// Circle returns the steps of a shortest way from a step back to itself, or nil.
func (f Graph) Circle(start int) []int {
	from := make([]int, len(f.Next))
	for i := range from {
		from[i] = -1
	}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		for _, to := range f.Next[i] {
			switch {
			case to == start:
				return pathBack(from, start, i)
			case from[to] < 0:
				from[to] = i
				queue = append(queue, to)
			}
		}
	}
	return nil
}

func pathBack(from []int, start, last int) []int {
	path := []int{last}
	for last != start {
		last = from[last]
		path = append(path, last)
	}
	slices.Reverse(path)
	return path
}
