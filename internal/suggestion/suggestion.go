// Package suggestion finds the name that a misspelt one was most likely meant to be.
package suggestion

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// For returns the candidate that a misspelt name most likely means, or "".
func For(name string, candidates []string) string {
	length := utf8.RuneCountInString(name)
	if length > 100 {
		return "" // The time grows with the product of the lengths, and nobody misspells a name of that length.
	}
	// A third of the characters may be wrong, but never all of them.
	best, bestDistance := "", min(max(1, min(3, length/3))+1, length)
	folded := fold(name)
	for _, c := range candidates[:min(len(candidates), 1000)] {
		if c == name || utf8.RuneCountInString(c) > length+bestDistance {
			continue
		}
		if d := distance(folded, fold(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// Nearest returns the n candidates that a word is most like, the likest first.
func Nearest(word string, candidates []string, n int) []string {
	list := slices.Clone(candidates)
	slices.SortStableFunc(list, func(a, b string) int { return unlikeness(word, a) - unlikeness(word, b) })
	return list[:min(n, len(list))]
}

// unlikeness is smaller the more a word is like a candidate; a common beginning counts most.
func unlikeness(word, candidate string) int {
	common := 0
	for common < min(len(word), len(candidate)) && word[common] == candidate[common] {
		common++
	}
	return distance(word, candidate) - 3*common
}

// fold takes away what people mix up: case, and dashes for underscores.
func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// distance is the number of characters to insert, remove, replace or swap with their neighbour to
// get from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
