package commandline_test

import (
	"errors"
	"io"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/commandline"
)

func TestFlagError(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"--limit=x":                     `invalid argument "x" for "--limit" flag: it is no whole number`,
		"--limit=1.5":                   `invalid argument "1.5" for "--limit" flag: it is no whole number`,
		"--limit=":                      `invalid argument "" for "--limit" flag: it is no whole number`,
		"--budget=9e99":                 `invalid argument "9e99" for "--budget" flag: it is no whole number`,
		"--budget=99999999999999999999": `invalid argument "99999999999999999999" for "--budget" flag: the number is too large`,
		"--share=much":                  `invalid argument "much" for "--share" flag: it is no number`,
		"--json=perhaps":                `invalid argument "perhaps" for "--json" flag: it is neither true nor false`,
		"--none":                        "unknown flag: --none",
	} {
		f := pflag.NewFlagSet("x", pflag.ContinueOnError)
		f.SetOutput(io.Discard)
		f.Int("limit", 0, "")
		f.Int64("budget", 0, "")
		f.Float64("share", 0, "")
		f.Bool("json", false, "")
		require.EqualError(t, commandline.FlagError(f.Parse([]string{arg})), want, arg)
	}
	other := errors.New("other")
	require.Equal(t, other, commandline.FlagError(other))
}
