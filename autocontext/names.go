package autocontext

import (
	"cmp"
	"slices"
	"strings"
)

// A model that sees that a result was masked still needs to know what it was about: which files,
// ids and symbols were in it. So a placeholder keeps some names of what it replaces. A name is a
// word of at least four characters of [A-Za-z0-9_./-] that has a digit, a slash, an underscore or a
// dot inside: paths, identifiers and numbers, and no prose. The most frequent ones are kept, as
// they are most likely what the result is about. Measured on recorded coding and customer-service
// conversations this keeps four to fifteen of a hundred references to earlier results in sight, for
// two to three of a hundred tokens; docs/context.md has the table.

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
	type seen struct{ count, place int }
	found := map[string]*seen{}
	if len(text) > maxNamed {
		text = text[:maxNamed]
	}
	for start := 0; start < len(text); {
		if !isNameByte(text[start]) {
			start++
			continue
		}
		end := start
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		word := strings.TrimLeft(strings.TrimRight(text[start:end], "./-"), "-")
		if isName(word) {
			if s, ok := found[word]; ok {
				s.count++
			} else {
				found[word] = &seen{count: 1, place: start}
			}
		}
		start = end
	}
	list := make([]string, 0, len(found))
	for n := range found {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b string) int {
		x, y := found[a], found[b]
		return cmp.Or(cmp.Compare(y.count, x.count), cmp.Compare(x.place, y.place))
	})
	return list
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-'
}

func isName(word string) bool {
	if len(word) < minName || len(word) > maxName {
		return false
	}
	return strings.ContainsAny(word, "0123456789_/.")
}
