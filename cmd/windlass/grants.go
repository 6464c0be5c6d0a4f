package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newGrantsCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List approvals that count for later calls",
		Long: `Lists the approvals that were given with --grant: each counts for later calls of the same tool of the same cascade,
in its session or in every session of this machine, until it is revoked. The record of a session says which grant
has allowed a call.`,
		Example: "  windlass grants\n  windlass grants revoke 7k2mq",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listGrants(cmd.Context(), con)
		},
	}
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	revoke := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a grant: later calls ask again",
		Long:    "Revokes a grant by its id, or the beginning of it. Calls that it would have allowed wait for approval again. It never\ncounts again.",
		Example: "  windlass grants revoke 7k2mq",
		Args:    takes(1, "the id of one grant", "windlass grants"),
		RunE: func(cmd *cobra.Command, args []string) error {
			desk, _, err := deskOf(cmd.Context(), con, nil)
			if err != nil {
				return err
			}
			g, err := desk.Revoke(args[0], answerflags.UserName(), echo.ViaCommand)
			if err != nil {
				return err
			}
			return con.print(g, func() error {
				fmt.Fprintf(con.out, "Revoked. Calls of %s wait for approval again.\n", term.Clean(g.Tool))
				return nil
			})
		},
	}
	con.jsonFlag(revoke)
	cmd.AddCommand(revoke)
	return cmd
}

func listGrants(ctx context.Context, con *console) error {
	desk, _, err := deskOf(ctx, con, nil)
	if err != nil {
		return err
	}
	list, damaged := desk.Grants()
	for _, err := range damaged {
		con.labelled("Warning: ", err.Error()+"; it counts for nothing")
	}
	return con.print(append([]*mailbox.Grant{}, list...), func() error {
		if len(list) == 0 {
			fmt.Fprintln(con.err, "There are no grants.")
			return nil
		}
		return con.table(reports.Grants(list))
	})
}
