package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
)

// resumeOptions are the flags of windlass resume.
type resumeOptions struct {
	app.ForkOptions
	showOptions
	fork    uint64
	cascade string
}

func newResumeCommand(con *console) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume SESSION",
		Short: "Go on with a run that was interrupted, killed, or stopped by a budget or a provider",
		Long: `Go on with a run that did not come to its end. The cascade runs again and is answered from the session's record as far
as that goes, so nothing is paid for twice; then it goes on. The cascade, the input, the models and the rights are those
that the run was begun with. A tool that had begun and may do harm when it is run twice is not run again: the model is
told that its result is not known.

With --fork a new session goes on from an entry of the old one, which stays as it is. Exit codes are those of
windlass run.`,
		Example: `  windlass resume 01jz4k
  windlass resume 01jz4k --json
  windlass resume 01jz4k --fork 27
  windlass resume 01jz4k --fork 27 --cascade better.json`,
		Args: oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch set := cmd.Flags().Changed; {
			case set("fork") && o.fork == 0:
				return usageError(errors.New("--fork 0: entries are counted from 1"), "windlass replay "+args[0]+" --list")
			case o.fork == 0 && (o.cascade != "" || o.SessionID != ""):
				return usageError(errors.New("--cascade and --session go with --fork: a session keeps the cascade and the id that it was begun with"),
					"windlass resume "+args[0]+" --fork ENTRY --cascade FILE")
			}
			return resumeSession(cmd.Context(), con, args[0], o)
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&o.fork, "fork", 0, "go on after this `ENTRY` of the session, in a new session")
	f.StringVar(&o.SessionID, "session", "", "the `ID` of the new session of a fork (default: a new one)")
	f.StringVar(&o.cascade, "cascade", "", "a `FILE` that a fork goes on with; what is recorded must follow from it, too")
	o.flags(cmd, "print every new entry of the record as a line of JSON, as it happens")
	limitFlags(cmd, &o.Limits)
	return cmd
}

func resumeSession(ctx context.Context, con *console, given string, o resumeOptions) error {
	id, err := findSession(ctx, con, given)
	if err != nil {
		return err
	}
	if o.cascade != "" {
		if o.Cascade, err = loadCascade(ctx, con, o.cascade); err != nil {
			return err
		}
		o.File = o.cascade
	}
	return follow(ctx, con, o.showOptions, func(ctx context.Context, runs *app.App, w app.Watch) (*app.Run, error) {
		if o.fork > 0 {
			return runs.Fork(ctx, id, o.fork, o.ForkOptions, w)
		}
		return runs.Resume(ctx, id, o.ResumeOptions, w)
	})
}
