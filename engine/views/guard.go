package views

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// SmallestAnswer is what a recount lets the model write: OpenAI's endpoints refuse less than 16.
const SmallestAnswer = 16

// guard counts what was done so that the requests of a phase fit.
type guard struct {
	done int                         // events of the guard
	asks map[autocontext.AskKind]int // how often the builder has asked

	summaries map[echo.Hash]*echo.Message // that are taken as they are recorded
}

// settle gets what a view needs and puts it into the carry.
func (v *Views) settle(ctx context.Context, a *autocontext.Ask) error {
	v.guard.asks[a.Kind]++
	ans, err := v.answerAsk(ctx, a)
	if err != nil {
		return err
	}
	var summary *echo.Message
	if v.Carry, summary = v.Builder.Answer(v.Carry, a, ans); summary == nil {
		return nil
	}
	// It stands for messages in views and is in no history.
	return v.Rec.Message(v.Here().Numbered(echo.StepSummary, v.guard.asks[a.Kind]), summary)
}

// answerAsk gets what a view needs from a model. A failed call is an answer too.
func (v *Views) answerAsk(ctx context.Context, a *autocontext.Ask) (autocontext.Answer, error) {
	failed := autocontext.Answer{Failed: true}
	req, step := v.askRequest(a)
	place := v.Here().Numbered(step, v.guard.asks[a.Kind])
	resp, problem, err := v.calls.Try(ctx, place.Step(echo.StepModel), req)
	switch {
	case err != nil:
		return failed, err
	case problem != "":
	case a.Kind == autocontext.AskSummary && strings.TrimSpace(resp.Message.Text()) == "":
		problem = core.EmptyAnswer(resp)
	case a.Kind == autocontext.AskRecount && (resp.Usage.Estimated || resp.Usage.In <= 0):
		problem = "the provider reports no usage"
	}
	if problem != "" {
		return failed, v.Rec.Warn(place, fallback(req, problem))
	}
	return autocontext.Answer{Text: resp.Message.Text(), Tokens: resp.Usage.In}, nil
}

func (v *Views) askRequest(a *autocontext.Ask) (req *effect.ModelRequest, step echo.StepKind) {
	site := v.Site
	req = &effect.ModelRequest{Messages: a.Messages, MaxOutputTokens: a.MaxOut}
	switch a.Kind {
	case autocontext.AskRecount:
		site.Purpose, step = echo.PurposeRecount, echo.StepRecount
		req.Model, req.MaxOutputTokens = v.Record.Model, max(a.MaxOut, SmallestAnswer)
		if !v.Record.Prompted {
			req.Tools, req.ToolsDigest = v.tools.Specs, v.tools.Digest
		}
	default:
		site.Purpose, step = echo.PurposeSummary, echo.StepCompact
		req.Model = cmp.Or(v.Settings.Policy.Guard.SummarizerModel, v.Record.Model)
		req.AnswerLength = a.MaxOut
		req.MaxOutputTokens = max(a.MaxOut, min(int(v.room.Reserve), a.MaxOut+effect.ThinkingRoom))
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

func (v *Views) recordGuard(events []echo.Guard) error {
	for _, ev := range events {
		v.guard.done++
		e := v.Rec.Entry(v.Here().Numbered(echo.StepGuard, v.guard.done), ev)
		e.Model = v.Record.Model
		if err := v.Rec.Append(e); err != nil {
			return err
		}
		v.Rec.Observe(core.Event{Kind: core.EventKind(ev.Event), Site: v.Site, Model: e.Model, Guard: ev})
	}
	return nil
}
