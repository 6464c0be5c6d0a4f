package suggestion

import "slices"

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
