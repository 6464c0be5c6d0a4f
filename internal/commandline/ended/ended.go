// Package ended says what a command says of a run that has ended: its result, what it took, what to do next, and its error.
package ended

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/commandline/attended"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
	"github.com/windlass-run/windlass/internal/term/page"
	"github.com/windlass-run/windlass/internal/term/summary"
	"github.com/windlass-run/windlass/internal/waits"
)

// Run is a run that has ended and was closed, and how a command shows it.
type Run struct {
	Run     *app.Run
	Result  *engine.Result
	Closing app.Closing
	Home    string

	Out, Err   io.Writer
	Mode       live.Mode
	Events     bool   // every entry was printed, the result among them
	AsJSON     bool   // the result is printed whole
	Typed      string // the flags that the command was given, apart from input, to be typed again
	NameOf     func(width int, id string) string
	Warn       func(engine string)
	Unsaid     string // what a person was writing to the model when the run ended; "": nothing
	ReaderGone func() // says that nobody reads standard output any more

	waits []*waits.Wait
}

// Finish prints the result of a run that has ended and been closed, what it took and what comes next, and turns its end into the
// command's error.
func (r *Run) Finish(runErr error) error {
	r.findWaits()
	printErr := r.printResult(runErr)
	r.printSummary()
	if err := r.Closing.Cards; err != nil {
		fmt.Fprintf(r.Err, "Warning: %v\n", err)
	}
	if err := r.Closing.Notices; err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintf(r.Err, "Warning: %s; it is tried again when the run is resumed\n", term.CleanLines(line))
		}
	}
	r.Warn(r.Closing.Engine)
	attended.PrintUnheard(r.Err, r.Home, r.Run, r.Result, r.Unsaid, r.name)
	for _, id := range r.Closing.Interrupted {
		fmt.Fprintf(r.Err, "Session %s, which ran on by itself, was interrupted: %s resume %s continues it.\n", id, commandline.Self(), id)
	}
	if runErr != nil {
		return r.exit().Failure(runErr)
	}
	if printErr != nil {
		return exit.With(exit.Storage, printErr, "the run is done and recorded: "+r.exit().Look())
	}
	if r.Closing.Err != nil {
		return exit.With(exit.Storage, r.Closing.Err, "")
	}
	return nil
}

// exit says what the run ends the command with.
func (r *Run) exit() exit.Run { return exit.Run{Run: r.Run, Typed: r.Typed} }

// printResult writes what the run was for to standard output.
func (r *Run) printResult(runErr error) error {
	var err error
	switch {
	case r.Events:
	case r.AsJSON:
		err = r.ended().WriteJSON(r.Out, runErr)
	case runErr != nil:
	default:
		err = summary.WriteOutput(r.Out, r.Result.Output)
	}
	if term.IsReaderGone(err) { // such as head, which has what it wanted
		r.ReaderGone()
		return nil
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// ended returns the run as it is printed.
func (r *Run) ended() summary.Run {
	sums := r.Run.Sums()
	out := summary.Run{Session: r.Run.ID(), Result: r.Result, Totals: sums.Totals, Cards: sums.Background, Context: sums.Context, Copied: sums.Copied, Below: sums.Children, Ran: sums.Ran}
	for _, p := range r.Result.Phases {
		out.Phases = append(out.Phases, r.Run.VisitTotals(p.Key))
	}
	out.Waits, out.Soundings = r.waits, r.soundings()
	return out
}

// findWaits reads what a run waits for that has ended so.
func (r *Run) findWaits() {
	if r.Result.Status != echo.StatusWaiting {
		return
	}
	var err error
	if r.waits, err = (waits.Desk{Home: r.Home}).List(context.Background(), r.Run.ID()); err != nil {
		fmt.Fprintf(r.Err, "Warning: read what the run waits for: %v\n", err)
	}
}

// soundings reads what became of candidates: none where the record cannot be read, which its own error says.
func (r *Run) soundings() []inspect.Sounding {
	c := r.Run.Cascade()
	tried := c.Soundings.Active()
	for p := range c.EachPhase() {
		tried = tried || p.Soundings.Active()
	}
	if !tried {
		return nil
	}
	_, entries, err := (&archive.Archive{Home: r.Home}).Entries(context.Background(), r.Run.ID())
	if err != nil {
		return nil
	}
	list, _ := (&inspect.Record{ID: r.Run.ID(), Entries: entries}).AllSoundings()
	return list
}

// printSummary says on standard error what it took and what to try next.
func (r *Run) printSummary() {
	if r.Mode != live.ModeQuiet {
		r.ended().WriteText(r.Err)
	}
	r.printUndelivered()
	if r.Mode == live.ModeQuiet {
		return
	}
	if d := r.Closing.Earlier; d.Rows > 0 {
		fmt.Fprintf(r.Err, "Delivered to ClickHouse besides: %s of %s\n", term.Plural(d.Rows, "row"), term.Plural(d.Sessions, "earlier session"))
	}
	r.printNext()
}

// nextCommand is a command that a person may want after a run, and what it does.
type nextCommand struct{ command, what string }

// printNext says what can be done after the run. After one that did not complete the first is what to
// do about that.
func (r *Run) printNext() {
	name := r.name()
	list := []nextCommand{
		{"windlass show " + name, "what it did and cost, phase by phase"},
		{"windlass context stats " + name, "what its calls were sent, and what that saved"},
		{"windlass replay " + name, "how it went, once more"},
	}
	if r.Result.Status != echo.StatusCompleted {
		if command, what := r.nextAfterStop(name); command != "" {
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
		fmt.Fprintln(r.Err, term.Hang(r.Err, fmt.Sprintf("%s%-*s  %s", label, width, next.command, next.what), len(label)+width+2))
		label = "      "
	}
}

// name is how the commands that come next name the session: last, where that is this one, as another
// may have begun since.
func (r *Run) name() string {
	if id, err := (&archive.Archive{Home: r.Home, Scope: names.Everything}).Here("last"); err == nil && id == r.Run.ID() {
		return "last"
	}
	return r.NameOf(term.Width(r.Err), r.Run.ID())
}

// nextAfterStop is what the page of the session says of a run that did not complete.
func (r *Run) nextAfterStop(name string) (command, what string) {
	d, err := (&archive.Archive{Home: r.Home}).Report(context.Background(), r.Run.ID())
	if err != nil {
		return "", ""
	}
	return (&page.Session{Report: d, Command: "windlass", Name: name}).Next()
}

// printUndelivered says how much of the session ClickHouse does not have, and what becomes of it.
func (r *Run) printUndelivered() {
	u := r.Closing.Undelivered
	if u == nil {
		return
	}
	fmt.Fprintf(r.Err, "Warning: %v\n", u)
	if u.Rows > 0 && r.Mode != live.ModeQuiet {
		fmt.Fprintf(r.Err, "The journal has them: the next run delivers them, or %s ship %s. %s doctor says what is wrong with ClickHouse.\n",
			commandline.Self(), r.Run.ID(), commandline.Self())
	}
}
