package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/term"
)

func newVerifyCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify SESSION",
		Short: "Prove that a session's record is what its run did",
		Long: `Run a session again with nothing but its record: no model is asked, no tool runs, nothing is written. Every view,
selection, request and decision is made again from the recorded answers and compared, byte for byte, with what is
recorded. The checksums of the journal say that no byte of it was changed.

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

// uncheckedText says what could not be checked of a session, as it is redacted.
func uncheckedText(c *app.RedactionCheck) string {
	if c == nil {
		return ""
	}
	are, hashes := "are", "their hashes are"
	if c.Messages == 1 {
		are, hashes = "is", "its hash is"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %d %s redacted: %s taken as recorded, not computed.\n", term.Plural(c.Messages, "message"), c.Of, are, hashes)
	for _, r := range c.Redactions {
		fmt.Fprintf(&b, "  %s  %s, %s, since %s", r.Hash, term.CleanLines(string(r.Role)), term.Plural(r.Characters, "character"), r.At.UTC().Format("2006-01-02 15:04:05 UTC"))
		if r.Reason != "" {
			fmt.Fprintf(&b, ": %s", term.CleanLines(r.Reason))
		}
		b.WriteByte('\n')
	}
	if c.Taken > 0 {
		follow := "follow from what is redacted, and were taken as recorded, not compared"
		if c.Taken == 1 {
			follow = "follows from what is redacted, and was taken as recorded, not compared"
		}
		fmt.Fprintf(&b, "%s %s.\n", term.Plural(c.Taken, "entry"), follow)
	}
	if c.NotMade > 0 {
		fmt.Fprintf(&b, "From entry %d on only the checksums were checked: the message that decided the route of the run is redacted.\n", c.NotMade)
	}
	return b.String()
}

func verifySession(ctx context.Context, con *console, given string) error {
	rec, err := readSession(ctx, con, given)
	if err != nil {
		return err
	}
	id := rec.Header.SessionID
	v, err := con.app.Verify(ctx, rec, app.Extensions{})
	if err != nil {
		return err
	}
	err = con.print(v, func() error {
		if v.Holds {
			holds := "holds"
			if c := v.Redaction; c != nil && (c.Taken > 0 || c.NotMade > 0) {
				holds = "holds as far as its redactions allow"
			}
			fmt.Fprintf(con.out, "Session %s %s: %s, %s, %s and %s follow from its record (%s).\n", id, holds, term.Plural(v.Entries, "entry"),
				term.Plural(v.Requests, "request"), term.Plural(v.Views, "view"), term.Plural(v.Selections, "selection"), v.Status)
			fmt.Fprint(con.out, uncheckedText(v.Redaction))
		}
		return nil
	})
	if v.Holds || err != nil {
		return err
	}
	return withExit(exitFailed, fmt.Errorf("session %s does not hold: %s", id, v.Difference),
		"windlass version: windlass "+rec.Header.Windlass+" began the session, and another version may decide otherwise; or the record was changed")
}
