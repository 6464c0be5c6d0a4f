package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline/serveflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/server/token"
)

func tokenFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "token-file", "", "a `FILE` with the token that clients have to show (or "+token.Variable+"; without both the server makes one)")
}

func newServeTokenCommand(con *console) *cobra.Command {
	var file string
	var header, page bool
	cmd := &cobra.Command{
		Use:   "token [ADDRESS]",
		Short: "Print the token that windlass serve demands",
		Long: `Print the token that windlass serve demands: that of WINDLASS_SERVE_TOKEN or --token-file, or else the one that the
server made when it started, which is in a file that only its owner can read. ADDRESS says which server is meant when
several are running, as its first line has it.

--page prints an address that opens the page of windlass serve in a browser instead: once, within 10 minutes.

Hand it to a client through a pipe, as in the example: the arguments of a command can be seen by every user of the
machine. A server that starts again makes another token. It allows everything; create issues tokens that allow less.`,
		Example: `  windlass serve token --page
  windlass serve token --header | curl -sS -H @- http://127.0.0.1:8765/api/sessions
  windlass serve token 127.0.0.1:9000`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exit.UsageError(fmt.Errorf("%s takes one address, got %q", cmd.CommandPath(), args), cmd.CommandPath()+" 127.0.0.1:8765")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if page {
				return printPage(cmd.Context(), con, file, strings.Join(args, ""))
			}
			return printServeToken(con, file, strings.Join(args, ""), header)
		},
	}
	tokenFlag(cmd, &file)
	cmd.Flags().BoolVar(&header, "header", false, "print the header of a request that shows it")
	cmd.AddCommand(newServeTokenCreateCommand(con), newServeTokenListCommand(con), newServeTokenRevokeCommand(con))
	cmd.Flags().BoolVar(&page, "page", false, "print an address that opens the page once")
	exclude(cmd, "page", "header")
	return cmd
}

// printPage prints an address that opens the page of a server.
func printPage(ctx context.Context, con *console, file, address string) error {
	opened, err := con.open()
	if err != nil {
		return err
	}
	page, err := serveflags.Page(ctx, opened.Home(), file, address, log.New(con.err, "", 0))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(con.out, page)
	return err
}

// printServeToken prints the token for a client.
func printServeToken(con *console, file, address string, header bool) error {
	opened, err := con.open()
	if err != nil {
		return err
	}
	text, err := serveflags.Token(opened.Home(), file, address, log.New(con.err, "", 0))
	if err != nil {
		return err
	}
	if header {
		text = "Authorization: Bearer " + text
	}
	_, err = fmt.Fprintln(con.out, text)
	return err
}
