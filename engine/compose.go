package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// maxAsks is how many answers the view of one call may need. It is above what can be needed: the guard asks for one
// summary at a time and for one count of each request that came of it.
const maxAsks = 20

// maxRefusals is how often a request may be refused as too long and be made smaller. The builder gives up before; this
// only says that the loop ends.
const maxRefusals = 10

// send makes the model call of a turn. A request that the provider refuses as too long is made smaller and sent again, as
// long as there is something to leave out.
func (v *visit) send(ctx context.Context, noTools bool) (*effect.ModelResponse, error) {
	if err := v.readIdle(ctx); err != nil {
		return nil, err
	}
	var refusal error
	for try := 1; ; try++ {
		key := v.here().Try(echo.StepModel, try)
		req, err := v.request(ctx, v.here().Try(echo.StepContext, try), key, noTools)
		if err != nil {
			return nil, refusedForGood(refusal, err)
		}
		resp, err := v.ask(ctx, key, req)
		if err == nil {
			v.learn(resp)
			return resp, nil
		}
		if !refusedAsTooLong(err) {
			return nil, err
		}
		refusal = err
		carry, smaller := v.builder.Refused(v.carry)
		if !smaller || try == maxRefusals {
			return nil, refusedForGood(refusal, nil)
		}
		v.carry = carry
		note := "the provider refused the request as too long; it is made smaller and sent again"
		if err := v.warn(key, v.place(), note); err != nil {
			return nil, err
		}
	}
}

func refusedAsTooLong(err error) bool {
	var me *effect.ModelError
	return errors.As(err, &me) && me.Kind == echo.ModelErrContextLength && !effect.IsRecordError(err)
}

// refusedForGood is the error of a request that the provider refused as too long and that could not be made any smaller,
// for the reason of fit. Any other error is itself.
func refusedForGood(refusal, err error) error {
	var fit *autocontext.FitError
	switch {
	case refusal == nil || err != nil && !errors.As(err, &fit):
		return err
	case fit == nil || fit.Largest == nil:
		return fmt.Errorf("%w; nothing more can be left out of it", refusal)
	}
	m := fit.Largest
	return fmt.Errorf("%w; nothing more can be left out of it; its largest message is %d (%s, %s): %sor take a model with a larger window",
		refusal, fit.LargestIndex+1, m.Role(), m.Kind(), shorten(m))
}

// learn takes from an answer what later requests depend on: when the cache was written, and how many tokens the provider
// counted. Tokens that were counted here, or by a script, teach nothing.
func (v *visit) learn(resp *effect.ModelResponse) {
	v.answered = v.now()
	counted := resp.Usage.In
	if resp.Usage.Estimated || resp.Scripted {
		counted = 0
	}
	v.carry = v.builder.Used(v.carry, counted)
}

// request builds the view of the history and what is sent by the call of a key, and records the selection, unless the call
// would exceed the budget.
func (v *visit) request(ctx context.Context, selection, call echo.Key, noTools bool) (*effect.ModelRequest, error) {
	view, err := v.compose(ctx)
	if err != nil {
		return nil, err
	}
	report := view.Report()
	req := v.requestOf(view, noTools)
	if err := v.afford(ctx, call, req, v.sizeOfView(req, &report)); err != nil {
		return nil, err
	}
	e := payloadEntry(selection, req.Site, v.carry)
	e.Model, e.Selection = v.model, &report
	if err := v.append(e); err != nil {
		return nil, err
	}
	v.result.saw(&report)
	v.observer.Observe(Event{Kind: EventModelCall, Site: req.Site, Model: v.model, ContextSize: report.ContextSize})
	return req, nil
}

// requestOf is what a view is sent as.
func (v *visit) requestOf(view *autocontext.View, noTools bool) *effect.ModelRequest {
	site := v.place()
	req := &effect.ModelRequest{
		Site: site, Model: v.model, Messages: v.render.Render(view),
		NoToolCalls: noTools, Prompted: !v.native(),
		Temperature: v.phase.Temperature, MaxOutputTokens: v.phase.MaxOutputTokens, Options: v.phase.ModelOptions,
		OnDelta: func(d effect.Delta) { v.observer.Observe(Event{Kind: EventDelta, Site: site, Delta: d}) },
	}
	if req.Prompted {
		req.Parse = func(m *echo.Message) *echo.Message { return promptedCalls(m, site) }
	}
	if v.native() {
		req.Tools, req.ToolsDigest = v.tools.specs, v.tools.digest
	}
	return req
}

// compose decides what the next call is sent: it answers what the builder asks until there is a view.
func (v *visit) compose(ctx context.Context) (*autocontext.View, error) {
	for range maxAsks {
		step, err := v.builder.Build(v.record.History, v.carry)
		v.carry = step.Carry
		if err := v.recordGuard(step.Events); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, v.explain(err)
		}
		if step.Ask == nil {
			v.offerRecall(v.recallIsOfUse(step.View.Report().MaskedCount))
			return step.View, nil
		}
		if err := v.settleAsk(ctx, step.Ask); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the view of the history is not settled after %d questions to models", maxAsks)
}

// explain adds what can be done about a request that does not fit.
func (v *visit) explain(err error) error {
	var fit *autocontext.FitError
	if !errors.As(err, &fit) {
		return err
	}
	advice := ""
	if fit.Largest != nil {
		advice = shorten(fit.Largest)
	}
	advice += "take a model with a larger window"
	if v.room.reserve > 0 {
		advice += fmt.Sprintf(", or keep less for the answer (%d of %d tokens; max_output_tokens, token_budget.reserve_for_output)",
			v.room.reserve, v.room.ceiling)
	}
	return fmt.Errorf("%w; %s", err, advice)
}

// shorten says how a message that is too long could be made shorter.
func shorten(m *echo.Message) string {
	switch m.Kind() {
	case echo.KindToolResult:
		return fmt.Sprintf("let %s answer shorter or read less at a time, ", m.Tool())
	case echo.KindContext:
		return "bring in less with context.from, "
	case echo.KindTask:
		return "shorten the instructions or the input, "
	default:
		return ""
	}
}
