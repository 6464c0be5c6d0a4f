// Package hint says what was perhaps meant by a name that does not exist.
package hint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

const (
	maxNames = 8
	maxName  = 64 // longer names are not compared: the distance is quadratic
)

// Guess says which of names was perhaps meant, or which there are, with a prefix before each.
func Guess(name, prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	best, bestDistance := "", max(2, len(name)/3)+1
	for _, n := range names {
		if len(n) > maxName || len(name) > maxName {
			continue
		}
		if d := levenshtein.ComputeDistance(name, n); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", prefix+best)
	}
	more := ""
	if len(names) > maxNames {
		more = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return "there is " + prefix + strings.Join(names, ", "+prefix) + more
}

// After returns s with the hint behind it in brackets, if there is one.
func After(s, hint string) string {
	if hint == "" {
		return s
	}
	return s + " (" + hint + ")"
}
