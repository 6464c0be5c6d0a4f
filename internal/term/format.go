package term

import (
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/quantity"
)

// Count writes a number with thousands separators.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// USD writes an amount of money with as many digits as a small one needs to differ from nothing.
func USD(v float64) string { return quantity.USD(v) }

// Duration writes a time span as a person says it.
func Duration(d time.Duration) string { return quantity.Duration(d) }

// Millis writes a time span that is given in milliseconds.
func Millis(ms float64) string {
	return Duration(time.Duration(ms * float64(time.Millisecond)))
}

// Cost writes a cost that may be unknown, for all (nil) or some calls; nothing without calls.
func Cost(usd *float64, calls, unknown uint64) string {
	switch {
	case calls == 0:
		return ""
	case usd == nil:
		return "unknown"
	case unknown > 0:
		return USD(*usd) + " + unknown"
	}
	return USD(*usd)
}

// Plural writes a number of things with the noun in its number: "1 entry", "2 entries".
func Plural(n int, noun string) string { return quantity.Of(n, noun) }

// Counted is Plural with thousands separators.
func Counted(n int, noun string) string {
	return Count(int64(n)) + strings.TrimPrefix(Plural(n, noun), strconv.Itoa(n))
}

// Share writes a part of the whole in percent, as every report does; of nothing it is 0.0 %.
func Share(part, whole int64) string { return quantity.Share(float64(part), float64(max(whole, 1))) }
