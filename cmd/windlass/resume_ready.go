package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/windlass-run/windlass/internal/commandline/several"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/waits"
)

// maxParallelRuns is how many runs one command resumes at a time at most.
const maxParallelRuns = 64

// checkReady refuses what does not go with the resumption of every session that is ready.
func checkReady(flags *pflag.FlagSet, args []string, parallel int) error {
	const try = "windlass resume --ready"
	for _, name := range []string{"fork", "session", "cascade", "events", "progress"} {
		if flags.Changed(name) {
			return exit.UsageError(fmt.Errorf("--%s goes with one session, and --ready resumes all that are ready", name), try)
		}
	}
	switch {
	case len(args) > 0:
		return exit.UsageError(errors.New("--ready resumes all sessions that are ready, and takes none by name"), try)
	case parallel < 1 || parallel > maxParallelRuns:
		return exit.UsageError(fmt.Errorf("--parallel %d: it is 1 to %d", parallel, maxParallelRuns), try+" --parallel 4")
	}
	return nil
}

// resumeReady resumes every session of this machine that gets past a wait now.
func resumeReady(ctx context.Context, con *console, o resumeOptions) error {
	term.SurviveClosedPipes()
	runs, err := con.open()
	if err != nil {
		return err
	}
	ids, survey, err := (waits.Desk{Home: runs.Home()}).ReadySessions(ctx)
	if err != nil {
		return err
	}
	sayDamaged(con, survey)
	ctx, stop := interruptible(ctx, recording(term.NewNotices(con.err)))
	defer stop()
	list := several.Options{
		Runs: runs, Resume: o.ResumeOptions, Fetching: con.fetching, Parallel: o.parallel, Out: con.out, Err: con.err, AsJSON: o.asJSON,
	}.Each(ctx, ids)
	switch {
	case o.asJSON:
		if err := term.WriteJSON(con.out, list); err != nil {
			return err
		}
	case len(ids) == 0:
		fmt.Fprintln(con.err, "No run is ready: nothing that a run waits for has an answer, a signal or a deadline that has passed.")
	}
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, exit.ErrInterrupted, "windlass resume --ready")
	}
	return several.Error(list)
}

// sayDamaged warns of what cannot be read of the waits.
func sayDamaged(con *console, s *waits.Survey) {
	for _, err := range s.Damaged {
		fmt.Fprintf(con.err, "Warning: not listed: %s\n", term.OneLine(err.Error()))
	}
}
