package main

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
)

// limitFlags gives a command the flags of the limits.
func limitFlags(cmd *cobra.Command, o *app.Limits) {
	f := cmd.Flags()
	f.Func("max-usd", "the most that the run may cost, in US `DOLLARS`; 0 is no limit", amountTo(&o.MaxUSD))
	f.Func("max-tokens", "the most `TOKENS` of the run, in and out; 0 is no limit", func(text string) error {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 0 {
			return app.ErrNoCount
		}
		o.MaxTokens = &v
		return nil
	})
	f.Func("max-seconds", "the most `SECONDS` of the run; 0 is no limit", amountTo(&o.MaxSeconds))
}

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
