package main

import "github.com/spf13/cobra"

// commands lists every command, in the order of the help text.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newRunCommand(a),
		newResumeCommand(a),
		newServeCommand(a),
		newValidateCommand(a),
		newSchemaCommand(a),
		newSQLCommand(a),
		newCostCommand(a),
		newSimulateCommand(a),
		newSessionsCommand(a),
		newShipCommand(a),
		newContextCommand(a),
		newVerifyCommand(a),
		newReplayCommand(a),
		newTestCommand(a),
		newDoctorCommand(a),
		newFetchCommand(a),
		newVersionCommand(a),
		newEngineCommand(a),
	}
}
