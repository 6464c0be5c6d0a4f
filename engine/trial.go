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
	"github.com/windlass-run/windlass/engine/effect"
)

// Trial is a selection on the record of a session, made without running anything. There are no anchors: everything that
// finished phases said is a candidate.
type Trial struct {
	Task      string
	Before    string // a phase: what had finished when it began first is selected from; "": everything
	Selection cascade.InterSelection
	Prefilter bool // hybrid does not ask a model

	Count   func(*echo.Message) int64 // nil: four bytes are a token
	Cards   Cards                     // nil: extracted
	Meaning Meaning                   // nil: nothing is compared by meaning
	Model   effect.Model              // what the menu is given to; nil: nothing
	Now     func() time.Time
}

// Try makes a trial selection. The error says that there is nothing to select from.
func Try(ctx context.Context, id string, entries []*echo.Entry, t Trial) (*echo.InterSelection, error) {
	r := &run{Runner: &Runner{Cards: t.Cards, Meaning: t.Meaning}, session: echo.NewSession(id), known: map[string]ModelFacts{}}
	r.rec = effect.NewRecorder(effect.Options{Log: echo.NewLog(id, t.Now, nil), Seams: effect.Seams{Now: t.Now}})
	r.restore(entries, t.Before)
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

// restore reads the histories of a session off its record: what phases said themselves, in order. It ends where a phase
// begins first, when one is named.
func (r *run) restore(entries []*echo.Entry, before string) {
	var v *visit
	results := map[int]*echo.Entry{} // of the newest answer, by the number of the call
	settle := func() {
		for _, n := range sortedKeys(results) {
			e := results[n]
			v.attempt = e.Attempt
			v.enter(e.Message, e.Turn)
		}
		clear(results)
	}
	for _, e := range entries {
		switch e.NodeType {
		case echo.NodePhaseStart:
			if e.Phase == before {
				return
			}
			v = &visit{run: r, phase: &cascade.Phase{Name: e.Phase}, record: r.session.Begin(e.Phase)}
			v.record.Model = e.Model
		case echo.NodePhaseEnd:
			if v != nil {
				settle()
				v.end(e)
			}
		case echo.NodeCallout:
			if v != nil {
				settle()
				r.session.Callouts = append(r.session.Callouts, echo.Callout{Name: calloutName(e), Phase: e.Phase, Hash: e.ContentHash})
			}
		default:
			what, number := historyPart(e)
			if v == nil || what == "" {
				continue
			}
			if what == "tool" {
				results[number] = e
				continue
			}
			settle()
			v.attempt = e.Attempt
			v.enter(e.Message, e.Turn)
		}
	}
	settle()
}

func calloutName(e *echo.Entry) string {
	mark, _ := echo.Read[echo.CalloutMark](e) // one that cannot be read has no name
	return mark.Name
}

func (v *visit) end(e *echo.Entry) {
	if d, err := echo.Read[echo.PhaseEnd](e); err == nil {
		v.record.Output, v.record.Done = d.Output, d.Status.IsSuccess()
	}
}

// historyPart says whether an entry's message is one of the phase's own: "tool" with the number of the call, or "message".
func historyPart(e *echo.Entry) (what string, number int) {
	if e.Message == nil || e.Message.Kind() == echo.KindSummary {
		return "", 0
	}
	p := e.Key.Path()
	switch last := p.Last(); {
	case isPhaseTool(e):
		return "message", 0
	case e.NodeType == echo.NodeToolCall && p.InTurn().Kind == echo.StepTool:
		return "tool", last.Number
	case e.NodeType == echo.NodeModelCall && p.InTurn().Kind == echo.StepModel:
		return "message", 0
	case e.NodeType == echo.NodeMessage && last.Kind != echo.StepContext && last.Kind != echo.StepSelect:
		return "message", 0
	}
	return "", 0
}

func sortedKeys(m map[int]*echo.Entry) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
