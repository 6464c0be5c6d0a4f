package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/diagnostics"
	"github.com/windlass-run/windlass/internal/term/reports"
)

// simulateOptions are the flags of windlass simulate.
type simulateOptions struct {
	policies []string
	prices   []string
	plot     bool
	svg      string
	calls    string
	dump     string
}

func newSimulateCommand(con *console) *cobra.Command {
	var o simulateOptions
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
		RunE: func(cmd *cobra.Command, args []string) error { return runSimulation(cmd.Context(), con, args, o) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.policies, "policy", nil, "settings to replay under, repeatable; default: full, every_turn, step:10 and default")
	f.StringSliceVar(&o.prices, "prices", []string{"0.1"}, "what tokens cost, repeatable or separated by commas")
	f.BoolVar(&o.plot, "plot", false, "draw tokens and cost per call, and the cost so far under each policy")
	f.StringVar(&o.svg, "svg", "", "write a picture of cost against information kept to this `FILE`")
	f.StringVar(&o.calls, "calls", "", "write a line of JSON per call to this file")
	f.StringVar(&o.dump, "dump", "", "write a line of JSON per call to this file, with the messages as they would be sent")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func runSimulation(ctx context.Context, con *console, args []string, o simulateOptions) error {
	ctx, stop := interruptible(ctx, func() {})
	defer stop()
	named, err := choosePolicies(con, o.policies)
	if err != nil {
		return err
	}
	prices, err := choosePrices(con, o.prices)
	if err != nil {
		return err
	}
	all, err := simulate.ReadSources(args, con.localJournal)
	if err != nil {
		return conversationsError(err)
	}
	sim := &simulate.Simulation{Policies: simulate.WithHindsight(named), Prices: prices, Keep: o.dump != "", Series: o.plot}
	files := &simulate.Files{Named: len(named), Policies: len(sim.Policies)}
	if err := files.Create(o.svg, o.calls, o.dump); err != nil {
		return outputError(err)
	}
	progress := term.NewCounter(term.NewLine(con.err), "conversations", len(all))
	report, err := sim.Replay(ctx, all, files, progress.Step)
	progress.Clear()
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, exit.ErrInterrupted, "")
	}
	if err != nil {
		return err
	}
	return con.print(report, func() error {
		if err := reports.Simulation(con.out, con.room(con.out), report); err != nil || !o.plot {
			return err
		}
		return reports.SimulationPlots(con.out, reports.CanvasOf(con.out), report)
	})
}

// outputError says what to do about a file that cannot be written.
func outputError(err error) error {
	if errors.As(err, new(*simulate.SameFileError)) {
		return exit.UsageError(err, "a file for each")
	}
	return exit.UsageError(err, "check that the folder exists and can be written")
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

// conversationsError says what to do about an argument that cannot be replayed.
func conversationsError(err error) error {
	var folder *simulate.FolderError
	switch {
	case errors.As(err, new(*exit.Error)):
		return err
	case archive.IsOtherVersion(err):
		return exit.With(exit.Storage, err, "") // it says itself what to do
	case journal.IsUnreadable(err):
		return exit.With(exit.Storage, err, "restore the journal from a copy, or choose another session: windlass sessions list")
	case errors.As(err, &folder):
		return exit.UsageError(err, "windlass simulate "+filepath.Join(folder.Path, "*.jsonl"))
	case errors.As(err, new(*simulate.UnknownSourceError)):
		return exit.UsageError(err, "windlass sessions list")
	case failure.Is(err, failure.InvalidRequest):
		return exit.UsageError(err, "docs/simulate.md describes the files")
	}
	return err
}

// choosePolicies reads --policy.
func choosePolicies(con *console, texts []string) ([]simulate.Policy, error) {
	list, found, err := simulate.ChoosePolicies(texts, "--policy")
	diagnostics.Write(con.err, found)
	var choice *simulate.ChoiceError
	switch {
	case errors.As(err, &choice):
		return nil, exit.UsageError(fmt.Errorf("--%w", err), cmp.Or(choice.Try, "windlass simulate --help"))
	case err != nil:
		return nil, exit.UsageError(err, "docs/cascade.md describes the settings of intra_context")
	}
	return list, nil
}

// choosePrices reads --prices.
func choosePrices(con *console, texts []string) ([]simulate.Prices, error) {
	if len(texts) == 0 {
		return nil, exit.UsageError(errors.New("--prices is empty"), "--prices 0.1, or leave it out")
	}
	const forms = "--prices 0.1, --prices 2.5:0.25, or --prices MODEL"
	list, err := simulate.ChoosePrices(texts, func(model string) (*config.Price, error) {
		cfg, err := con.config()
		if err != nil {
			return nil, exit.Of(err)
		}
		return llm.NewRouter(cfg, environment.Getenv).Price(model), nil
	})
	var choice *simulate.ChoiceError
	switch {
	case errors.As(err, new(*exit.Error)):
		return nil, err
	case errors.As(err, &choice):
		return nil, exit.UsageError(fmt.Errorf("--%w", err), cmp.Or(choice.Try, forms))
	case err != nil:
		return nil, exit.UsageError(err, forms)
	}
	return list, nil
}
