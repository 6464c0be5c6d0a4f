package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// Trial is a selection on the record of a session, made without running anything. There are no anchors: everything that
// finished phases said is a candidate.
type Trial struct {
	Task      string
	Before    string // a phase: what had finished when it began first is selected from; "": everything
	Selection cascade.InterSelection
	Prefilter bool // hybrid does not ask a model

	Count      func(*echo.Message) int64 // nil: four bytes are a token
	Cards      Cards                     // nil: extracted
	Similarity Similarity                // nil: nothing is compared by it
	Model      effect.Model              // what the menu is given to; nil: nothing
	Now        func() time.Time
}

// Try makes a trial selection. The error says that there is nothing to select from.
func Try(ctx context.Context, id string, entries []*echo.Entry, t Trial) (*echo.InterSelection, error) {
	r := &run{Runner: &Runner{Cards: t.Cards, Similarity: t.Similarity}, session: echo.NewSession(id), known: map[string]effect.ModelFacts{}}
	r.rec = effect.NewRecorder(effect.Options{Log: echo.NewLog(id, t.Now, nil), Seams: effect.Seams{Now: t.Now}})
	r.restore(record.Of(until(entries, t.Before)))
	v := &visit{run: r, phase: &cascade.Phase{Context: &cascade.Context{}}, record: &echo.PhaseRecord{}, render: autocontext.NewRenderer(dialect.Native)}
	v.settings.Count = t.Count
	v.inter = cascade.Inter{Selection: t.Selection, Cards: cascade.InterCards{Wait: rankLimit}}
	_, candidates := v.gather(nil)
	if len(candidates) == 0 {
		return nil, fmt.Errorf("no phase of session %s had finished with anything to select from", id)
	}
	s := v.newSelecting(t.Task, nil, candidates)
	s.settings.Prefilter = t.Prefilter
	f := s.look(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	groups := s.groups(f)
	index := autocontext.NewIndex()
	sel, menu := index.Select(t.Task, groups, s.inside(), nil)
	if menu != nil {
		sel, _ = index.Select(t.Task, groups, s.inside(), t.ask(ctx, menu))
	}
	return s.outcome(f, sel), nil
}

// ask gives the menu to the model.
func (t *Trial) ask(ctx context.Context, menu *autocontext.Menu) *autocontext.MenuAnswer {
	if t.Model == nil {
		return &autocontext.MenuAnswer{Failed: "no model is named"}
	}
	resp, err := t.Model.Complete(ctx, &effect.ModelRequest{
		Site: effect.Site{Purpose: echo.PurposeSelect}, Model: t.Selection.SelectorModel, Messages: menu.Messages, MaxOutputTokens: menu.MaxOut + thinkingRoom,
	})
	if err != nil {
		return &autocontext.MenuAnswer{Failed: firstLine(err.Error())}
	}
	return &autocontext.MenuAnswer{Text: resp.Message.Text()}
}

// restore takes over what the phases of a recorded session said themselves.
func (r *run) restore(f *record.Fold) {
	for _, was := range f.Visits() {
		v := &visit{run: r, phase: &cascade.Phase{Name: was.Phase}, record: r.session.Begin(was.Phase)}
		v.record.Model, v.record.Output, v.record.Done = was.Model, was.Output, was.Status.IsSuccess()
		for _, e := range ownHistory(f, was.Key) {
			v.attempt = e.Attempt
			v.enter(e.Message, e.Turn)
		}
	}
	r.session.Callouts = f.Callouts()
}

// until returns the entries before a phase begins first, all of them when it does not.
func until(entries []*echo.Entry, phase string) []*echo.Entry {
	at := slices.IndexFunc(entries, func(e *echo.Entry) bool { return e.NodeType == echo.NodePhaseStart && e.Phase == phase })
	if at < 0 {
		return entries
	}
	return entries[:at]
}
