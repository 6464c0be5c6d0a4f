package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/artifacts"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
	"github.com/windlass-run/windlass/internal/wholefile"
)

func newArtifactsCommand(con *console) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "artifacts [SESSION [ID]]",
		Short: "List what models have made for people to see",
		Long: `Lists what the models of a session have shown and kept as HTML, by show_ui and create_artifact; without SESSION that of the
newest one. With ID, or the beginning of it, it writes one to the file that --output names. What a model has written is not
to be trusted: windlass serve shows it in a frame without rights, a browser that opens the file does not.`,
		Example: "  windlass artifacts\n  windlass artifacts 7k2mq\n  windlass artifacts 7k2mq a4x --output report.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return exit.UsageError(fmt.Errorf("windlass artifacts takes a session and the id of an artifact, got %q", args), "windlass artifacts SESSION ID --output FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 2 && output == "":
				return exit.UsageError(errors.New("--output says where the artifact is written"), "windlass artifacts "+args[0]+" "+args[1]+" --output FILE")
			case len(args) < 2 && output != "":
				return exit.UsageError(errors.New("--output writes one artifact, and needs its session and id"), "windlass artifacts SESSION ID --output FILE")
			}
			return runArtifacts(cmd.Context(), con, append(args, "last")[0], args, output)
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "the `FILE` that one artifact is written to; one that exists stays as it is")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func runArtifacts(ctx context.Context, con *console, name string, args []string, output string) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	session, entries, err := arc.Entries(ctx, name)
	if err != nil {
		return err
	}
	list, err := artifacts.Of(session, entries)
	if err != nil {
		return err
	}
	if output == "" {
		return con.print(append([]artifacts.Found{}, list...), func() error {
			if len(list) == 0 {
				fmt.Fprintf(con.err, "Session %s has no artifacts.\n", session)
				return nil
			}
			return con.table(reports.Artifacts(list))
		})
	}
	found, err := artifacts.Find(session, list, args[1])
	if err != nil {
		return exit.UsageError(err, "windlass artifacts "+session)
	}
	if _, err := os.Lstat(output); err == nil {
		return exit.UsageError(fmt.Errorf("--output %s exists and is not overwritten", output), "--output with a file that does not exist yet")
	}
	if err := wholefile.Write(output, []byte(found.HTML), 0o600); err != nil {
		return exit.UsageError(fmt.Errorf("write --output %s: %w", output, err), "--output with a file in a folder that exists")
	}
	return con.print(found, func() error {
		fmt.Fprintf(con.out, "Wrote %s (%d bytes).\n", term.Clean(output), len(found.HTML))
		return nil
	})
}
