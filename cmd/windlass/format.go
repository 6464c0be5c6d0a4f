package main

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// formatCount writes a number with thousands separators.
func formatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := len(s) % 3
	if n < 0 {
		return "-" + formatCount(-n)
	}
	out := s[:start]
	for i := start; i < len(s); i += 3 {
		if out != "" {
			out += ","
		}
		out += s[i : i+3]
	}
	return out
}

// formatUSD writes an amount with as many digits as a small one needs to be told from nothing.
func formatUSD(v float64) string {
	switch {
	case v >= 1 || v == 0:
		return fmt.Sprintf("$%.2f", v)
	case v < 0.0001:
		return "$" + strconv.FormatFloat(v, 'f', int(1-math.Floor(math.Log10(v))), 64) // two digits that count
	}
	return fmt.Sprintf("$%.4f", v)
}

// formatDuration writes a time span as a person says it.
func formatDuration(d time.Duration) string {
	switch {
	case d > 0 && d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

func formatMillis(ms float64) string {
	return formatDuration(time.Duration(ms * float64(time.Millisecond)))
}
