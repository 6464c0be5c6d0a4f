// Package summary prints what a run came to: its output, its result as JSON, and what it took.
package summary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
	"github.com/windlass-run/windlass/internal/waits"
)

// Run is a run that has ended.
type Run struct {
	Session string
	Result  *engine.Result
	Totals  record.Totals   // of the session, with those of the cards
	Cards   record.Totals   // of the cards, which are in no phase
	Phases  []record.Totals // of the result's phases
	Copied  record.Copied   // in none of these
	Below   record.Below    // the children that the run has begun, in none of these
	Context record.Sizes    // of what was sent
	Ran     time.Duration   // in all its resumes, without the time between them

	Waits     []*waits.Wait      // that have no answer, of the run and of its children
	Soundings []inspect.Sounding // of its phases and elements, and of the whole cascade
}

// paid writes the tokens and the money that calls took.
func paid(t record.Totals) string {
	return live.Tokens(t.Usage) + "  " + cost(t)
}

func cost(t record.Totals) string { return quantity.Cost(t.KnownUSD(), t.UnknownCosts) }

// withChildren is what the run and all below it took, as far as the run's record says.
func (r *Run) withChildren() record.Totals { return r.Totals.Plus(r.Below.Totals) }

// pretended is what the calls would have cost at the prices of a model.
func (r *Run) pretended() string {
	own := term.USD(r.Totals.PretendUSD)
	if r.Below.Totals.PriceAs == "" {
		return own
	}
	return fmt.Sprintf("%s; with children %s", own, term.USD(r.withChildren().PretendUSD))
}

// childrenOf counts the children, and those that have not ended. The record of a run has the number of
// those that it has begun itself, and what these took with all below them.
func childrenOf(b *record.Below) string {
	text := term.Plural(b.Begun, "session") + " that this one began"
	if open := b.Begun - b.Ended; open > 0 {
		text += fmt.Sprintf(" (%d without an end here, whose costs are not known)", open)
	}
	return text
}

// WriteText writes in lines how the run ended, what it took and what became of its context. None is
// wider than the terminal that w may be.
func (r Run) WriteText(w io.Writer) {
	scripted := ""
	if r.Totals.Scripted > 0 {
		scripted = "  (scripted: no model was asked, nothing was paid)"
	}
	fmt.Fprintln(w)
	line(w, "%s in %s: %s, %s  %s%s", cmp.Or(statusWords[r.Result.Status], "Failed"), term.Millis(r.ranMS()),
		r.parts(), quantity.Requests(r.Totals.Calls, r.Totals.Embeddings), paid(r.Totals), scripted)
	if all := r.withChildren(); all.PriceAs != "" {
		line(w, "At prices of %s: %s (nothing was paid)", term.OneLine(all.PriceAs), r.pretended())
	}
	if r.Cards.Requests() > 0 {
		line(w, "Cards: %s of it, %s", quantity.Requests(r.Cards.Calls, r.Cards.Embeddings), paid(r.Cards))
	}
	if b := r.Below; b.Begun > 0 {
		line(w, "Children: %s, and all below them, not in the figures above: %s  %s; with them %s", childrenOf(&b), term.Plural(b.Totals.Calls, "model call"), paid(b.Totals), cost(r.withChildren()))
	}
	if c := r.Copied; c.Session != "" {
		line(w, "Copied from %s: %s, %s, not counted", c.Session, quantity.Requests(c.Totals.Calls, c.Totals.Embeddings), cost(c.Totals))
	}
	for _, text := range r.tried() {
		line(w, "%s", text)
	}
	if text := contextLine(r.Result, r.Context); text != "" {
		line(w, "%s", text)
	}
	for i, x := range r.Waits {
		if i == mostWaits {
			line(w, "%s  windlass waiting %s", term.Plural(len(r.Waits)-i, "more wait"), r.Session)
			break
		}
		line(w, "%s", waitLine(x))
	}
	line(w, "session %s", r.Session)
}

// mostWaits is how many waits are shown after a run.
const mostWaits = 5

// waitLine says what one wait is for, and what shows and answers it.
func waitLine(x *waits.Wait) string {
	text := "Waits for " + term.OneLine(x.For())
	if x.Form != nil && x.Call == nil {
		text += ": " + term.Cut(term.OneLine(x.Asked), 80)
	}
	return text + gap + "windlass answer " + x.ID
}

// line writes a line, on a terminal in as many as it takes.
func line(w io.Writer, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if width := term.Width(w); width > 0 {
		text = strings.Join(folded(text, width-len(gap)), "\n"+gap)
	}
	fmt.Fprintln(w, text)
}

const gap = "  " // between columns, and before what a line goes on with

// folded divides a line that is too wide, between columns where it can.
func folded(text string, width int) []string {
	var rows []string
	for i, column := range strings.Split(text, gap) {
		last := len(rows) - 1
		if i > 0 && runewidth.StringWidth(rows[last]+gap+column) <= width {
			rows[last] += gap + column
			continue
		}
		rows = append(rows, term.Wrapped(column, width)...)
	}
	return rows
}

func (r *Run) ranMS() float64 { return float64(r.Ran.Microseconds()) / 1000 }

// contextLine says what became of the context of all phases; "": everything was sent whole.
func contextLine(res *engine.Result, s record.Sizes) string {
	var f engine.ContextFigures
	for _, p := range res.Phases {
		f = f.Add(p.ContextFigures)
	}
	var parts []string
	if s.Sent < s.Full {
		parts = append(parts, fmt.Sprintf("sent %s of %s tokens of history (%s less, estimated)",
			term.Count(s.Sent), term.Count(s.Full), term.Share(s.Full-s.Sent, s.Full)))
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
	echo.StatusWaiting:     "Waiting",
}

// totalsJSON are totals as reports have them. They take the place of those that the engine counts,
// which are of what it was answered.
type totalsJSON struct {
	Calls        int        `json:"model_calls"`
	Embeddings   int        `json:"embedding_calls"`
	Failed       int        `json:"failed_calls"` // of both
	Usage        echo.Usage `json:"usage"`
	CostUSD      *float64   `json:"cost_usd"`      // of the calls whose cost is known; null: there are only others
	UnknownCosts int        `json:"unknown_costs"` // calls that the sum lacks
	Scripted     bool       `json:"scripted,omitempty"`
	PretendUSD   float64    `json:"pretend_usd,omitempty"` // at the prices of PriceAs; nothing was paid
	PriceAs      string     `json:"price_as,omitempty"`
}

func totalsOf(t record.Totals) totalsJSON {
	return totalsJSON{
		Calls: t.Calls, Embeddings: t.Embeddings, Failed: t.Failed, Usage: t.Usage, CostUSD: t.KnownUSD(), UnknownCosts: t.UnknownCosts,
		Scripted: t.Scripted > 0, PretendUSD: t.PretendUSD, PriceAs: t.PriceAs,
	}
}

// copiedJSON is what a fork has of the session that it comes from, and of no other figure.
type copiedJSON struct {
	ForkedFrom string `json:"forked_from"`
	totalsJSON
}

// childrenJSON are the children of a run, and theirs.
type childrenJSON struct {
	Sessions int `json:"sessions"` // that the run has begun
	Ended    int `json:"ended"`    // of these: only what they took is known
	totalsJSON
}

type phaseJSON struct {
	engine.PhaseResult
	totalsJSON
	Soundings []soundingJSON `json:"soundings,omitempty"` // of the phase, or of elements of its list
}

// WriteJSON writes the whole result as JSON, with the error that ended the run; nil for none.
func (r Run) WriteJSON(w io.Writer, runErr error) error {
	result := *r.Result
	result.DurationMS = r.ranMS()
	out := struct {
		*engine.Result
		totalsJSON
		Phases []phaseJSON `json:"phases"`
		Cards  *totalsJSON `json:"cards,omitempty"`  // what cards took of it, which is in no phase
		Copied *copiedJSON `json:"copied,omitempty"` // which a fork has, and did not pay for

		Children     *childrenJSON  `json:"children,omitempty"`      // in no other figure but the next
		WithChildren *totalsJSON    `json:"with_children,omitempty"` // of the session and all below it
		Waits        []*waits.Wait  `json:"waits,omitempty"`
		Soundings    []soundingJSON `json:"soundings,omitempty"` // of the whole cascade
		Error        string         `json:"error,omitempty"`
	}{Result: &result, totalsJSON: totalsOf(r.Totals), Phases: make([]phaseJSON, len(r.Result.Phases))}
	if r.Cards.Requests() > 0 {
		cards := totalsOf(r.Cards)
		out.Cards = &cards
	}
	if r.Copied.Session != "" {
		out.Copied = &copiedJSON{r.Copied.Session, totalsOf(r.Copied.Totals)}
	}
	if b := r.Below; b.Begun > 0 {
		all := totalsOf(r.withChildren())
		out.Children, out.WithChildren = &childrenJSON{b.Begun, b.Ended, totalsOf(b.Totals)}, &all
	}
	for i, p := range r.Result.Phases {
		out.Phases[i] = phaseJSON{p, totalsOf(r.Phases[i]), r.soundingsOf(p.Key)}
	}
	out.Waits = r.Waits
	out.Soundings = r.soundingsOf(echo.RunKey())
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
