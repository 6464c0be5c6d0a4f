package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
)

// budgetOverride are limits that somebody gives a run. They count more than those that it would have, higher or lower: nil
// leaves a limit as it is, and 0 takes it away.
type budgetOverride struct {
	MaxUSD     *float64 `json:"max_usd,omitempty"`
	MaxTokens  *int64   `json:"max_tokens,omitempty"`
	MaxSeconds *float64 `json:"max_seconds,omitempty"`
}

// flags gives a command the flags of the limits.
func (o *budgetOverride) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(amountFlag{&o.MaxUSD}, "max-usd", "the most that the run may cost, in US `DOLLARS`; 0 is no limit")
	f.Var(countFlag{&o.MaxTokens}, "max-tokens", "the most `TOKENS` of the run, in and out; 0 is no limit")
	f.Var(amountFlag{&o.MaxSeconds}, "max-seconds", "the most `SECONDS` of the run; 0 is no limit")
}

// apply returns the limits of a run that otherwise has those of base; nil when they stay as they are.
func (o budgetOverride) apply(base cascade.Budget) *cascade.Budget {
	if o == (budgetOverride{}) {
		return nil
	}
	if o.MaxUSD != nil {
		base.MaxUSD = *o.MaxUSD
	}
	if o.MaxTokens != nil {
		base.MaxTokens = *o.MaxTokens
	}
	if o.MaxSeconds != nil {
		base.MaxSeconds = *o.MaxSeconds
	}
	return &base
}

// check says why a limit makes no sense; for limits that do not come from flags.
func (o budgetOverride) check() error {
	for _, v := range []*float64{o.MaxUSD, o.MaxSeconds} {
		if v != nil && (!(*v >= 0) || math.IsInf(*v, 0)) {
			return errNoAmount
		}
	}
	if o.MaxTokens != nil && *o.MaxTokens < 0 {
		return errNoCount
	}
	return nil
}

var (
	errNoAmount = errors.New("a limit is a number from 0 on, where 0 is no limit")
	errNoCount  = errors.New("a limit of tokens is a whole number from 0 on, where 0 is no limit")
)

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
		return errNoAmount
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
		return errNoCount
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
