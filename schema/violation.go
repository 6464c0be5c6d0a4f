package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

// Violation is one way in which a value does not match a schema.
type Violation struct {
	Pointer  string   `json:"pointer"` // the JSON pointer of the offending value; "" is the whole
	Keyword  string   `json:"keyword"` // the schema keyword that is violated
	Message  string   `json:"message"`
	Property string   `json:"property,omitempty"` // the missing property (required) or the unknown one (additionalProperties)
	Expected []string `json:"expected,omitempty"` // the allowed types (type), values as JSON (enum, const) or property names
}

func (v Violation) String() string {
	if v.Pointer == "" {
		return v.Message
	}
	return v.Pointer + ": " + v.Message
}

// Join writes violations in one line, at most limit of them and how many more there are.
func Join(violations []Violation, limit int) string {
	shown := min(limit, len(violations))
	parts := make([]string, shown)
	for i := range parts {
		parts[i] = violations[i].String()
	}
	text := strings.Join(parts, "; ")
	if rest := len(violations) - shown; rest > 0 {
		text += fmt.Sprintf(" (and %d more)", rest)
	}
	return text
}

// normalize sorts violations and removes repetitions: the library walks maps in random order.
func normalize(violations []Violation) []Violation {
	slices.SortFunc(violations, func(a, b Violation) int {
		return cmp.Or(comparePointers(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword),
			cmp.Compare(a.Property, b.Property), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(violations, func(a, b Violation) bool {
		return a.Pointer == b.Pointer && a.Keyword == b.Keyword && a.Property == b.Property && a.Message == b.Message
	})
}

// comparePointers orders indexes as numbers.
func comparePointers(a, b string) int {
	return slices.CompareFunc(source.SplitPointer(a), source.SplitPointer(b), func(x, y string) int {
		i, errX := strconv.Atoi(x)
		j, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Compare(i, j)
		}
		return cmp.Compare(x, y)
	})
}

// lookup follows a pointer through a decoded document.
func lookup(v any, tokens []string) (any, bool) {
	for _, t := range tokens {
		found := false
		switch x := v.(type) {
		case map[string]any:
			v, found = x[t]
		case []any:
			i, err := strconv.Atoi(t)
			if found = err == nil && i >= 0 && i < len(x); found {
				v = x[i]
			}
		}
		if !found {
			return nil, false
		}
	}
	return v, true
}
