package suggestion

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Near returns the candidates, n at most, that a misspelt or cut off name may mean, the likest first:
// those that [For] would return for it, and those that begin or end with it.
func Near(name string, candidates []string, n int) []string {
	length := utf8.RuneCountInString(name)
	if length == 0 || length > 100 {
		return nil
	}
	near := map[string]int{}
	var list []string
	for _, c := range candidates {
		if _, seen := near[c]; seen || c == name {
			continue
		}
		d := distance(fold(name), fold(c))
		part := length > 1 && (strings.HasPrefix(c, name) || strings.HasSuffix(c, name))
		if part || d <= min(max(1, min(3, length/3)), length-1) {
			near[c], list = d, append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return near[a] - near[b] })
	return list[:min(n, len(list))]
}
