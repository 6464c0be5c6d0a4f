package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/comparison"
	"github.com/windlass-run/windlass/internal/term/compared"
)

func newDiffCommand(con *console) *cobra.Command {
	var phase string
	cmd := &cobra.Command{
		Use:   "diff SESSION SESSION",
		Short: "Compare two runs phase by phase: route, outputs, tokens, money",
		Long: `Compares two runs phase by phase: the way that each took, what the phases put out, how often they tried, and what they
used. --phase shows all that differs in the output of one phase. What a fork has copied is marked, and is in no sum.
The exit code is 0, whether they differ or not; --json says "equal".

` + aboutNames,
		Example: "  windlass diff last~1 last\n  windlass diff last~1 last --phase report\n  windlass diff 7k2mq last --json",
		Args:    takes(2, "two session ids", "windlass diff last~1 last"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return diffSessions(cmd.Context(), con, args, phase, cmd.Flags().Changed("phase"))
		},
	}
	cmd.Flags().StringVar(&phase, "phase", "", "show the difference between the outputs of this phase, or visit as in research~2")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func diffSessions(ctx context.Context, con *console, given []string, phase string, onePhase bool) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	var reports [2]*archive.Report
	for i, name := range given {
		if reports[i], err = arc.Report(ctx, name); err != nil {
			return err
		}
	}
	c := comparison.Of(reports[0], reports[1])
	if onePhase {
		return diffPhase(con, c, phase)
	}
	return con.print(c, func() error {
		out := con.contexts()
		return compared.Write(out, &compared.Sessions{
			Comparison: c, NameA: con.nameOf(out.Width, c.A.ID), NameB: con.nameOf(out.Width, c.B.ID), Command: commandline.Self(),
		})
	})
}

func diffPhase(con *console, c *comparison.Comparison, visit string) error {
	found, err := c.Of(visit)
	if err != nil {
		return err
	}
	return con.print(found, func() error { return compared.Unified(con.contexts(), found) })
}
