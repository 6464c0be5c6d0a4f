package views

import (
	"context"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
)

// follow takes what a recorded call was sent as it is recorded, where the guard had to do and a
// message of the visit was redacted since: what would be sent now has other sizes, so the guard would
// do something else. The request is nil when the view is to be built as ever.
func (v *Views) follow(ctx context.Context, selection, call echo.Key, noTools bool) (*effect.ModelRequest, error) {
	recorded := v.Rec.Peek(echo.NodeSelection, selection)
	next := v.Rec.Pending(call.Branch())
	if recorded == nil || next == nil || !v.Rec.AfterRedaction(next) || v.Rec.Peek(echo.NodeModelCall, call) == nil {
		return nil, nil //nolint:nilnil // see above
	}
	step, err := v.Builder.Build(history(v), v.Carry) // what is masked is asked of it
	if err == nil && step.Ask == nil && len(step.Events) == 0 && (next == recorded || next.Key.IsBudgetReading()) {
		return nil, nil //nolint:nilnil // see above
	}
	if err := v.followGuard(ctx, call, recorded); err != nil {
		return nil, err
	}
	req := v.requestOf(call, &autocontext.View{}, noTools)
	size := func(*effect.ModelRequest, effect.ModelFacts) budget.Size { return budget.Size{} }
	if err := v.calls.Afford(ctx, call, req, size); err != nil {
		return nil, err
	}
	return req, v.take(recorded)
}

// take continues with the state that is recorded with a selection.
func (v *Views) take(recorded *echo.Entry) error {
	if v.Rec.Take(echo.NodeSelection, recorded.Key) == nil {
		return nil // something else is recorded before it, which the call comes to
	}
	carry, err := echo.Read[echo.Carry](recorded)
	if err != nil {
		return err
	}
	if s := carry.Summary; s != nil {
		if s.Message = v.guard.summaries[s.Hash]; s.Message == nil {
			carry.Summary = v.Carry.Summary // of before
		}
	}
	v.Carry, v.followed = carry, true
	if recorded.Selection != nil {
		v.offerRecall(recorded.Selection.MaskedCount)
	}
	return nil
}

// followGuard takes what the guard did before a recorded selection. Its calls count as ever.
func (v *Views) followGuard(ctx context.Context, call echo.Key, selection *echo.Entry) error {
	for {
		e := v.Rec.Pending(call.Branch())
		if e == nil || e == selection {
			return nil
		}
		key := e.Key
		if key.IsBudgetReading() {
			key = key.Parent()
		}
		kind, isAsk := asks[key.Purpose()]
		path := key.Path()
		switch {
		case isAsk && (e.NodeType == echo.NodeModelCall || key != e.Key):
			v.guard.asks[kind]++
			req, _ := v.askRequest(&autocontext.Ask{Kind: kind})
			if _, _, err := v.calls.Try(ctx, key, req); err != nil {
				return err
			}
		case e.NodeType == echo.NodeGuard:
			v.guard.done++
			v.Rec.Take(e.NodeType, e.Key)
		case e.NodeType == echo.NodeMessage && path.Last().Kind == echo.StepSummary:
			v.guard.summaries[e.ContentHash] = e.Message
			v.Rec.Take(e.NodeType, e.Key)
		case isAsk && e.NodeType == echo.NodeWarning:
			v.Rec.Take(e.NodeType, e.Key)
		default:
			return nil
		}
	}
}

// asks are what the guard asks for, by the purposes of its calls.
var asks = map[echo.Purpose]autocontext.AskKind{echo.PurposeSummary: autocontext.AskSummary, echo.PurposeRecount: autocontext.AskRecount}
