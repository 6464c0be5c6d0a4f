package main

import "github.com/spf13/cobra"

// commands lists every command, in the order of the help text.
func commands(con *console) []*cobra.Command {
	return []*cobra.Command{
		newRunCommand(con),
		newResumeCommand(con),
		newServeCommand(con),
		newValidateCommand(con),
		newSchemaCommand(con),
		newSQLCommand(con),
		newCostCommand(con),
		newSimulateCommand(con),
		newSessionsCommand(con),
		newShipCommand(con),
		newContextCommand(con),
		newVerifyCommand(con),
		newReplayCommand(con),
		newTestCommand(con),
		newDoctorCommand(con),
		newFetchCommand(con),
		newVersionCommand(con),
		newEngineCommand(con),
	}
}
