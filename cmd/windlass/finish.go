package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/term/live"
)

// showOptions are the flags that say how a run is shown.
type showOptions struct {
	asJSON bool
	events bool
	quiet  bool
}

func (o *showOptions) flags(cmd *cobra.Command, events string) {
	f := cmd.Flags()
	f.BoolVar(&o.asJSON, "json", false, "print the whole result as JSON")
	f.BoolVar(&o.events, "events", false, events)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
}

// shownRun is a run that is shown, and how it ended.
type shownRun struct {
	showOptions
	app     *app
	run     *core.Run
	notices *notices
	closing core.Closing
}

// openApp opens what runs are started with.
func openApp() (*core.App, error) { return core.Open(core.Options{Version: readVersion().Version}) }

// follow opens a run, shows it while it goes on, and turns its end into the command's error. The first signal interrupts it.
func (a *app) follow(ctx context.Context, o showOptions, open func(context.Context, *core.App, core.Watch) (*core.Run, error)) error {
	runs, err := openApp()
	if err != nil {
		return err
	}
	defer runs.Close() //nolint:errcheck // what a run had of it is closed with the run, which says what failed
	s := &shownRun{app: a, showOptions: o, notices: newNotices(a.err)}
	ctx, stop := interruptible(ctx, s.notices)
	defer stop()
	defer surviveClosedPipes()()
	if s.run, err = open(ctx, runs, s.watch()); err != nil {
		return err
	}
	return s.finish(s.run.Do(ctx))
}

func (s *shownRun) watch() core.Watch {
	return core.Watch{Follow: s.show, Notice: s.notices.tell, Fetching: func() (func(fetch.Progress), func()) {
		p := newFetchProgress(s.app.err)
		return p.show, p.mute
	}}
}

// show starts to show a run: one that is resumed as far as it is recorded.
func (s *shownRun) show(r *core.Run) (engine.Observer, []echo.Sink) {
	recorded := r.Recorded()
	if h := r.Header(); len(recorded) > 0 && r.Changed() {
		s.notices.tell(fmt.Sprintf("%s has changed since the session began. The session goes on with the cascade as it was; --cascade %s takes the new one.", h.File, h.File))
	}
	v := s.app.chooseView(s.quiet, r.Cascade(), r.ID(), s.notices)
	if len(recorded) > 0 {
		s.showRecorded(v, r)
	}
	sinks := []echo.Sink{v}
	if s.events {
		sinks = append(sinks, live.NewEvents(s.app.out))
	}
	return v, sinks
}

// showRecorded shows what is recorded of a run that is resumed: on a terminal what was done, else how much that is.
func (s *shownRun) showRecorded(v live.View, r *core.Run) {
	kept := record.Kept(r.Recorded())
	if inPlace, ok := v.(*live.InPlace); ok {
		for _, e := range kept {
			_ = inPlace.Write(e) // it only draws
		}
	} else if !s.quiet {
		t := record.Of(kept).Totals()
		fmt.Fprintf(s.app.err, "%s: session %s is taken up after %s, %s answered from its record\n",
			r.Cascade().CascadeID, r.ID(), plural(len(r.Recorded()), "entry"), plural(t.Calls-t.Failed, "model call"))
	}
}

// finish closes the run, prints the result, and turns the end of the run into the command's error.
func (s *shownRun) finish(res *engine.Result, runErr error) error {
	s.closing = s.run.Close()
	printErr := s.printResult(res, runErr)
	s.printSummary(res)
	if err := s.closing.Cards; err != nil {
		fmt.Fprintf(s.app.err, "Warning: %v\n", err)
	}
	if s.closing.Engine != "" {
		fmt.Fprintf(s.app.err, "Warning: %s\n", s.closing.Engine)
	}
	if runErr != nil {
		return s.failure(runErr)
	}
	if printErr != nil {
		return withExit(exitStorage, printErr, "the run is done and recorded: "+s.lookHint())
	}
	if s.closing.Err != nil {
		return withExit(exitStorage, s.closing.Err, "")
	}
	return nil
}

// printResult writes what the run was for to standard output.
func (s *shownRun) printResult(res *engine.Result, runErr error) error {
	var err error
	switch {
	case s.events:
	case s.asJSON:
		err = s.printJSON(res, runErr)
	case runErr != nil:
	default:
		err = s.printOutput(res.Output)
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) { // a reader that has left, such as head, has what it wanted
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// phaseJSON is a phase's result with a cost that is null when the cost of a call is unknown.
type phaseJSON struct {
	engine.PhaseResult
	Cost *float64 `json:"cost_usd"`
}

// cardsJSON is what cards took.
type cardsJSON struct {
	effect.Totals
	Cost *float64 `json:"cost_usd"` // null when the cost of a call is unknown
}

func (s *shownRun) printJSON(res *engine.Result, runErr error) error {
	whole := *res
	whole.Totals = s.run.Totals(res)
	out := struct {
		*engine.Result
		Phases []phaseJSON `json:"phases"`
		Cards  *cardsJSON  `json:"cards,omitempty"` // what cards took of it, which is in no phase
		Cost   *float64    `json:"cost_usd"`        // null when the cost of a call is unknown
		Error  string      `json:"error,omitempty"`
	}{Result: &whole, Cost: whole.Cost(), Phases: make([]phaseJSON, len(res.Phases))}
	if t := s.run.CardTotals(); t != (effect.Totals{}) {
		out.Cards = &cardsJSON{Totals: t, Cost: t.Cost()}
	}
	for i, p := range res.Phases {
		out.Phases[i] = phaseJSON{PhaseResult: p, Cost: p.Cost()}
	}
	if runErr != nil {
		out.Error = runErr.Error()
	}
	enc := json.NewEncoder(s.app.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func (s *shownRun) printOutput(output any) error {
	text := echo.AsText(output)
	if _, ok := output.(string); !ok && output != nil {
		b, err := json.MarshalIndent(output, "", "  ")
		if err != nil {
			return err
		}
		text = string(b)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if isTerminal(s.app.out) {
		text = withoutControls(text)
	}
	_, err := io.WriteString(s.app.out, text)
	return err
}

// printSummary says on standard error what it took and what to try next.
func (s *shownRun) printSummary(res *engine.Result) {
	if s.quiet {
		s.printUndelivered(s.closing.Undelivered)
		return
	}
	t := s.run.Totals(res)
	sum := spentBy(t)
	scripted := ""
	if t.Scripted {
		scripted = "  (scripted: no model was asked, nothing was paid)"
	}
	fmt.Fprintf(s.app.err, "\n%s in %s: %s, %s  %s  %s%s\n", statusWord(res.Status), formatMillis(res.DurationMS),
		plural(len(res.Phases), "phase"), plural(t.Calls, "model call"), spentTokens(sum), spentMoney(sum), scripted)
	if t := s.run.CardTotals(); t != (effect.Totals{}) {
		sum := spentBy(t)
		fmt.Fprintf(s.app.err, "Cards: %s of it, %s  %s\n", plural(t.Calls, "call"), spentTokens(sum), spentMoney(sum))
	}
	if line := contextLine(res); line != "" {
		fmt.Fprintln(s.app.err, line)
	}
	fmt.Fprintf(s.app.err, "session %s\n", s.run.ID())
	s.printUndelivered(s.closing.Undelivered)
	if d := s.closing.Earlier; d.Rows > 0 {
		fmt.Fprintf(s.app.err, "Delivered to ClickHouse besides: %s of %s\n", plural(d.Rows, "row"), plural(d.Sessions, "earlier session"))
	}
	if s.closing.Delivered {
		fmt.Fprintf(s.app.err, "Ask what it did: %s sql \"SELECT phase_name, count() AS calls, sum(tokens_in) AS sent, sum(tokens_cached) AS cached, sum(tokens_out) AS got, sum(cost_usd) AS usd FROM model_calls WHERE session_id = '%s' GROUP BY phase_name ORDER BY min(seq)\"\n",
			selfCommand(), s.run.ID())
	}
}

// printUndelivered says how much of the session ClickHouse does not have, and what becomes of it.
func (s *shownRun) printUndelivered(u *clickhouse.UndeliveredError) {
	if u == nil {
		return
	}
	fmt.Fprintf(s.app.err, "Warning: %v\n", u)
	if u.Rows > 0 && !s.quiet {
		fmt.Fprintf(s.app.err, "The journal has them: the next run delivers them, or %s ship %s. %s doctor says what is wrong with ClickHouse.\n",
			selfCommand(), s.run.ID(), selfCommand())
	}
}

// contextLine says what became of the context of all phases; it is empty when everything was sent whole.
func contextLine(res *engine.Result) string {
	var f engine.ContextFigures
	for _, p := range res.Phases {
		f = f.Add(p.ContextFigures)
	}
	var parts []string
	if f.SentSize < f.FullSize {
		parts = append(parts, fmt.Sprintf("sent %s of %s tokens of history (%d%% less, estimated)",
			formatCount(f.SentSize), formatCount(f.FullSize), percentOf(f.FullSize-f.SentSize, f.FullSize)))
	}
	if f.MaskedResults > 0 {
		parts = append(parts, plural(f.MaskedResults, "tool result")+" masked at the end")
	}
	if f.Recalls > 0 || f.Rereads > 0 {
		parts = append(parts, fmt.Sprintf("%s and %s of masked results", plural(f.Recalls, "recall"), plural(f.Rereads, "repeated call")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Context: " + strings.Join(parts, ", ")
}

func statusWord(s echo.Status) string {
	switch s {
	case echo.StatusCompleted:
		return "Completed"
	case echo.StatusOverBudget:
		return "Stopped by the budget"
	case echo.StatusInterrupted:
		return "Interrupted"
	default:
		return "Failed"
	}
}

// failure gives the error that ended a run its exit code and says what to try.
func (s *shownRun) failure(err error) error {
	kind := failure.KindOf(err)
	var output *live.OutputError
	if errors.As(err, &output) && kind != failure.Diverged {
		return withExit(exitStorage, err, "write the events to a place with room; everything up to here is in "+s.run.Journal())
	}
	if kind == failure.Interrupted {
		return withExit(exitInterrupted, errInterrupted, s.resumeHint())
	}
	return withExit(exitCodes[kind], err, s.run.WithoutSecrets(s.hint(kind, err))) // it may name what a template rendered
}

// hint says what to try after a run that ended with an error.
func (s *shownRun) hint(kind failure.Kind, err error) string {
	var model *effect.ModelError
	var missing *template.MissingError
	var over *budget.Error
	var differs *effect.DivergenceError
	switch {
	case errors.As(err, &differs):
		return fmt.Sprintf("%s resume %s --fork %d, to go on from before that in a new session; windlass %s began this one",
			selfCommand(), s.run.ID(), max(differs.Seq, 2)-1, s.run.Header().Windlass)
	case kind == failure.StorageFailed:
		return "free space, or set WINDLASS_HOME to a folder on another disk; the journal holds everything up to here"
	case errors.As(err, &over) && over.Cause != "":
		return "give the model a price in windlass.json (docs/models.md), or go without the limit: " + s.resumeWith(over)
	case over != nil:
		return s.resumeWith(over)
	case kind == failure.ModelUnavailable && errors.As(err, &model) && model.Hint != "":
		return model.Hint + "; then " + s.resumeHint()
	case kind == failure.ModelUnavailable:
		return "then " + s.resumeHint()
	case errors.As(err, &model):
		return model.Hint
	case errors.As(err, &missing):
		return missingHint(s.run.File(), missing.Name)
	}
	return s.lookHint()
}

// missingHint says what to do about a variable that a template needs.
func missingHint(file, name string) string {
	fallback := fmt.Sprintf("write {{ %s | default('...') }} in %s", name, file)
	if input, ok := strings.CutPrefix(name, "input."); ok {
		return fmt.Sprintf("windlass run %s --input %s=..., or %s", file, input, fallback)
	}
	return fallback
}

// resumeHint says how the run is resumed.
func (s *shownRun) resumeHint() string { return fmt.Sprintf("%s resume %s", selfCommand(), s.run.ID()) }

// resumeWith says how a run that a limit has stopped is resumed.
func (s *shownRun) resumeWith(e *budget.Error) string {
	return s.resumeHint() + " " + limitFlag(e.Limit, e.Enough())
}

// lookHint says where the record of the run is.
func (s *shownRun) lookHint() string {
	if hint := s.inspectHint(); hint != "" {
		return hint
	}
	return "see " + s.run.Journal()
}

func (s *shownRun) inspectHint() string {
	if !s.closing.Delivered {
		return ""
	}
	return fmt.Sprintf("%s sessions show %s", selfCommand(), s.run.ID())
}
