// Package summary prints what a run came to: its output, its result as JSON, and what it took.
package summary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
)

// Run is a run that has ended.
type Run struct {
	Session string
	Result  *engine.Result
	Totals  effect.Totals // with those of the cards
	Cards   effect.Totals // of the cards, which are in no phase
}

// paid writes the tokens and the money that calls took.
func paid(t effect.Totals) string {
	return live.Tokens(t.Usage) + "  " + quantity.Cost(t.CostUSD, t.UnknownCosts)
}

// WriteText writes in lines how the run ended, what it took and what became of its context.
func (r Run) WriteText(w io.Writer) {
	scripted := ""
	if r.Totals.Scripted {
		scripted = "  (scripted: no model was asked, nothing was paid)"
	}
	fmt.Fprintf(w, "\n%s in %s: %s, %s  %s%s\n", cmp.Or(statusWords[r.Result.Status], "Failed"), term.Millis(r.Result.DurationMS),
		term.Plural(len(r.Result.Phases), "phase"), term.Plural(r.Totals.Calls, "model call"), paid(r.Totals), scripted)
	if r.Cards != (effect.Totals{}) {
		fmt.Fprintf(w, "Cards: %s of it, %s\n", term.Plural(r.Cards.Calls, "call"), paid(r.Cards))
	}
	if line := contextLine(r.Result); line != "" {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "session %s\n", r.Session)
}

// contextLine says what became of the context of all phases; "": everything was sent whole.
func contextLine(res *engine.Result) string {
	var f engine.ContextFigures
	for _, p := range res.Phases {
		f = f.Add(p.ContextFigures)
	}
	var parts []string
	if f.SentSize < f.FullSize {
		parts = append(parts, fmt.Sprintf("sent %s of %s tokens of history (%d%% less, estimated)",
			term.Count(f.SentSize), term.Count(f.FullSize), term.Percent(f.FullSize-f.SentSize, f.FullSize)))
	}
	if f.MaskedResults > 0 {
		parts = append(parts, term.Plural(f.MaskedResults, "tool result")+" masked at the end")
	}
	if f.Recalls > 0 || f.Rereads > 0 {
		parts = append(parts, fmt.Sprintf("%s and %s of masked results", term.Plural(f.Recalls, "recall"), term.Plural(f.Rereads, "repeated call")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Context: " + strings.Join(parts, ", ")
}

// statusWords are the words for ends of a run; that for another end is Failed.
var statusWords = map[echo.Status]string{
	echo.StatusCompleted:   "Completed",
	echo.StatusOverBudget:  "Stopped by the budget",
	echo.StatusInterrupted: "Interrupted",
}

// phaseJSON and cardsJSON have a cost that is null when the cost of a call is unknown.
type phaseJSON struct {
	engine.PhaseResult
	Cost *float64 `json:"cost_usd"`
}

type cardsJSON struct {
	effect.Totals
	Cost *float64 `json:"cost_usd"`
}

// WriteJSON writes the whole result as JSON, with the error that ended the run; nil for none.
func (r Run) WriteJSON(w io.Writer, runErr error) error {
	whole := *r.Result
	whole.Totals = r.Totals
	out := struct {
		*engine.Result
		Phases []phaseJSON `json:"phases"`
		Cards  *cardsJSON  `json:"cards,omitempty"` // what cards took of it, which is in no phase
		Cost   *float64    `json:"cost_usd"`        // null when the cost of a call is unknown
		Error  string      `json:"error,omitempty"`
	}{Result: &whole, Cost: whole.Cost(), Phases: make([]phaseJSON, len(whole.Phases))}
	if r.Cards != (effect.Totals{}) {
		out.Cards = &cardsJSON{Totals: r.Cards, Cost: r.Cards.Cost()}
	}
	for i, p := range whole.Phases {
		out.Phases[i] = phaseJSON{PhaseResult: p, Cost: p.Cost()}
	}
	if runErr != nil {
		out.Error = runErr.Error()
	}
	return term.WriteJSON(w, out)
}

// WriteOutput writes a text as it is, without control characters on a terminal; else indented JSON.
func WriteOutput(w io.Writer, output any) error {
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
	if term.IsTerminal(w) {
		text = term.WithoutControls(text)
	}
	_, err := io.WriteString(w, text)
	return err
}
