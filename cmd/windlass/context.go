package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
)

func newContextCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "context",
		Short: "Show what model calls were sent, in which form and why",
		Long: "Shows what the model calls of a run were sent, message by message, in which form and why.\n\n" +
			aboutNames + "\nThe journal on this machine is read, and ClickHouse when there is none.\n" +
			"CALL is the number of a call in its session, such as 3, or its key, such as research/attempt1/turn3; that of an element of a\n" +
			"list or of a candidate, such as each/item3 or draft/sounding2, stands for its last call. A child is a session: windlass show\n" +
			"lists the children of one.\n" +
			"Tokens are estimates made without a tokenizer, a quarter of the bytes; what the provider counted is said to be its count.",
		Example: "  windlass context stats last\n  windlass context show last --phase research --turn 3\n" +
			"  windlass context diff last 3 4\n  windlass context why last 802db2e5",
		Args: noArgs,
		RunE: needsCommand("show, diff, why, stats, select, groups, drop, remove, undo, restore or rebuild", "windlass context stats SESSION"),
	}
	cmd.AddCommand(
		newContextShowCommand(con), newContextDiffCommand(con), newContextWhyCommand(con), newContextStatsCommand(con), newContextSelectCommand(con),
	)
	cmd.AddCommand(newContextGroupCommands(con)...)
	return cmd
}

// shower shows for people what a command about a session has found.
type shower func(contexts.Out) error

// contextCommand makes a command about one session. wanted says what its arguments are, n how many,
// the session first. find returns what the command prints as JSON, and how people are shown it.
func contextCommand(
	con *console, use, short, long, example string, n int, wanted string, find func(*inspect.Record, []string) (any, shower, error),
) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		Args: takes(n, wanted, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inspectSession(cmd.Context(), con, args[0], func(r *inspect.Record) error {
				found, show, err := find(r, args[1:])
				if err != nil {
					return err
				}
				return con.print(found, func() error { return show(con.contexts()) })
			})
		},
	}
	con.jsonFlag(cmd)
	return cmd
}

func newContextShowCommand(con *console) *cobra.Command {
	var pick inspect.Pick
	cmd := contextCommand(con, "show SESSION", "Print exactly what one model call was sent",
		"Prints exactly what one model call was sent, message by message: its form and why, its size, the content hash of the\n"+
			"original, and the text as sent. Without flags it is the session's last call, else the last one that the flags name.",
		"  windlass context show last\n  windlass context show last --phase research --turn 3\n"+
			"  windlass context show last --phase each --item 3\n  windlass context show last --sounding 2\n"+
			"  windlass context show last --call research/attempt2/turn1 --json",
		1, "one session id",
		func(r *inspect.Record, _ []string) (any, shower, error) {
			c, err := r.Pick(pick)
			if failure.Is(err, failure.InvalidRequest) {
				err = exit.UsageError(err, "--attempt 1 --turn 3")
			}
			if err != nil {
				return nil, nil, err
			}
			shown, err := r.Show(c)
			return shown, func(o contexts.Out) error { return contexts.Call(o, shown, len(r.Calls)) }, err
		})
	cmd.Flags().StringVar(&pick.Call, "call", "", "the call's number or key")
	cmd.Flags().StringVar(&pick.Phase, "phase", "", "the phase, or the visit or branch as in research~2 or each/item3")
	cmd.Flags().IntVar(&pick.Item, "item", 0, "the element of a list, from 1")
	cmd.Flags().IntVar(&pick.Sounding, "sounding", 0, "the candidate, from 1; without --reforge one of the first ones")
	cmd.Flags().IntVar(&pick.Reforge, "reforge", 0, "the step of refinement, from 1")
	cmd.Flags().IntVar(&pick.Attempt, "attempt", 0, "the attempt, from 1")
	cmd.Flags().IntVar(&pick.Turn, "turn", 0, "the turn, from 1")
	for _, other := range []string{"phase", "item", "sounding", "reforge", "attempt", "turn"} {
		exclude(cmd, "call", other)
	}
	return cmd
}

func newContextDiffCommand(con *console) *cobra.Command {
	return con.wideFlag(contextCommand(con, "diff SESSION CALL CALL", "Show what changed between the requests of two calls",
		"Shows what changed between the requests of two calls, and where their common beginning ends: what a prefix cache can give.",
		"  windlass context diff last 3 4\n  windlass context diff last research/attempt1/turn3 research/attempt2/turn1",
		3, "one session id and two calls", func(r *inspect.Record, args []string) (any, shower, error) {
			from, err := r.Call(args[0])
			if err != nil {
				return nil, nil, err
			}
			to, err := r.Call(args[1])
			if err != nil {
				return nil, nil, err
			}
			d, err := r.Diff(from, to)
			return d, func(o contexts.Out) error { return contexts.Diff(o, d) }, err
		}))
}

func newContextWhyCommand(con *console) *cobra.Command {
	return con.wideFlag(contextCommand(con, "why SESSION HASH", "List the calls that a message was sent in, in which form and why",
		"Lists the calls that a message was sent in, in which form and why. HASH is its content hash, or the beginning of it.",
		"  windlass context why last 802db2e58ea89691\n  windlass context why last 802d --json",
		2, "one session id and one hash", func(r *inspect.Record, args []string) (any, shower, error) {
			x, err := r.Explain(args[0])
			return x, func(o contexts.Out) error { return contexts.Uses(o, x) }, err
		}))
}

func newContextStatsCommand(con *console) *cobra.Command {
	return con.wideFlag(contextCommand(con, "stats SESSION", "Sum up what was sent and what that saved, with a bar for each call",
		"Sums up what the model calls of a run were sent: in tokens and in money, compared with full history and the same caching.\n"+
			"Each call has a bar of its tokens by form; the dots are tokens of the full history that were not sent.",
		"  windlass context stats last\n  windlass context stats last --json",
		1, "one session id", func(r *inspect.Record, _ []string) (any, shower, error) {
			s := r.Stats()
			return s, func(o contexts.Out) error { return showStats(con, o, r, &s.Total) }, nil
		}))
}

// showStats shows the sums, and says what they lack.
func showStats(con *console, o contexts.Out, r *inspect.Record, total *inspect.Sums) error {
	if len(r.Calls) == 0 {
		fmt.Fprintf(con.err, "S%s.\n", r.WithoutCalls()[1:])
		if in := r.CallsIn(); in != "" {
			fmt.Fprintln(con.err, "Try: windlass context stats "+in)
		}
		return nil
	}
	err := contexts.Stats(o, r.ID, total, r.Calls)
	if n := total.Unpriced - total.Scripted; n > 0 {
		fmt.Fprintf(con.err, "The price of %s is unknown, so that they are in no sum of money; windlass.json can set a model's price.\n", term.Plural(n, "model call"))
	}
	return err
}
