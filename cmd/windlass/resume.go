package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline/limitflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/inspect"
)

// resumeOptions are the flags of windlass resume.
type resumeOptions struct {
	app.ForkOptions
	showOptions
	fork     string // a place of the session; "": it is resumed itself
	cascade  string
	ready    bool // every session that gets past a wait is resumed
	parallel int  // so many of them at a time
}

func newResumeCommand(con *console) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume SESSION|--ready",
		Short: "Resume a run that waits, was interrupted or killed, or was stopped by a budget or a provider",
		Long: `Resume a run that waits, or that did not complete. The cascade runs again and gets its answers from the session's record,
so nothing is paid for twice; where the record ends, the run continues with the answers of people, the model and the tools. The cascade, the input, the models
and the rights are those that the run began with. A tool that had started and may do harm when it runs twice is not run
again: the model is told that its result is unknown.

With --fork a new session continues from a place in the old one, which does not change. PLACE is the number or the key of
an entry, to continue after it; or a phase, a visit such as draft~2, an attempt or a turn such as draft/attempt1/turn3, to
start it again. A phase stands for its newest visit. The exit codes are those of windlass run.

--ready resumes every session of this machine that waits and whose answer, signal or deadline is there, and writes a line
for each. Exit codes then: 0 all ended well; 5 one reached a limit; else 1 one failed; else 7 only waits remain.`,
		Example: `  windlass resume last
  windlass resume last --json
  windlass resume last --fork draft
  windlass resume 7k2mq --fork 27 --cascade better.json
  windlass resume --ready --parallel 4`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.ready {
				return checkReady(cmd.Flags(), args, o.parallel)
			}
			return oneSession(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.ready {
				return resumeReady(cmd.Context(), con, o)
			}
			switch set := cmd.Flags().Changed; {
			case set("parallel"):
				return exit.UsageError(errors.New("--parallel goes with --ready"), "windlass resume --ready --parallel 4")
			case set("fork") && o.fork == "0":
				return exit.UsageError(errors.New("--fork 0: entries are counted from 1"), "windlass replay "+args[0]+" --list")
			case set("fork") && o.fork == "":
				return exit.UsageError(errors.New("--fork is empty"), "windlass resume "+args[0]+" --fork PHASE")
			case o.fork == "" && (o.cascade != "" || o.SessionID != ""):
				return exit.UsageError(errors.New("--cascade and --session go with --fork: a session keeps the cascade and the id that it was begun with"),
					"windlass resume "+args[0]+" --fork PLACE --cascade FILE")
			}
			return resumeSession(cmd.Context(), con, args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.fork, "fork", "", "continue from this `PLACE` in a new session: a phase, a key, or the number of an entry")
	f.StringVar(&o.SessionID, "session", "", "the `ID` of the new session of a fork (default: a new one)")
	f.StringVar(&o.cascade, "cascade", "", "the cascade `FILE` of a fork; the recorded entries must follow from it as well")
	f.BoolVar(&o.ready, "ready", false, "resume every session whose answer, signal or deadline is there, with a line for each")
	f.IntVar(&o.parallel, "parallel", 1, "with --ready: so many `RUNS` at a time")
	o.flags(con, cmd, "print every new entry of the record as a line of JSON, as it happens")
	con.noFetchFlag(cmd, fetch.PolicyBegin)
	limitflags.Add(cmd.Flags(), &o.Limits)
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
	var seq uint64
	if o.fork != "" {
		if seq, err = forkPoint(con, id, o.fork); err != nil {
			return err
		}
	}
	_, numeric := strconv.ParseUint(o.fork, 10, 64)
	return follow(ctx, con, o.showOptions, func(ctx context.Context, runs *app.App, w app.Watch) (*app.Run, error) {
		if o.fork != "" && numeric != nil {
			if r, ok, err := app.ForkPhase(ctx, runs, id, o.fork, o.ForkOptions, w); ok || err != nil {
				return r, err
			}
		}
		if o.fork != "" {
			return runs.Fork(ctx, id, seq, o.ForkOptions, w)
		}
		return runs.Resume(ctx, id, o.ResumeOptions, w)
	})
}

// forkPoint returns the number of the entry that --fork names.
func forkPoint(con *console, id, place string) (uint64, error) {
	if n, err := strconv.ParseUint(place, 10, 64); err == nil {
		return n, nil
	}
	rec, err := con.app.ReadJournal(id)
	if err != nil {
		return 0, err
	}
	seq, err := inspect.ForkPoint(id, rec.Entries, place)
	if err != nil {
		return 0, exit.UsageError(fmt.Errorf("--fork: %w", err), "windlass replay "+id+" --list")
	}
	return seq, nil
}
