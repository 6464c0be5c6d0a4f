package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/template"
)

// closed is what closing a session has left to say.
type closed struct {
	cards       error                        // cards that did not get done
	undelivered *clickhouse.UndeliveredError // rows that ClickHouse does not have; nil: none
	caughtUp    caughtUp                     // what was delivered of earlier sessions
	engine      string                       // what a person should know of the engine; "": nothing
	err         error                        // anything else
}

// close ends everything that the session has open. It comes after the run, once.
func (s *session) close() closed {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	c := closed{cards: s.cards.finish()} // first: what it has to say goes into the log
	err := errors.Join(s.log.Close(ctx), s.tools.Close())
	c.caughtUp = s.catchUp.finish(err == nil)
	if s.querier != nil {
		err = errors.Join(err, s.querier.Close(ctx), s.database.close())
		c.engine = s.database.warning
	}
	if !errors.As(err, &c.undelivered) {
		c.err = err
	}
	s.delivered = s.sink != nil && (c.undelivered == nil || c.undelivered.Rows == 0)
	return c
}

// finish closes the session, prints the result, and turns the end of the run into the command's error.
func (s *session) finish(res *engine.Result, runErr error) error {
	c := s.close()
	printErr := s.printResult(res, runErr)
	s.printSummary(res, c)
	if c.cards != nil {
		fmt.Fprintf(s.app.err, "Warning: %v\n", c.cards)
	}
	if c.engine != "" {
		fmt.Fprintf(s.app.err, "Warning: %s\n", c.engine)
	}
	if runErr != nil {
		return s.failure(res, runErr)
	}
	if printErr != nil {
		return withExit(exitStorage, printErr, "the run is done and recorded: "+s.lookHint())
	}
	if c.err != nil {
		return withExit(exitStorage, c.err, "")
	}
	return nil
}

// printResult writes what the run was for to standard output.
func (s *session) printResult(res *engine.Result, runErr error) error {
	var err error
	switch {
	case s.options.events:
	case s.options.asJSON:
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

// totals are those of the run and of what went on beside it.
func (s *session) totals(res *engine.Result) effect.Totals { return res.Plus(s.cards.spent()) }

func (s *session) printJSON(res *engine.Result, runErr error) error {
	whole := *res
	whole.Totals = s.totals(res)
	out := struct {
		*engine.Result
		Phases []phaseJSON `json:"phases"`
		Cards  *cardsJSON  `json:"cards,omitempty"` // what cards took of it, which is in no phase
		Cost   *float64    `json:"cost_usd"`        // null when the cost of a call is unknown
		Error  string      `json:"error,omitempty"`
	}{Result: &whole, Cost: whole.Cost(), Phases: make([]phaseJSON, len(res.Phases))}
	if t := s.cards.spent(); t != (effect.Totals{}) {
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

func (s *session) printOutput(output any) error {
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

// withoutControls removes what would command a terminal, or show words in another order than they stand in: a model
// wrote the text. Files and pipes get it as it is. The marks that texts from right to left have between words stay.
func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		embeds := r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
		if embeds || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// printSummary says on standard error what it took and what to try next.
func (s *session) printSummary(res *engine.Result, c closed) {
	if s.options.quiet {
		s.printUndelivered(c.undelivered)
		return
	}
	t := s.totals(res)
	sum := spentBy(t)
	scripted := ""
	if t.Scripted {
		scripted = "  (scripted: no model was asked, nothing was paid)"
	}
	fmt.Fprintf(s.app.err, "\n%s in %s: %s, %s  %s  %s%s\n", statusWord(res.Status), formatMillis(res.DurationMS),
		plural(len(res.Phases), "phase"), plural(t.Calls, "model call"), spentTokens(sum), spentMoney(sum), scripted)
	if t := s.cards.spent(); t != (effect.Totals{}) {
		sum := spentBy(t)
		fmt.Fprintf(s.app.err, "Cards: %s of it, %s  %s\n", plural(t.Calls, "call"), spentTokens(sum), spentMoney(sum))
	}
	if line := contextLine(res); line != "" {
		fmt.Fprintln(s.app.err, line)
	}
	fmt.Fprintf(s.app.err, "session %s\n", s.id)
	s.printUndelivered(c.undelivered)
	if c.caughtUp.rows > 0 {
		fmt.Fprintf(s.app.err, "Delivered to ClickHouse besides: %s of %s\n", plural(c.caughtUp.rows, "row"), plural(c.caughtUp.sessions, "earlier session"))
	}
	if s.delivered {
		fmt.Fprintf(s.app.err, "Ask what it did: %s sql \"SELECT phase_name, count() AS calls, sum(tokens_in) AS sent, sum(tokens_cached) AS cached, sum(tokens_out) AS got, sum(cost_usd) AS usd FROM model_calls WHERE session_id = '%s' GROUP BY phase_name ORDER BY min(seq)\"\n",
			selfCommand(), s.id)
	}
}

// printUndelivered says how much of the session ClickHouse does not have, and what becomes of it.
func (s *session) printUndelivered(u *clickhouse.UndeliveredError) {
	if u == nil {
		return
	}
	fmt.Fprintf(s.app.err, "Warning: %v\n", u)
	if u.Rows > 0 && !s.options.quiet {
		fmt.Fprintf(s.app.err, "The journal has them: the next run delivers them, or %s ship %s. %s doctor says what is wrong with ClickHouse.\n",
			selfCommand(), s.id, selfCommand())
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
func (s *session) failure(res *engine.Result, err error) error {
	failed := s.failureOf(res, err)
	var ee *exitError
	if errors.As(failed, &ee) {
		ee.hint = s.secrets.Text(ee.hint) // it may name what a template rendered
	}
	return failed
}

func (s *session) failureOf(res *engine.Result, err error) error {
	var record *effect.RecordError
	var model *effect.ModelError
	var missing *template.MissingError
	var budget *engine.BudgetError
	var output *outputError
	var differs *effect.DivergenceError
	switch {
	case errors.As(err, &differs):
		return withExit(exitFailed, err, fmt.Sprintf("%s resume %s --fork %d, to go on from before that in a new session; windlass %s began this one",
			selfCommand(), s.id, max(differs.Seq, 2)-1, s.header.Windlass))
	case errors.As(err, &output):
		return withExit(exitStorage, err, "write the events to a place with room; everything up to here is in "+s.journalPath)
	case errors.As(err, &record):
		return withExit(exitStorage, err, "free space, or set WINDLASS_HOME to a folder on another disk; the journal holds everything up to here")
	case res.Status == echo.StatusInterrupted:
		return withExit(exitInterrupted, errors.New("interrupted"), s.goOnHint())
	case errors.As(err, &budget) && budget.Cause != "":
		return withExit(exitBudget, err, "give the model a price in windlass.json (docs/models.md), or go without the limit: "+s.goOnWith(budget))
	case budget != nil:
		return withExit(exitBudget, err, s.goOnWith(budget))
	case errors.As(err, &model):
		return s.providerFailure(err)
	case errors.As(err, &missing):
		return withExit(exitFailed, err, missingHint(s.file, missing.Name))
	default:
		return withExit(exitFailed, err, s.lookHint())
	}
}

// providerFailure is providerError of a run, which can be gone on with when the provider answers again.
func (s *session) providerFailure(err error) error {
	var ee *exitError
	if err = providerError(err); errors.As(err, &ee) && ee.code == exitProvider {
		then := "then " + s.goOnHint()
		if ee.hint != "" {
			then = ee.hint + "; " + then
		}
		ee.hint = then
	}
	return err
}

// missingHint says what to do about a variable that a template needs.
func missingHint(file, name string) string {
	fallback := fmt.Sprintf("write {{ %s | default('...') }} in %s", name, file)
	if input, ok := strings.CutPrefix(name, "input."); ok {
		return fmt.Sprintf("windlass run %s --input %s=..., or %s", file, input, fallback)
	}
	return fallback
}

// goOnHint says how a run is gone on with.
func (s *session) goOnHint() string { return fmt.Sprintf("%s resume %s", selfCommand(), s.id) }

// goOnWith says how a run that a limit has stopped goes on.
func (s *session) goOnWith(e *engine.BudgetError) string {
	return fmt.Sprintf("%s resume %s %s", selfCommand(), s.id, limitFlag(e.Limit, e.Enough()))
}

// lookHint says where the record of the run is.
func (s *session) lookHint() string {
	if hint := s.inspectHint(); hint != "" {
		return hint
	}
	return "see " + s.journalPath
}

func (s *session) inspectHint() string {
	if !s.delivered {
		return ""
	}
	return fmt.Sprintf("%s sessions show %s", selfCommand(), s.id)
}

// providerError gives a failed model call its exit code. A script that has no answer is the user's own file.
func providerError(err error) error {
	var model *effect.ModelError
	if !errors.As(err, &model) {
		return withExit(exitProvider, err, "")
	}
	if model.Kind == echo.ModelErrScript {
		return withExit(exitFailed, err, model.Hint)
	}
	return withExit(exitProvider, err, model.Hint)
}
