package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term/contexts"
	"github.com/windlass-run/windlass/internal/term/fetching"
)

func newContextSelectCommand(con *console) *cobra.Command {
	var o cards.Trial
	var store bool
	var cmd *cobra.Command
	cmd = contextCommand(con, "select SESSION", "Try which messages of a session would be selected for a task",
		"Tries which messages of a recorded session would be selected for a task, without running anything. Everything that\n"+
			"finished phases said is a candidate; there are no anchors. Strategies: heuristic, semantic, prefilter (words and\n"+
			"meaning), and with --model, which is asked and paid for, llm and hybrid.",
		"  windlass context select last --for \"Why did orders fail?\"\n"+
			"  windlass context select last --for \"Write the fix\" --strategy heuristic --budget 4000 --phase fix\n"+
			"  windlass context select last --for \"Write the fix\" --strategy llm --model gpt-5-nano --json",
		1, "one session id", func(r *inspect.Record, _ []string) (any, shower, error) {
			found, err := trySelection(cmd.Context(), con, r, o, store)
			return found, func(out contexts.Out) error { return contexts.Selection(out, found) }, err
		})
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkTrial(&o) }
	con.wideFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Task, "for", "", "the `TASK` to select for")
	f.StringVar((*string)(&o.Strategy), "strategy", string(cards.StrategyPrefilter), "how: heuristic, semantic, prefilter, llm or hybrid")
	f.Int64Var(&o.Budget, "budget", cascade.DefaultInter().Selection.MaxTokens, "the most `TOKENS`")
	f.StringVar(&o.Phase, "phase", "", "select from what had finished when this `PHASE` began")
	f.StringVar(&o.Model, "model", "", "the `MODEL` that chooses, with llm and hybrid")
	f.BoolVar(&store, "store", false, "store the session's cards that ClickHouse does not have yet in context_cards")
	return cmd
}

func checkTrial(o *cards.Trial) error {
	asks := o.Strategy.AsksModel()
	switch {
	case strings.TrimSpace(o.Task) == "":
		return exit.UsageError(errors.New("no task to select for"), `windlass context select SESSION --for "why did it fail?"`)
	case !slices.Contains(cards.Strategies(), o.Strategy):
		known := strings.ReplaceAll(strings.Trim(fmt.Sprint(cards.Strategies()), "[]"), " ", ", ")
		return exit.UsageError(fmt.Errorf("--strategy %q: there are %s", o.Strategy, known), "--strategy heuristic")
	case o.Budget < 1:
		return exit.UsageError(fmt.Errorf("--budget %d: expected 1 or more tokens", o.Budget), "--budget 4000")
	case asks && o.Model == "":
		return exit.UsageError(fmt.Errorf("the strategy %s asks a model, and none is named", o.Strategy), "--model gpt-5-nano, or --strategy prefilter")
	case !asks && o.Model != "":
		return exit.UsageError(fmt.Errorf("--model is for the strategies llm and hybrid; %s asks none", o.Strategy), "leave it out, or --strategy llm")
	}
	return nil
}

// trySelection selects as the flags say.
func trySelection(ctx context.Context, con *console, r *inspect.Record, o cards.Trial, store bool) (*cards.Tried, error) {
	runs, err := con.open()
	if err != nil {
		return nil, err
	}
	progress := fetching.NewProgress(con.err)
	defer progress.Mute()
	o.Progress = progress.Show
	o.Instead = func(why error) {
		progress.Mute()
		fmt.Fprintf(con.err, "Messages are compared by their spelling and not by meaning: %v\n", why)
	}
	found, err := runs.TrySelection(ctx, r.ID, r.Entries, o, store)
	if failure.Is(err, failure.InvalidRequest) {
		err = exit.UsageError(err, "windlass show "+r.ID)
	}
	return found, err
}
