package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline/ended"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
	"github.com/windlass-run/windlass/internal/waits"
)

// showOptions are the flags that say how a run is shown.
type showOptions struct {
	asJSON bool
	events bool
	noAsk  bool
	typed  string // the flags that the command was given, apart from input, to be typed again
	progressOptions
}

func (o *showOptions) flags(con *console, cmd *cobra.Command, events string) {
	f := cmd.Flags()
	f.BoolVar(&o.asJSON, "json", false, "print the whole result as JSON")
	f.BoolVar(&o.events, "events", false, events)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress: the same as --progress quiet")
	noAskFlag(cmd, &o.noAsk)
	o.progressFlag(con, cmd, live.Modes())
	exclude(cmd, "json", "events")
	exclude(cmd, "quiet", "progress")
}

// shownRun is a run that is shown, and how it ended.
type shownRun struct {
	showOptions
	con     *console
	run     *app.Run
	notices *term.Notices
	views   *live.Tree  // of the run and of its children
	asker   *live.Asker // nil: nobody is asked
	drawing bool        // the run is drawn in place, and lines are for afterwards
	dropped bool        // the reader of standard output has gone away, which is yet to be said
}

// follow opens a run, shows it, and turns its end into an error. The first signal interrupts it.
func follow(ctx context.Context, con *console, o showOptions, open func(context.Context, *app.App, app.Watch) (*app.Run, error)) error {
	term.SurviveClosedPipes() // to the end of the process: what it says last may be unread, too
	runs, err := con.open()
	if err != nil {
		return err
	}
	s := &shownRun{con: con, showOptions: o, notices: term.NewNotices(con.err)}
	stopping := recording(s.notices)
	ctx, stop := interruptible(ctx, func() {
		if !con.asking.Load() {
			stopping()
		}
	})
	defer stop()
	watch := app.Watch{Follow: s.show, Child: s.showChild, Notice: s.notices.Say, Fetching: con.fetching}
	if s.asks() {
		watch.Ask = func(ctx context.Context, desk waits.Desk, w *waits.Wait) { s.asker.Ask(ctx, desk, w) }
	}
	if s.run, err = open(ctx, runs, watch); err != nil {
		return err
	}
	s.asker.Listen()
	defer s.asker.Close() // also when it panics
	res, err := s.run.Do(ctx)
	s.asker.Close()
	return s.finish(res, err)
}

// show starts to show a run: one that is resumed as far as it is recorded.
func (s *shownRun) show(r *app.Run) (engine.Observer, []echo.Sink) {
	recorded := r.Recorded()
	if changed := r.Changed(); len(recorded) > 0 && changed != "" {
		s.notices.Say(fmt.Sprintf("%s has changed since the session began. The session continues with the cascade as it was; %s takes the new one, in a new session.",
			changed, exit.Run{Run: r}.ForkWithFile()))
	}
	if n := len(r.Header().Redactions); n > 0 {
		s.notices.Say(fmt.Sprintf("%s of the session: models get a mark in place of what was taken out, such as %s.", term.Plural(n, "redaction"),
			echo.RedactionMarkOf(r.Header().Redactions[0].Hash, r.Header().Redactions[0].Characters)))
	}
	v := live.New(s.mode, s.con.err, live.Shown{Cascade: r.Cascade(), Session: r.ID(), Notices: s.notices, Now: time.Now})
	s.drawing, s.views = s.mode == live.ModeLive, live.NewTree(r.ID(), v)
	if s.asks() {
		s.asker = s.newAsker(v, r)
	}
	if len(recorded) > 0 {
		v.Resume(recorded)
	}
	sinks := []echo.Sink{v}
	if s.events {
		sinks = append(sinks, live.NewEvents(term.NewOutput(s.con.out, s.readerGone)))
	}
	return v, sinks
}

// showChild shows a run that another one has begun as a part of that one.
func (s *shownRun) showChild(parent, child *app.Run) (engine.Observer, []echo.Sink) {
	v := s.views.Child(parent.ID(), child.ID(), child.Cascade())
	if recorded := child.Recorded(); len(recorded) > 0 {
		v.Resume(recorded)
	}
	return v, []echo.Sink{v}
}

// readerGone says that nobody reads standard output any more: now, or after what is drawn.
func (s *shownRun) readerGone() {
	if s.dropped = s.drawing; !s.dropped {
		fmt.Fprintln(s.con.err, "The reader of standard output has gone away: the rest of the output is dropped.")
	}
}

// finish closes the run, prints the result, and turns the end of the run into the command's error.
func (s *shownRun) finish(res *engine.Result, runErr error) error {
	closing := s.run.Close()
	if s.drawing = false; s.dropped {
		s.readerGone()
	}
	return (&ended.Run{
		Run: s.run, Result: res, Closing: closing, Home: s.con.app.Home(), Out: s.con.out, Err: s.con.err, Mode: s.mode, Events: s.events, AsJSON: s.asJSON,
		Typed: s.typed, NameOf: s.con.nameOf, Warn: s.con.warn, ReaderGone: s.readerGone, Unsaid: s.asker.Unsaid(),
	}).Finish(runErr)
}
