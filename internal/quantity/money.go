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
	case v >= 1 || v == 0:
		return fmt.Sprintf("$%.2f", v)
	case v < 0.0001:
		return "$" + strconv.FormatFloat(v, 'f', int(1-math.Floor(math.Log10(v))), 64) // two digits that count
	}
	return fmt.Sprintf("$%.4f", v)
}

// Cost writes what calls cost, some of which may have an unknown cost. A sum that lacks those is
// never written as if it were whole.
func Cost(usd float64, unknown int) string {
	switch {
	case unknown > 0 && usd == 0:
		return "cost unknown"
	case unknown > 0:
		return USD(usd) + " + unknown"
	}
	return USD(usd)
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
