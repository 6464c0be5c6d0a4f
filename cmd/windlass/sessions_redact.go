package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/redaction"
	"github.com/windlass-run/windlass/internal/term"
)

func newSessionsRedactCommand(con *console) *cobra.Command {
	var o archive.RedactOptions
	cmd := &cobra.Command{
		Use:   "redact ID HASH",
		Short: "Take the content of a message out of a run, here and in ClickHouse",
		Long: `Takes the content of a message out of a run for good: a secret that somebody pasted, or that a tool printed. HASH is the
content hash of the message, as context show and SQL print it, or its first 12 digits. A mark replaces it in the
journal, in ClickHouse and in cards: in every message with this content, in the requests that contained it, in copies of
its text inside other messages, and in the run's input and output. Lines and long words of it in other messages are
reported; --parts takes them out as well, and must be given the first time, because afterwards they are no longer known.
A paraphrase by a model is not found.

ID is the id of a session, its end (5 characters or more) or its beginning.

Files, frozen tests and other sessions that contain it are listed and do not change: children are sessions of their
own, and the commands for them are listed, as for the session that has begun this one. A session that a process is running
is never redacted. When ClickHouse does not answer, the journal is redacted, and the same command completes it later.`,
		Example: "  windlass sessions redact 7k2mq 3f2a9c0d1e5b7788 --dry-run\n  windlass sessions redact 7k2mq 3f2a9c0d1e5b --reason 'pasted key' --parts",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return exit.UsageError(errors.New("sessions redact needs the id of a session and the content hash of a message"),
					"windlass context show SESSION, which prints the hashes")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return redactSession(cmd.Context(), con, args[0], args[1], o)
		},
	}
	cmd.Flags().StringVar(&o.Reason, "reason", "", "a `TEXT` that is kept in the journal, and says why")
	cmd.Flags().BoolVar(&o.Parts, "parts", false, "take its lines (of 16 bytes and more) and long words (of 20) out of other messages, too")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would change, and change nothing")
	con.jsonFlag(cmd)
	return cmd
}

func redactSession(ctx context.Context, con *console, id, hash string, o archive.RedactOptions) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	done, err := archive.Redact(ctx, arc, id, hash, o)
	if done == nil {
		return err
	}
	return errors.Join(con.print(done, func() error {
		fmt.Fprint(con.out, redactedText(done))
		return nil
	}), err)
}

// redactedText says what became of a message, and where it still is.
func redactedText(r *archive.Redacted) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	what := fmt.Sprintf("%s (%s, %s)", r.Hash, r.Role, term.Plural(r.Characters, "character"))
	changed := term.Plural(len(r.Entries), "entry")
	switch {
	case r.Already:
		line("Message %s of session %s was redacted on %s; what was left of it then is not known any more.", what, r.SessionID, r.At.UTC().Format("2006-01-02 15:04:05 UTC"))
	case r.DryRun:
		line("Message %s of session %s would be redacted: %s of its journal would change.", what, r.SessionID, changed)
	default:
		line("Message %s of session %s is redacted: %s of its journal changed.", what, r.SessionID, changed)
	}
	switch r.Stored {
	case archive.StoredReplaced:
		line("ClickHouse has the new rows; it removes the old files some minutes later.")
	case archive.StoredPending:
		line("The rows in ClickHouse would be replaced.")
	}
	leftText(line, r)
	list(&b, "Files that contain it and were not changed:", r.Files)
	list(&b, "Other sessions that have this message:", r.Sessions)
	list(&b, "Sessions above or below this one have it, or lines or long words of it; each is redacted by itself:", inTree(r.Tree))
	list(&b, "Other databases that have the session; run the command again with their DSN:", r.Others)
	return b.String()
}

// inTree lists the commands that redact the sessions of a tree; of one that has the text in no message
// it says where it is.
func inTree(tree []archive.Relative) (lines []string) {
	for i := range tree {
		r := &tree[i]
		for _, hash := range r.Hashes() {
			lines = append(lines, fmt.Sprintf("windlass sessions redact %s %s", r.ID, hash))
		}
		switch {
		case r.Problem != "":
			lines = append(lines, fmt.Sprintf("%s could not be looked through: %s", r.ID, r.Problem))
		case len(r.Hashes()) == 0:
			lines = append(lines, fmt.Sprintf("%s, in no message: %s", r.ID, placeText(r.Places[0])))
		}
	}
	return lines
}

// leftText says what is left of a message in the session, and what takes it out.
func leftText(line func(string, ...any), r *archive.Redacted) {
	if r.Short > 0 {
		line("%s shorter than 4 characters: not looked for elsewhere.", term.Plural(r.Short, "value"))
	}
	n := len(r.Left)
	if n == 0 {
		return
	}
	have, out := "still have", "redact these messages, too"
	if n == 1 {
		have = "still has"
	}
	if r.DryRun {
		have, out = "would still have", "--parts takes them out, or redact these messages, too"
	}
	line("%s %s lines or long words of it; %s:", term.Plural(n, "other place"), have, out)
	for _, p := range r.Left {
		line("  %s", placeText(p))
	}
}

func list(b *strings.Builder, head string, all []string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(b, head)
	for _, one := range all {
		fmt.Fprintf(b, "  %s\n", term.CleanLines(one))
	}
}

func placeText(p redaction.Place) string {
	switch {
	case p.Seq == 0:
		return "the cascade, input or first state of the session"
	case p.Hash == "":
		return fmt.Sprintf("entry %d (%s)", p.Seq, p.Node)
	}
	return fmt.Sprintf("entry %d (%s): %s", p.Seq, p.Node, p.Hash)
}
