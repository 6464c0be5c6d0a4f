package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// newEngineCommand is the hidden command with which this executable starts itself as the embedded
// engine. Its arguments belong to package embedded.
func newEngineCommand(*console) *cobra.Command {
	return &cobra.Command{
		Use:                embedded.ServeCommand,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := embedded.Serve(append([]string{embedded.ServeCommand}, args...)); code != exitOK {
				return &exitError{code: exitStorage, err: errors.New("the engine process failed"), silent: true}
			}
			return nil
		},
	}
}
