package main

import "github.com/windlass-run/windlass/internal/commandline/arguments"

var (
	exclude, takes           = arguments.Exclude, arguments.Takes
	atLeastOne, needsCommand = arguments.AtLeastOne, arguments.NeedsCommand

	noArgs     = arguments.None
	oneSession = takes(1, "one session id", "windlass sessions list")
)
