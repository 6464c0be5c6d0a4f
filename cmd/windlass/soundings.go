package main

import (
	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term/contexts"
)

func newSoundingsCommand(con *console) *cobra.Command {
	one, two := takes(1, "one session id, and a phase where it has several", "windlass sessions list"), takes(2, "one session id and one phase", "")
	cmd := con.wideFlag(&cobra.Command{
		Use:   "soundings SESSION [PHASE]",
		Short: "Show the candidates of a phase beside each other, what the judges said, and why one is kept",
		Long: "Shows the several tries of a phase, of an element of a list or of a whole cascade: the state of each and what it took, every pair\n" +
			"of ballots, the evidence, how often each judge turned its verdict when the order was reversed, and why one is kept.\n\n" + aboutNames +
			"\nThe journal on this machine is read, and ClickHouse when there is none. PHASE is the name of a phase, or a key as each/item3.",
		Example: "  windlass soundings last\n  windlass soundings last draft\n  windlass soundings last --json | jq '.[].steps[].choice'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return two(cmd, args)
			}
			return one(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return inspectSession(cmd.Context(), con, args[0], func(r *inspect.Record) error {
				phase := ""
				if len(args) > 1 {
					phase = args[1]
				}
				found, err := r.Soundings(phase)
				if failure.Is(err, failure.InvalidRequest) {
					return exit.UsageError(err, soundingsHint(r))
				}
				if err != nil {
					return err
				}
				return con.print(found, func() error { return contexts.Soundings(con.contexts(), found) })
			})
		},
	})
	con.jsonFlag(cmd)
	return cmd
}

// soundingsHint says what can be looked at where there are no soundings of what was asked for.
func soundingsHint(r *inspect.Record) string {
	if all, err := r.AllSoundings(); err != nil || len(all) == 0 {
		return "windlass show " + r.ID
	}
	return "windlass soundings " + r.ID
}
