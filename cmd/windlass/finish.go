package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
	"github.com/windlass-run/windlass/internal/term/page"
	"github.com/windlass-run/windlass/internal/term/summary"
	"github.com/windlass-run/windlass/internal/waits"
)

// showOptions are the flags that say how a run is shown.
type showOptions struct {
	asJSON bool
	events bool
	typed  string // the flags that the command was given, apart from input, to be typed again
	progressOptions
}

func (o *showOptions) flags(con *console, cmd *cobra.Command, events string) {
	f := cmd.Flags()
	f.BoolVar(&o.asJSON, "json", false, "print the whole result as JSON")
	f.BoolVar(&o.events, "events", false, events)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress: the same as --progress quiet")
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
	closing app.Closing
	waits   []*waits.Wait
	views   *live.Tree // of the run and of its children
	drawing bool       // the run is drawn in place, and lines are for afterwards
	dropped bool       // the reader of standard output has gone away, which is yet to be said
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
	if s.run, err = open(ctx, runs, app.Watch{Follow: s.show, Child: s.showChild, Notice: s.notices.Say, Fetching: con.fetching}); err != nil {
		return err
	}
	return s.finish(s.run.Do(ctx))
}

// show starts to show a run: one that is resumed as far as it is recorded.
func (s *shownRun) show(r *app.Run) (engine.Observer, []echo.Sink) {
	recorded := r.Recorded()
	if h := r.Header(); len(recorded) > 0 && r.Changed() {
		s.notices.Say(fmt.Sprintf("%s has changed since the session began. The session continues with the cascade as it was; %s takes the new one, in a new session.",
			h.File, exit.Run{Run: r}.ForkWithFile()))
	}
	if n := len(r.Header().Redactions); n > 0 {
		s.notices.Say(fmt.Sprintf("%s of the session: models get a mark in place of what was taken out, such as %s.", term.Plural(n, "redaction"),
			echo.RedactionMarkOf(r.Header().Redactions[0].Hash, r.Header().Redactions[0].Characters)))
	}
	v := live.New(s.mode, s.con.err, live.Shown{Cascade: r.Cascade(), Session: r.ID(), Notices: s.notices, Now: time.Now})
	s.drawing, s.views = s.mode == live.ModeLive, live.NewTree(r.ID(), v)
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
	s.closing = s.run.Close()
	if s.drawing = false; s.dropped {
		s.readerGone()
	}
	s.findWaits(res)
	printErr := s.printResult(res, runErr)
	s.printSummary(res)
	if err := s.closing.Cards; err != nil {
		fmt.Fprintf(s.con.err, "Warning: %v\n", err)
	}
	s.con.warn(s.closing.Engine)
	for _, id := range s.closing.Interrupted {
		fmt.Fprintf(s.con.err, "Session %s, which ran on by itself, was interrupted: %s resume %s continues it.\n", id, commandline.Self(), id)
	}
	if runErr != nil {
		return s.exit().Failure(runErr)
	}
	if printErr != nil {
		return exit.With(exit.Storage, printErr, "the run is done and recorded: "+s.exit().Look())
	}
	if s.closing.Err != nil {
		return exit.With(exit.Storage, s.closing.Err, "")
	}
	return nil
}

// exit says what the run ends the command with.
func (s *shownRun) exit() exit.Run { return exit.Run{Run: s.run, Typed: s.typed} }

// printResult writes what the run was for to standard output.
func (s *shownRun) printResult(res *engine.Result, runErr error) error {
	var err error
	switch {
	case s.events:
	case s.asJSON:
		err = s.ended(res).WriteJSON(s.con.out, runErr)
	case runErr != nil:
	default:
		err = summary.WriteOutput(s.con.out, res.Output)
	}
	if term.IsReaderGone(err) { // such as head, which has what it wanted
		s.readerGone()
		return nil
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// ended returns the run as it is printed.
func (s *shownRun) ended(res *engine.Result) summary.Run {
	sums := s.run.Sums()
	out := summary.Run{Session: s.run.ID(), Result: res, Totals: sums.Totals, Cards: sums.Background, Context: sums.Context, Copied: sums.Copied, Below: sums.Children, Ran: sums.Ran}
	for _, p := range res.Phases {
		out.Phases = append(out.Phases, s.run.VisitTotals(p.Key))
	}
	out.Waits, out.Soundings = s.waits, s.soundings()
	return out
}

// findWaits reads what a run waits for that has ended so.
func (s *shownRun) findWaits(res *engine.Result) {
	if res.Status != echo.StatusWaiting {
		return
	}
	var err error
	if s.waits, err = (waits.Desk{Home: s.con.app.Home()}).List(context.Background(), s.run.ID()); err != nil {
		fmt.Fprintf(s.con.err, "Warning: read what the run waits for: %v\n", err)
	}
}

// soundings reads what became of candidates: none where the record cannot be read, which its own error says.
func (s *shownRun) soundings() []inspect.Sounding {
	c := s.run.Cascade()
	tried := c.Soundings.Active()
	for p := range c.EachPhase() {
		tried = tried || p.Soundings.Active()
	}
	if !tried {
		return nil
	}
	_, entries, err := (&archive.Archive{Home: s.con.app.Home()}).Entries(context.Background(), s.run.ID())
	if err != nil {
		return nil
	}
	list, _ := (&inspect.Record{ID: s.run.ID(), Entries: entries}).AllSoundings()
	return list
}

// printSummary says on standard error what it took and what to try next.
func (s *shownRun) printSummary(res *engine.Result) {
	if s.mode != live.ModeQuiet {
		s.ended(res).WriteText(s.con.err)
	}
	s.printUndelivered()
	if s.mode == live.ModeQuiet {
		return
	}
	if d := s.closing.Earlier; d.Rows > 0 {
		fmt.Fprintf(s.con.err, "Delivered to ClickHouse besides: %s of %s\n", term.Plural(d.Rows, "row"), term.Plural(d.Sessions, "earlier session"))
	}
	s.printNext(res)
}

// nextCommand is a command that a person may want after a run, and what it does.
type nextCommand struct{ command, what string }

// printNext says what can be done after the run. After one that did not complete the first is what to
// do about that.
func (s *shownRun) printNext(res *engine.Result) {
	name := s.name()
	list := []nextCommand{
		{"windlass show " + name, "what it did and cost, phase by phase"},
		{"windlass context stats " + name, "what its calls were sent, and what that saved"},
		{"windlass replay " + name, "how it went, once more"},
	}
	if res.Status != echo.StatusCompleted {
		if command, what := s.nextAfterStop(name); command != "" {
			list = []nextCommand{{command, what}, list[0], list[2]}
		}
	}
	width := 0
	for i := range list {
		list[i].command = commandline.Self() + strings.TrimPrefix(list[i].command, "windlass")
		width = max(width, len(list[i].command))
	}
	label := "Next: "
	for _, next := range list {
		fmt.Fprintln(s.con.err, term.Hang(s.con.err, fmt.Sprintf("%s%-*s  %s", label, width, next.command, next.what), len(label)+width+2))
		label = "      "
	}
}

// name is how the commands that come next name the session: last, where that is this one, as another
// may have begun since.
func (s *shownRun) name() string {
	if id, err := (&archive.Archive{Home: s.con.app.Home(), Scope: names.Everything}).Here("last"); err == nil && id == s.run.ID() {
		return "last"
	}
	return s.con.nameOf(term.Width(s.con.err), s.run.ID())
}

// nextAfterStop is what the page of the session says of a run that did not complete.
func (s *shownRun) nextAfterStop(name string) (command, what string) {
	d, err := (&archive.Archive{Home: s.con.app.Home()}).Report(context.Background(), s.run.ID())
	if err != nil {
		return "", ""
	}
	return (&page.Session{Report: d, Command: "windlass", Name: name}).Next()
}

// printUndelivered says how much of the session ClickHouse does not have, and what becomes of it.
func (s *shownRun) printUndelivered() {
	u := s.closing.Undelivered
	if u == nil {
		return
	}
	fmt.Fprintf(s.con.err, "Warning: %v\n", u)
	if u.Rows > 0 && s.mode != live.ModeQuiet {
		fmt.Fprintf(s.con.err, "The journal has them: the next run delivers them, or %s ship %s. %s doctor says what is wrong with ClickHouse.\n",
			commandline.Self(), s.run.ID(), commandline.Self())
	}
}
