package main

import (
	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/handoff"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term/contexts"
)

func newSessionsHandoffCommand(con *console) *cobra.Command {
	return contextCommand(con, "handoff SESSION", "Say where a run stands, for whoever goes on with it",
		"Says where a run stands, for whoever goes on with it, as Markdown: the task, what is done, what remains, what is in the\n"+
			"way, what was decided, which files differ from the last commit, and what to tell a model that goes on. It is made of\n"+
			"the record, so that it is there for a run that was killed, too. No model is asked.",
		"  windlass sessions handoff 01JZ4K\n  windlass sessions handoff 01JZ4K > handoff.md\n  windlass sessions handoff 01JZ4K --json",
		1, "one session id", func(r *inspect.Record, _ []string, asJSON bool) error {
			h, err := r.Handoff()
			if err != nil {
				return err
			}
			return showContext(con, h, asJSON, func(o contexts.Out) error { return contexts.Text(o, handoff.Markdown(h)) })
		})
}
