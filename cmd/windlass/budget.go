package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
)

// limitFlags gives a command the flags of the limits.
func limitFlags(cmd *cobra.Command, o *app.Limits) {
	f := cmd.Flags()
	f.Var(amountFlag{&o.MaxUSD}, "max-usd", "the most that the run may cost, in US `DOLLARS`; 0 is no limit")
	f.Var(countFlag{&o.MaxTokens}, "max-tokens", "the most `TOKENS` of the run, in and out; 0 is no limit")
	f.Var(amountFlag{&o.MaxSeconds}, "max-seconds", "the most `SECONDS` of the run; 0 is no limit")
}

// amountFlag is a flag of a limit that may have decimals.
type amountFlag struct{ to **float64 }

// String implements [pflag.Value].
func (f amountFlag) String() string {
	if f.to == nil || *f.to == nil {
		return ""
	}
	return strconv.FormatFloat(**f.to, 'f', -1, 64)
}

// Set implements [pflag.Value].
func (f amountFlag) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return app.ErrNoAmount
	}
	*f.to = &v
	return nil
}

// Type implements [pflag.Value].
func (amountFlag) Type() string { return "number" }

// countFlag is a flag of a limit of tokens.
type countFlag struct{ to **int64 }

// String implements [pflag.Value].
func (f countFlag) String() string {
	if f.to == nil || *f.to == nil {
		return ""
	}
	return strconv.FormatInt(**f.to, 10)
}

// Set implements [pflag.Value].
func (f countFlag) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < 0 {
		return app.ErrNoCount
	}
	*f.to = &v
	return nil
}

// Type implements [pflag.Value].
func (countFlag) Type() string { return "number" }

// limitFlag writes the flag that sets a limit of a budget.
func limitFlag(limit, value string) string {
	names := map[string]string{"max_usd": "--max-usd", "max_tokens": "--max-tokens", "max_seconds": "--max-seconds"}
	return fmt.Sprintf("%s %s", names[limit], value)
}
