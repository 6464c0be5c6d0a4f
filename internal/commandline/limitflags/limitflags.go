// Package limitflags has the flags of what a run may take.
package limitflags

import (
	"math"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/windlass-run/windlass/internal/app"
)

// Add declares the flags of the limits.
func Add(f *pflag.FlagSet, o *app.Limits) {
	f.Var(limit(amountTo(&o.MaxUSD)), "max-usd", "the most that the run may cost, in US `DOLLARS`; 0 is no limit")
	f.Var(limit(func(text string) error {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 0 {
			return app.ErrNoCount
		}
		o.MaxTokens = &v
		return nil
	}), "max-tokens", "the most `TOKENS` of the run, in and out; 0 is no limit")
	f.Var(limit(amountTo(&o.MaxSeconds)), "max-seconds", "the most `SECONDS` of the run; 0 is no limit")
}

// limitFlag is the value of a flag with a limit. Unlike that of [pflag.FlagSet.Func] it keeps its text.
type limitFlag struct {
	read func(string) error
	text string
}

func limit(read func(string) error) *limitFlag { return &limitFlag{read: read} }

// Set implements [pflag.Value], as do the next two.
func (l *limitFlag) Set(text string) error {
	l.text = text
	return l.read(text)
}

func (l *limitFlag) String() string { return l.text }
func (l *limitFlag) Type() string   { return "func" }

// amountTo reads a limit that may have decimals.
func amountTo(to **float64) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return app.ErrNoAmount
		}
		*to = &v
		return nil
	}
}
