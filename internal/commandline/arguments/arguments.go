// Package arguments has what commands demand of their arguments and flags.
package arguments

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/windlass-run/windlass/internal/exit"
)

// Exclude makes two flags of a command exclude each other.
func Exclude(cmd *cobra.Command, one, other string) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return exit.UsageError(fmt.Errorf("--%s and --%s exclude each other", one, other), "one of them, or neither")
		}
		if before != nil {
			return before(cmd, args)
		}
		return nil
	}
}

// Takes demands n arguments, none empty. Without a hint the hint is the help of the command.
func Takes(n int, wanted, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n && !slices.Contains(args, "") {
			return nil
		}
		return exit.UsageError(fmt.Errorf("%s takes %s, got %q", cmd.CommandPath(), wanted, args), cmp.Or(hint, cmd.CommandPath()+" --help"))
	}
}

// Filled demands that a flag which is given has a value, and a list no empty one: what it is, and what shows those that there are.
func Filled(flags *pflag.FlagSet, name, what, hint string) error {
	f := flags.Lookup(name)
	if !f.Changed {
		return nil
	}
	values := []string{f.Value.String()}
	if list, is := f.Value.(pflag.SliceValue); is {
		values = list.GetSlice()
	}
	if len(values) == 0 || slices.Contains(values, "") {
		return exit.UsageError(fmt.Errorf("--%s needs %s, and it is empty", name, what), hint)
	}
	return nil
}

// None demands that there are no arguments.
var None = Takes(0, "no arguments", "")

// AtLeastOne refuses a command line without arguments.
func AtLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return exit.UsageError(fmt.Errorf("%s needs at least one %s", cmd.Name(), what), cmd.CommandPath()+" --help")
	}
}

// NeedsCommand refuses a command that only has others.
func NeedsCommand(names, hint string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		return exit.UsageError(fmt.Errorf("%s needs %s", cmd.CommandPath(), names), hint)
	}
}
