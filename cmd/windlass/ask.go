package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline/attended"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/keys"
	"github.com/windlass-run/windlass/internal/term/live"
)

// noAskFlag adds --no-ask to a command that runs cascades.
func noAskFlag(cmd *cobra.Command, no *bool) {
	cmd.Flags().BoolVar(no, "no-ask", false, "ask nobody on the terminal: what the run waits for is left waiting")
}

// asks reports whether the run asks a person what it waits for: at a terminal, in and out, with a live view.
func (s *shownRun) asks() bool {
	plain := s.noAsk || s.asJSON || s.events || s.mode != live.ModeLive
	return !plain && keys.Supported && term.IsTerminalInput(s.con.in) && term.IsTerminal(s.con.out)
}

// newAsker returns who asks the person at the terminal what a run waits for, and hears what they say to it; nil where nobody is asked.
func (s *shownRun) newAsker(v live.View, r *app.Run) *live.Asker {
	in, _ := s.con.in.(*os.File)
	return live.NewAsker(v, attended.Options(s.con.app.Home(), r, in, s.con.err))
}
