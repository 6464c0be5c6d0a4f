package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term/verified"
)

func newVerifyCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify SESSION",
		Short: "Prove that a session's record is what its run did",
		Long: `Run a session again with nothing but its record: no model is asked, no tool runs, nothing is written. Every view,
selection, request and decision is made again from the recorded answers and compared, byte for byte, with what is
recorded. The checksums of the journal say that no byte of it was changed. Other cascades that the run has begun are
sessions of their own: those on this machine are verified with it, and what each says of the other is compared.

Exit codes: 0 it holds; 1 it does not: the first difference is shown; 6 the record cannot be read.`,
		Example: "  windlass verify last\n  windlass verify last --json",
		Args:    oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return verifySession(cmd.Context(), con, args[0])
		},
	}
	con.jsonFlag(cmd)
	return cmd
}

func verifySession(ctx context.Context, con *console, given string) error {
	rec, err := readSession(ctx, con, given)
	if err != nil {
		return err
	}
	id := rec.Header.SessionID
	v, err := app.VerifyTree(ctx, con.app, rec, app.Extensions{})
	if err != nil {
		return err
	}
	err = con.print(v, func() error {
		if v.Holds {
			verified.Write(con.out, v)
		}
		return nil
	})
	if v.Holds || err != nil {
		return err
	}
	return exit.With(exit.Failed, fmt.Errorf("session %s does not hold: %s", id, v.Difference),
		"windlass version: windlass "+rec.Header.Windlass+" began the session, and another version may decide otherwise; or the record was changed")
}
