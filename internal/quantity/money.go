package quantity

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// USD writes an amount of money with as many digits as a small one needs to differ from nothing.
func USD(v float64) string {
	switch {
	case v < 0:
		return "-" + USD(-v)
	case v >= 1 || v == 0:
		return fmt.Sprintf("$%.2f", v)
	case v < 0.0001:
		return "$" + strconv.FormatFloat(v, 'f', int(1-math.Floor(math.Log10(v))), 64) // two digits that count
	}
	return fmt.Sprintf("$%.4f", v)
}

// Cost writes what calls cost, nil when no cost is known. A sum that lacks some unknown costs is
// never written as if it were whole.
func Cost(usd *float64, unknown int) string {
	switch {
	case usd == nil:
		return "cost unknown"
	case unknown > 0:
		return USD(*usd) + " + unknown"
	}
	return USD(*usd)
}

// Share writes a part of a whole, of which there is some, in percent.
func Share(part, whole float64) string {
	text := strconv.FormatFloat(100*part/whole, 'f', 1, 64)
	if text == "-0.0" {
		text = "0.0"
	}
	return text + " %"
}

// Duration writes a time span as a person says it.
func Duration(d time.Duration) string {
	switch {
	case d > 0 && d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
