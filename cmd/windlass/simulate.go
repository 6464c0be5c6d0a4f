package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline/simulateflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newSimulateCommand(con *console) *cobra.Command {
	var o simulateflags.Options
	cmd := &cobra.Command{
		Use:   "simulate FILE.jsonl|SESSION...",
		Short: "Replay recorded conversations under context settings, without a model",
		Long: `Replays recorded conversations under one or many context settings and shows what each would have sent, what a prefix
cache would have shared, what it would have cost, and what would have been lost. No model is asked.

A FILE has one conversation per line: a JSON array of chat messages. A SESSION is a run on this machine, by
any of its names, such as last; the first row of its table is what the run really sent. Every policy is compared with
full history and with the best schedule in hindsight, which knows the whole conversation. docs/simulate.md explains the
columns.

POLICY is ` + strings.Join(simulate.PolicyNames(), ", ") + `, a JSON object of intra_context settings, or @FILE with one;
NAME=OBJECT and NAME=@FILE give it a name. PRICES is what a cached token costs as a share of another (0.1; 1: nothing is
cached), IN:CACHED in USD per million tokens, or the name of a model.`,
		Example: "  windlass simulate transcripts.jsonl\n" +
			"  windlass simulate transcripts.jsonl --prices 1,0.1,gpt-5-mini --svg cost.svg\n" +
			"  windlass simulate transcripts.jsonl --policy default --policy 'tight={\"mask_observations_after\": 1}'\n" +
			"  windlass simulate last --prices gpt-5-mini --plot\n" +
			"  windlass simulate last --policy full --policy @settings.json --json\n" +
			"  windlass simulate transcripts.jsonl --policy default --calls calls.jsonl --dump requests.jsonl",
		Args: atLeastOne("file or session"),
		RunE: func(cmd *cobra.Command, args []string) error { return runSimulation(cmd.Context(), con, args, &o) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Policies, "policy", nil, "settings to replay under, repeatable; default: full, every_turn, step:10 and default")
	f.StringSliceVar(&o.Prices, "prices", []string{"0.1"}, "what tokens cost, repeatable or separated by commas")
	f.BoolVar(&o.Plot, "plot", false, "draw tokens and cost per call, and the cost so far under each policy")
	f.StringVar(&o.SVG, "svg", "", "write a picture of cost against information kept to this `FILE`")
	f.StringVar(&o.Calls, "calls", "", "write a line of JSON per call to this file")
	f.StringVar(&o.Dump, "dump", "", "write a line of JSON per call to this file, with the messages as they would be sent")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func runSimulation(ctx context.Context, con *console, args []string, o *simulateflags.Options) error {
	ctx, stop := interruptible(ctx, func() {})
	defer stop()
	r, err := o.Open(args, simulateflags.Machine{Config: con.config, Journal: con.localJournal, Problems: con.err})
	if err != nil {
		return err
	}
	progress := term.NewCounter(term.NewLine(con.err), "conversations", len(r.Conversations))
	report, err := r.Run(ctx, progress.Step)
	progress.Clear()
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, exit.ErrInterrupted, "")
	}
	if err != nil {
		return err
	}
	return con.print(report, func() error {
		if err := reports.Simulation(con.out, con.room(con.out), report); err != nil || !o.Plot {
			return err
		}
		return reports.SimulationPlots(con.out, reports.CanvasOf(con.out), report)
	})
}

// localJournal returns the id of a session of this machine by its beginning, and its journal.
func (con *console) localJournal(begins string) (id, path string, err error) {
	arc, err := con.archive()
	if err != nil {
		return "", "", exit.Of(err)
	}
	id, path, err = arc.LocalJournal(begins)
	return id, path, exit.Of(err)
}
