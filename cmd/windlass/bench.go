package main

import "github.com/spf13/cobra"

// newBenchCommand is the group of measurements of windlass itself. It is not in the list of commands: nobody needs it to
// run cascades.
func newBenchCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure windlass on published data",
		Long:    "Measurements of windlass itself, on published data that is not part of it.",
		Example: "  windlass bench locomo conversations.json",
		Hidden:  true,
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchLocomoCommand(a))
	return cmd
}
