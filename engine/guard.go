package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// smallestAnswer is what a recount lets the model write. One token would do, but OpenAI's endpoints refuse less than 16.
const smallestAnswer = 16

// thinkingRoom is what a summary may take beyond its own length: models that reason count that as output, and without
// room for it they end before they have written anything.
const thinkingRoom = 8192

// settleAsk gets what a view needs and takes it into the carry.
func (v *visit) settleAsk(ctx context.Context, a *autocontext.Ask) error {
	v.asks[a.Kind]++
	ans, err := v.answerAsk(ctx, a)
	if err != nil {
		return err
	}
	var summary *echo.Message
	if v.carry, summary = v.builder.Answer(v.carry, a, ans); summary == nil {
		return nil
	}
	// It stands for messages in views and is in no history.
	return v.append(messageEntry(v.here().Numbered(echo.StepSummary, v.asks[a.Kind]), v.place(), summary))
}

// answerAsk gets what a view needs from a model. Whatever goes wrong with the call is an answer too, and the view does
// without; the end of the run, of its budget or of its record is none.
func (v *visit) answerAsk(ctx context.Context, a *autocontext.Ask) (autocontext.Answer, error) {
	var failed autocontext.Answer
	failed.Failed = true
	req, step := v.askRequest(a)
	place := v.here().Numbered(step, v.asks[a.Kind])
	key := place.Step(echo.StepModel)
	if err := v.afford(ctx, key, req, sizeOf(req)); err != nil {
		return failed, err
	}
	v.observer.Observe(Event{Kind: EventModelCall, Site: req.Site, Model: req.Model})
	resp, err := v.ask(ctx, key, req)
	switch {
	case err != nil && (effect.IsRecordError(err) || endedByContext(err)):
		return failed, err
	case err != nil:
		return failed, v.warn(place, req.Site, fallback(req, firstLine(err.Error())))
	case a.Kind == autocontext.AskSummary && strings.TrimSpace(resp.Message.Text()) == "":
		return failed, v.warn(place, req.Site, fallback(req, fmt.Sprintf("the answer is empty (finish reason %q)", resp.FinishReason)))
	case a.Kind == autocontext.AskRecount && (resp.Usage.Estimated || resp.Usage.In <= 0):
		return failed, v.warn(place, req.Site, fallback(req, "the provider reports no usage"))
	}
	return autocontext.Answer{Text: resp.Message.Text(), Tokens: resp.Usage.In}, nil
}

// askRequest returns the request for what a view needs, and the step of its key.
func (v *visit) askRequest(a *autocontext.Ask) (req *effect.ModelRequest, step echo.StepKind) {
	site := v.place()
	req = &effect.ModelRequest{Messages: a.Messages, MaxOutputTokens: a.MaxOut}
	switch a.Kind {
	case autocontext.AskRecount:
		site.Purpose, step = echo.PurposeRecount, echo.StepRecount
		req.Model, req.MaxOutputTokens = v.model, max(a.MaxOut, smallestAnswer)
		if v.native() {
			req.Tools, req.ToolsDigest = v.tools.specs, v.tools.digest
		}
	default:
		site.Purpose, step = echo.PurposeSummary, echo.StepCompact
		req.Model = cmp.Or(v.settings.Policy.Guard.SummarizerModel, v.model)
		req.AnswerLength = a.MaxOut
		req.MaxOutputTokens = max(a.MaxOut, min(int(v.room.reserve), a.MaxOut+thinkingRoom))
	}
	req.Site = site
	return req, step
}

// fallback says what happened to a call of the guard and what is done without it.
func fallback(req *effect.ModelRequest, why string) string {
	if req.Site.Purpose == echo.PurposeRecount {
		return "the request could not be counted by the provider, the count made here is used: " + why
	}
	return fmt.Sprintf("%s gave no summary of the older messages, so one is put together from them without a model: %s", req.Model, why)
}

// recordGuard records what the guard did, and tells those who watch.
func (v *visit) recordGuard(events []echo.Guard) error {
	for _, ev := range events {
		v.guarded++
		e := payloadEntry(v.here().Numbered(echo.StepGuard, v.guarded), v.place(), ev)
		e.Model = v.model
		if err := v.append(e); err != nil {
			return err
		}
		v.observer.Observe(Event{Kind: EventKind(ev.Event), Site: v.place(), Model: v.model, Guard: ev})
	}
	return nil
}
