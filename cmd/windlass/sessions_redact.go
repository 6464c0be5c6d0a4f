package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/commandline/answerflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term/redacted"
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

What banks of memory have remembered of the message by themselves they forget. Files of banks and memos that have its text are listed,
each with the command that takes it out.

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
			o.By = answerflags.UserName()
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
		return redacted.Write(con.out, done)
	}), err)
}
