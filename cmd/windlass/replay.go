package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
)

// replayOptions are the flags of windlass replay.
type replayOptions struct {
	progressOptions
	speed  float64
	events bool
	list   bool
}

func newReplayCommand(con *console) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay SESSION",
		Short: "Show a recorded run again",
		Long: `Show a run again from its record, as it was shown while it ran: in place on a terminal, line by line elsewhere. No model
is asked, no tool runs and nothing is written.`,
		Example: `  windlass replay last --speed 10
  windlass replay last --list
  windlass replay last --events | jq 'select(.node_type == "model_call")'`,
		Args: oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(o.speed >= 0) { // no number is not one, either
				return exit.UsageError(fmt.Errorf("--speed %g is no number from 0 on", o.speed), "--speed 1 for the speed of the run, 10 for ten times that, 0 for at once")
			}
			return replaySession(cmd.Context(), con, args[0], o)
		},
	}
	f := cmd.Flags()
	f.Float64Var(&o.speed, "speed", 0, "how many times as fast as the run went; 0: at once")
	f.BoolVar(&o.events, "events", false, "print every entry as a line of JSON")
	f.BoolVar(&o.list, "list", false, "list the entries with their numbers, as --fork takes them")
	o.progressFlag(con, cmd, live.ReplayModes())
	con.wideFlag(cmd)
	exclude(cmd, "events", "list")
	exclude(cmd, "events", "progress")
	exclude(cmd, "list", "progress")
	return cmd
}

func replaySession(ctx context.Context, con *console, given string, o replayOptions) error {
	rec, err := readSession(ctx, con, given)
	if err != nil {
		return err
	}
	if o.list {
		return con.paged(func() error { return con.table(entryTable(rec.Entries)) })
	}
	origin, err := app.ReadHeader(rec.Header)
	if err != nil {
		return exit.With(exit.Storage, err, "replay the session with the windlass that began it")
	}
	n := term.NewNotices(con.err)
	ctx, stop := interruptible(ctx, recording(n))
	defer stop()
	clock := inspect.NewClock(rec.Entries, o.speed)
	var sink echo.Sink = live.NewEvents(con.out)
	begins := func(*echo.Entry) {}
	if !o.events {
		v := live.New(o.mode, con.err, live.Shown{Cascade: origin.Cascade, Session: rec.Header.SessionID, Notices: n, Now: clock.Now})
		sink, begins = v, func(e *echo.Entry) { live.Begin(v, e) }
	}
	for step := range inspect.Play(ctx, rec.Entries, o.speed) {
		if clock.Set(step.At); step.Begins {
			begins(step.Entry)
			continue
		}
		if err = sink.Write(step.Entry); err != nil {
			break
		}
	}
	if closeErr := sink.Close(context.WithoutCancel(ctx)); err == nil {
		err = closeErr
	}
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, exit.ErrInterrupted, "")
	}
	return err
}

func entryTable(entries []*echo.Entry) *term.Table {
	t := term.NewTable(">entry", "at", "what", "where", "status")
	for _, e := range entries {
		status := ""
		if e.Error != nil {
			status = term.Cell(e.Error.Kind)
		}
		t.Add(term.Count(int64(e.Seq)), e.At.Local().Format(time.TimeOnly), string(e.NodeType), term.Cell(e.Key.String()), status)
	}
	return t.Key("entry", "what", "where").Drop("at")
}
