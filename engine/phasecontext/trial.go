package phasecontext

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// Trial is a selection on a recorded session, among everything that finished phases said.
type Trial struct {
	Task      string
	Before    string // a phase: what had finished when it began first is selected from; "": everything
	Selection cascade.InterSelection
	Prefilter bool // hybrid does not ask a model

	Withdrawals *echo.Withdrawals // what persons have taken out of the views of the session: nothing of it is offered

	Count      func(*echo.Message) int64 // nil: four bytes are a token
	Cards      lookup.Cards              // nil: extracted
	Similarity lookup.Similarity         // nil: nothing is compared by similarity
	Model      effect.Model              // what the menu is given to; nil: nothing
	Now        func() time.Time
}

// Tried is a trial selection with what it goes by.
type Tried struct {
	echo.InterSelection
	Explained []Explained    `json:"scores"` // the scores of the selection, in their order, with what they go by
	Cut       *selection.Cut `json:"cut"`    // where the budget ended; null: all that was ranked fitted
}

// Explained is a score with the text that it is of.
type Explained struct {
	echo.Score
	Text  string           `json:"text"`  // the first words of the group, in one line
	Terms []selection.Term `json:"terms"` // add up to the total; empty: it was not ranked
}

// mostText is how many bytes of a group are shown.
const mostText = 100

// Try makes a trial selection. The error says that there is nothing to select from.
func Try(ctx context.Context, id string, entries []*echo.Entry, t Trial) (*Tried, error) {
	now := effect.Seams{Now: t.Now}.OrSystem().Now
	var at time.Time // of the message that is entered
	messages := lookup.NewMessages(echo.NewSession(id), t.Cards, t.Similarity, func() time.Time { return at })
	messages.Session.Withdrawals = t.Withdrawals
	restore(messages, record.Of(until(entries, t.Before)), &at)
	native, settings := autocontext.NewRenderer(dialect.Native), autocontext.Settings{Count: t.Count, OwnIDs: true}
	s := NewSelection(SelectionOptions{
		Earlier: &Earlier{Messages: messages, Phase: &echo.PhaseRecord{}, Rules: Newest()}, Task: t.Task,
		Inter: cascade.Inter{Selection: t.Selection, Cards: cascade.InterCards{Wait: lookup.CompareLimit}},
		Cost:  func(m *echo.Message) int64 { return settings.Most(native, m) }, Now: now,
	})
	if len(s.candidates) == 0 {
		return nil, fmt.Errorf("no phase of session %s had finished with anything to select from", id)
	}
	s.settings.Prefilter = t.Prefilter
	f := s.Look(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out, menu := s.Choose(f, nil)
	if menu != nil {
		out, _ = s.Choose(f, t.ask(ctx, menu))
	}
	return s.explain(f, out), nil
}

// explain says of each candidate what it begins with and how it came to its score.
func (s *Selection) explain(f *echo.Findings, out *echo.InterSelection) *Tried {
	settings := s.withinBudget()
	terms := selection.Explain(&out.Selected, s.groups(f), settings)
	tried := &Tried{InterSelection: *out, Cut: selection.CutOf(&out.Selected, settings)}
	for i := range out.Scores {
		e := Explained{Score: out.Scores[i], Text: s.candidates[i].firstWords(), Terms: terms[i]}
		if e.Terms == nil {
			e.Terms = []selection.Term{}
		}
		tried.Explained = append(tried.Explained, e)
	}
	return tried
}

// firstWords are what a group begins with: what is said first, or what is called.
func (g *turnGroup) firstWords() string {
	for _, it := range g.items {
		if text := excerpt.Line(it.Message.Text(), mostText); text != "" {
			return text
		}
		for _, c := range it.Message.ToolCalls() {
			return excerpt.Line(c.Name+" "+c.Arguments, mostText)
		}
	}
	return ""
}

func (t *Trial) ask(ctx context.Context, menu *selection.Menu) *selection.MenuAnswer {
	if t.Model == nil {
		return &selection.MenuAnswer{Failed: "no model is named"}
	}
	resp, err := t.Model.Complete(ctx, &effect.ModelRequest{
		Site: effect.Site{Purpose: echo.PurposeSelect}, Model: t.Selection.SelectorModel, Messages: menu.Messages, MaxOutputTokens: menu.MaxOut + effect.ThinkingRoom,
	})
	if err != nil {
		return &selection.MenuAnswer{Failed: excerpt.FirstLine(err.Error())}
	}
	return &selection.MenuAnswer{Text: resp.Message.Text()}
}

// restore fills a session with the own messages of a recorded session's phases, in the order in which a run has them. What stands
// at the end of requests is as of one request, and no message of a phase.
func restore(messages *lookup.Messages, f *record.Fold, at *time.Time) {
	for _, was := range f.Visits() {
		visit := messages.Session.Begin(was.Phase)
		visit.Model, visit.Output, visit.Done = was.Model, was.Output, was.Status.IsSuccess()
		for _, e := range record.Told(f, was.Key) {
			if record.IsOwn(e) && !e.Message.Kind().Stands() {
				*at, visit.Element = e.At, record.ElementOf(e)
				messages.Enter(visit, e.Message, e.Attempt, e.Turn)
			}
		}
		visit.Element = 0
		for _, c := range f.Callouts() {
			messages.MarkCallout(visit, c.Hash, c.Name)
		}
	}
	messages.Session.Callouts = f.Callouts()
}

// until returns the entries before a phase begins first, all of them when it does not.
func until(entries []*echo.Entry, phase string) []*echo.Entry {
	at := slices.IndexFunc(entries, func(e *echo.Entry) bool { return e.NodeType == echo.NodePhaseStart && e.Phase == phase })
	if at < 0 {
		return entries
	}
	return entries[:at]
}
