package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/commandline/tokenflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/server/token"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newServeTokenCreateCommand(con *console) *cobra.Command {
	var rights []string
	var expires, name string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Issue a token with some rights, until some time",
		Long: `Issue a token for somebody else, and print it. It is printed once: only its hash is kept. It has the rights of --rights and no
others: read shows sessions and waits, run starts, cancels and resumes runs, answer answers waits and sends signals. Its name
is who has answered, as the record has it. Every server of this home folder takes it at once, also one that is running.`,
		Example: "  windlass serve token create --rights read,answer --expires 30d --name ann\n  windlass serve token create --rights read --expires 12h",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return issueToken(cmd.Context(), con, name, tokenflags.RightsOf(rights), expires)
		},
	}
	cmd.Flags().StringSliceVar(&rights, "rights", nil, "what it allows: `RIGHTS` read, run, answer, with commas between them")
	cmd.Flags().StringVar(&expires, "expires", "30d", "for how long it is good, a `TIME` as 30d or 12h")
	cmd.Flags().StringVar(&name, "name", "", "the `NAME` of the token (default: token-1, and so on)")
	con.jsonFlag(cmd)
	return cmd
}

func issueToken(ctx context.Context, con *console, name string, rights []token.Right, expires string) error {
	lasts, err := token.ParseTime(expires)
	if err != nil {
		return tokenflags.Problem(err)
	}
	book, home, err := con.book()
	if err != nil {
		return err
	}
	var text string
	var made *token.Issued
	if err := tokenflags.Audit(ctx, home, audit.TokenCreate, name, func() error {
		text, made, err = book.Issue(ctx, name, rights, lasts, time.Now())
		return err
	}); err != nil {
		return tokenflags.Problem(err)
	}
	return con.print(tokenflags.Created{Token: text, View: tokenflags.ViewOf(made)}, func() error {
		fmt.Fprintf(con.err, "The token %s may %s until %s. It is shown once.\n", made.Name, tokenflags.Rights(made), made.Expires.Local().Format("2006-01-02 15:04"))
		_, err := fmt.Fprintln(con.out, text)
		return err
	})
}

func newServeTokenListCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens that were issued",
		Long:    "List the tokens that windlass serve token create has issued, with their rights and their ends; never the tokens themselves.",
		Example: "  windlass serve token list",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			book, _, err := con.book()
			if err != nil {
				return err
			}
			list, err := book.List()
			if err != nil {
				return tokenflags.Problem(err)
			}
			return con.print(tokenflags.Views(list), func() error { return con.table(tokenflags.Table(list, time.Now())) })
		},
	}
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func newServeTokenRevokeCommand(con *console) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke NAME",
		Short:   "Take an issued token away",
		Long:    "Take away a token that windlass serve token create has issued. A server that is running refuses it from the next request on.",
		Example: "  windlass serve token revoke ann",
		Args:    takes(1, "the name of one token", "windlass serve token revoke NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			book, home, err := con.book()
			if err != nil {
				return err
			}
			if err := tokenflags.Audit(cmd.Context(), home, audit.TokenRevoke, args[0], func() error { return book.Revoke(cmd.Context(), args[0]) }); err != nil {
				return tokenflags.Problem(err)
			}
			fmt.Fprintf(con.err, "The token %s is revoked.\n", args[0])
			return nil
		},
	}
}

// book returns the tokens that were issued for the servers of the home.
func (con *console) book() (book *token.Book, home string, err error) {
	opened, err := con.open()
	if err != nil {
		return nil, "", err
	}
	return token.NewBook(token.Folder(opened.Home())), opened.Home(), nil
}

func newAuditCommand(con *console) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show who answered, signalled, began, cancelled or resumed, and what was refused",
		Long: `Shows the audit of this machine: each answer and each signal of a person, each run that was begun, cancelled or resumed over
HTTP, each token that was issued or revoked, and each such attempt that was refused, with who, how and when. What was said is
in the records of the sessions, and not here.`,
		Example: "  windlass audit\n  windlass audit --limit 1000 --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if limit < 1 {
				return exit.UsageError(fmt.Errorf("--limit %d: at least one line must be possible", limit), "--limit 100")
			}
			_, home, err := con.book()
			if err != nil {
				return err
			}
			lines, damaged, err := audit.Read(home, limit)
			if err != nil {
				return err
			}
			if damaged > 0 {
				fmt.Fprintf(con.err, "warning: %s of %s cannot be read\n", term.Plural(damaged, "line"), audit.Path(home))
			}
			return con.print(append([]audit.Line{}, lines...), func() error {
				if len(lines) == 0 {
					fmt.Fprintln(con.err, "Nothing was answered, signalled or asked over HTTP yet.")
					return nil
				}
				return con.table(reports.Audit(lines))
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "show the newest `N` lines")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}
