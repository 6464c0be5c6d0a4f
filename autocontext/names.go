package autocontext

import (
	"slices"
	"strings"
)

// A model that sees that a result was masked still needs to know what it was about. So a
// placeholder keeps the most frequent names of what it replaces: words of at least four characters
// of [A-Za-z0-9_./-] with a digit, a slash, an underscore or a dot: paths, identifiers and numbers,
// and no prose. On recorded coding and customer-service conversations this keeps four to fifteen of
// a hundred references to earlier results in sight, for two to three of a hundred tokens
// (docs/context.md).

const (
	minName = 4
	maxName = 80
	// maxNamed bounds the text in which names are looked for, in bytes.
	maxNamed = 256 << 10
)

// joinNames returns the names of a text, most frequent first, separated by spaces: limit characters
// at most.
func joinNames(text string, limit int) string {
	var b strings.Builder
	for _, n := range names(text) {
		if b.Len()+len(n)+1 > limit {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(n)
		if limit-b.Len() <= minName {
			break
		}
	}
	return b.String()
}

// names returns the distinct names of a text, most frequent first, then in order of their first
// places.
func names(text string) []string {
	count := map[string]int{}
	list := []string{}
	for word := range strings.FieldsFuncSeq(text[:min(len(text), maxNamed)], notInName) {
		word = strings.TrimLeft(strings.TrimRight(word, "./-"), "-")
		if !isName(word) {
			continue
		}
		if count[word]++; count[word] == 1 {
			list = append(list, word)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return count[b] - count[a] })
	return list
}

func notInName(c rune) bool { // from - to 9: - . / and digits
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '-' || c > '9') && c != '_'
}

func isName(word string) bool {
	return len(word) >= minName && len(word) <= maxName && strings.ContainsAny(word, "0123456789_/.")
}
