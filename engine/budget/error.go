package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The limits of a budget.
const (
	LimitUSD     = "max_usd"
	LimitTokens  = "max_tokens"
	LimitSeconds = "max_seconds"
)

// Error is a limit that was reached, or that the next call would exceed.
type Error struct {
	Limit string // LimitUSD, LimitTokens or LimitSeconds
	Used  float64
	Max   float64
	Next  *Estimate // what the next call would take
	Cause string    // instead of a comparison: why the limit cannot be kept

	Above bool // the limit is that of a run above, which has begun this one

	PriceAs string // LimitUSD: the model at whose prices nothing was paid; "": what was used was paid
}

func (e *Error) Error() string {
	if e.Cause != "" {
		return fmt.Sprintf("budget %s %s cannot be kept: %s", e.Limit, amount(e.Limit, e.Max), e.Cause)
	}
	figures := fmt.Sprintf("%s is %s, used %s", e.Limit, amount(e.Limit, e.Max), amount(e.Limit, e.Used))
	if e.PriceAs != "" {
		figures += " at prices of " + e.PriceAs + " (nothing was paid)"
	}
	switch {
	case e.Next == nil:
		return "budget reached: " + figures
	case e.Used < e.Max:
		return fmt.Sprintf("the next call would exceed the budget: %s; the call is estimated at %s", figures, e.Next)
	default:
		return fmt.Sprintf("budget reached: %s; the next call is estimated at %s", figures, e.Next)
	}
}

// Enough returns a limit, as it is written, under which the run can go on for a while: twice of
// what it needs now. "0", no limit, when none can be kept.
func (e *Error) Enough() string {
	if e.Cause != "" {
		return "0"
	}
	return roundUp(2 * max(e.Max, e.Used+e.nextTakes()))
}

func (e *Error) nextTakes() float64 {
	switch {
	case e.Next == nil:
		return 0
	case e.Limit == LimitUSD && e.Next.USD != nil:
		return *e.Next.USD
	case e.Limit == LimitTokens:
		return float64(e.Next.Tokens())
	default:
		return 0
	}
}

func amount(limit string, v float64) string {
	switch limit {
	case LimitUSD:
		return dollars(v)
	case LimitSeconds:
		return fmt.Sprintf("%.1f s", v)
	default:
		return fmt.Sprintf("%.0f tokens", v)
	}
}

// dollars writes an amount with four decimals, or with as many as its first two digits need.
func dollars(v float64) string {
	decimals := 4
	if v > 0 && v < 0.001 {
		decimals = 1 - int(math.Floor(math.Log10(v)))
	}
	return "$" + strconv.FormatFloat(v, 'f', min(decimals, 12), 64)
}

// roundUp writes the smallest number of two significant digits that is not below v.
func roundUp(v float64) string {
	if v <= 0 {
		return "0"
	}
	exponent := int(math.Floor(math.Log10(v))) - 1
	unit := math.Pow10(exponent)
	// What binary fractions add must not lead to the next step.
	digits := math.Ceil(v/unit - 1e-9)
	s := strconv.FormatFloat(digits*unit, 'f', max(-exponent, 0), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
