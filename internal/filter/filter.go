// Package filter reads what a person says of the sessions and calls that a report is of. Errors are of
// [failure.InvalidRequest], with an example.
package filter

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/failure"
)

// Words are what a person says; nil: nothing.
type Words struct {
	Since, Cascade, Session *string
	Tags                    []string
}

// Parse reads words, but for the name of a session, which is to be looked up.
func Parse(w *Words, now time.Time) (f clickhouse.Filter, err error) {
	if w.Cascade != nil {
		if f.Cascade = *w.Cascade; f.Cascade == "" {
			return f, invalid("--cascade incident", "--cascade is empty")
		}
	}
	if w.Session != nil && *w.Session == "" {
		return f, invalid("--session last", "--session is empty")
	}
	for _, tag := range w.Tags {
		if key, _, _ := strings.Cut(tag, "="); key == "" {
			return f, invalid("--tag nightly, or --tag team=search", "--tag %q has no key", tag)
		}
	}
	f.Tags = w.Tags
	if w.Since != nil {
		at, ok := parseSince(*w.Since, now)
		if !ok {
			return f, invalid("--since 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z", "--since %q is no age and no date", *w.Since)
		}
		f.Since = at
	}
	return f, nil
}

func invalid(example, format string, args ...any) error {
	return failure.New(failure.InvalidRequest, fmt.Errorf(format, args...), example)
}

// parseSince reads an age before now, a day in UTC, or a time.
func parseSince(text string, now time.Time) (time.Time, bool) {
	if age, ok := ParseAge(text); ok {
		return now.Add(-age), true
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

var ageForm = regexp.MustCompile(`^([1-9][0-9]{0,4})(h|d|w)$`)

// ParseAge reads an age in hours, days or weeks. One that no duration can hold is none.
func ParseAge(text string) (time.Duration, bool) {
	m := ageForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1]) // five digits
	unit := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
	return time.Duration(n) * unit, time.Duration(n) <= math.MaxInt64/unit
}
