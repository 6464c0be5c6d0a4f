package quantity

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// USD writes an amount of money with as many digits as a small one needs to differ from nothing.
func USD(v float64) string {
	return usd(v, decimals(v))
}

// USDColumn writes amounts of money below each other, all with the decimals of the one that needs
// most. The largest has three digits that count, so that amounts that are nearly equal differ.
func USDColumn(amounts []float64) []string {
	most, largest := 0, 0.0
	for _, v := range amounts {
		most, largest = max(most, decimals(v)), max(largest, math.Abs(v))
	}
	if largest > 0 {
		most = max(most, int(2-math.Floor(math.Log10(largest))))
	}
	out := make([]string, len(amounts))
	for i, v := range amounts {
		out[i] = usd(v, most)
	}
	return out
}

func usd(v float64, decimals int) string {
	if v < 0 {
		return "-" + usd(-v, decimals)
	}
	return "$" + strconv.FormatFloat(v, 'f', decimals, 64)
}

// decimals is how many decimals an amount needs.
func decimals(v float64) int {
	switch v = math.Abs(v); {
	case v >= 1 || v == 0:
		return 2
	case v < 0.0001:
		return int(1 - math.Floor(math.Log10(v))) // two digits that count
	}
	return 4
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
