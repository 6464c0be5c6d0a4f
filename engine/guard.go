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

// smallestAnswer is what a recount lets the model write: OpenAI's endpoints refuse less than 16.
const smallestAnswer = 16

// guard counts what was done so that the requests of a phase fit.
type guard struct {
	done int                         // events of the guard
	asks map[autocontext.AskKind]int // how often the builder has asked

	summaries map[echo.Hash]*echo.Message // that are taken as they are recorded
}

// settle gets what a view needs and puts it into the carry.
func (v *views) settle(ctx context.Context, a *autocontext.Ask) error {
	v.guard.asks[a.Kind]++
	ans, err := v.answerAsk(ctx, a)
	if err != nil {
		return err
	}
	var summary *echo.Message
	if v.carry, summary = v.builder.Answer(v.carry, a, ans); summary == nil {
		return nil
	}
	// It stands for messages in views and is in no history.
	return v.rec.message(v.here().Numbered(echo.StepSummary, v.guard.asks[a.Kind]), summary)
}

// answerAsk gets what a view needs from a model. A failed call is an answer too.
func (v *views) answerAsk(ctx context.Context, a *autocontext.Ask) (autocontext.Answer, error) {
	failed := autocontext.Answer{Failed: true}
	req, step := v.askRequest(a)
	place := v.here().Numbered(step, v.guard.asks[a.Kind])
	resp, problem, err := v.calls.try(ctx, place.Step(echo.StepModel), req)
	switch {
	case err != nil:
		return failed, err
	case problem != "":
	case a.Kind == autocontext.AskSummary && strings.TrimSpace(resp.Message.Text()) == "":
		problem = emptyAnswer(resp)
	case a.Kind == autocontext.AskRecount && (resp.Usage.Estimated || resp.Usage.In <= 0):
		problem = "the provider reports no usage"
	}
	if problem != "" {
		return failed, v.rec.warn(place, fallback(req, problem))
	}
	return autocontext.Answer{Text: resp.Message.Text(), Tokens: resp.Usage.In}, nil
}

func (v *views) askRequest(a *autocontext.Ask) (req *effect.ModelRequest, step echo.StepKind) {
	site := v.Site
	req = &effect.ModelRequest{Messages: a.Messages, MaxOutputTokens: a.MaxOut}
	switch a.Kind {
	case autocontext.AskRecount:
		site.Purpose, step = echo.PurposeRecount, echo.StepRecount
		req.Model, req.MaxOutputTokens = v.record.Model, max(a.MaxOut, smallestAnswer)
		if !v.record.Prompted {
			req.Tools, req.ToolsDigest = v.tools.specs, v.tools.digest
		}
	default:
		site.Purpose, step = echo.PurposeSummary, echo.StepCompact
		req.Model = cmp.Or(v.settings.Policy.Guard.SummarizerModel, v.record.Model)
		req.AnswerLength = a.MaxOut
		req.MaxOutputTokens = max(a.MaxOut, min(int(v.room.reserve), a.MaxOut+effect.ThinkingRoom))
	}
	req.Site = site
	return req, step
}

func fallback(req *effect.ModelRequest, why string) string {
	if req.Site.Purpose == echo.PurposeRecount {
		return "the request could not be counted by the provider, the count made here is used: " + why
	}
	return fmt.Sprintf("%s gave no summary of the older messages, so one is put together from them without a model: %s", req.Model, why)
}

func (v *views) recordGuard(events []echo.Guard) error {
	for _, ev := range events {
		v.guard.done++
		e := v.rec.entry(v.here().Numbered(echo.StepGuard, v.guard.done), ev)
		e.Model = v.record.Model
		if err := v.rec.Append(e); err != nil {
			return err
		}
		v.rec.observe(Event{Kind: EventKind(ev.Event), Site: v.Site, Model: e.Model, Guard: ev})
	}
	return nil
}
