package inquiry

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/engine/waiting"
)

// CheckDecision is the check that an output does not pass where another attempt follows from its decision.
const CheckDecision = "decision"

// points returns where the decisions of the phase lead.
func (a *Asker) points() *waiting.Points {
	targets := a.Def.DecisionPoints.LeadsTo()
	for _, h := range a.Def.Handoffs {
		if !slices.Contains(targets, h.Target) {
			targets = append(targets, h.Target)
		}
	}
	return &waiting.Points{Routing: a.Def.DecisionPoints.Routing, Targets: targets, Retries: a.Def.DecisionPoints.Retries() - a.retried}
}

// HowToDecide tells a model how it asks for a decision.
func (a *Asker) HowToDecide() string { return a.points().HowToDecide() }

// Decide has a person decide what an output asks, and returns the output without what asks, or the check that it does
// not pass yet.
func (a *Asker) Decide(ctx context.Context, value any, text string) (out any, check string, err error) {
	if a.Def.DecisionPoints == nil {
		return value, "", nil
	}
	asked := a.asksPerson(text)
	if said, is := value.(string); is && said == text {
		value = asked.Rest
	}
	warning := ""
	switch most := a.Def.DecisionPoints.Retries(); {
	case asked.Form != nil:
		check, err = a.awaitDecision(ctx, asked.Form)
		return value, check, err
	case asked.Problem != "" && a.checked < most:
		a.checked++
		a.Templates.Rejected, err = a.rejects(asked.Problem)
		return value, CheckDecision, err
	case asked.Problem != "":
		warning = "nobody is asked: " + asked.Problem
	case asked.Spent:
		warning = fmt.Sprintf("nobody is asked: each option would have the phase run again, which it has done %d times", a.retried)
	}
	if err := a.Rec.Remark(a.Here(), warning); err != nil {
		return value, "", err
	}
	return value, "", a.decided("", "")
}

// rejects records why a decision cannot be read, and returns that as it is recorded.
func (a *Asker) rejects(problem string) (string, error) {
	v, err := core.Follow(a.Rec, a.Here().Named(echo.StepVerdict, CheckDecision), echo.Verdict{Reason: problem, Validator: CheckDecision})
	return v.Reason, err
}

// asksPerson reads what an answer asks. Of one that was redacted since, that is what is recorded.
func (a *Asker) asksPerson(text string) waiting.Asked {
	last := phasecontext.LastAnswer(a.Record.History)
	if last == nil || last.Message.Redacted() == nil {
		return a.points().Ask(text)
	}
	asked := waiting.Asked{Rest: text}
	if e := a.Rec.Peek(echo.NodeWait, a.At(echo.StepWait)); e != nil {
		if w, err := echo.Read[echo.Wait](e); err == nil {
			asked.Form = w.Form
		}
	}
	if e := a.Rec.Peek(echo.NodeVerdict, a.Here().Named(echo.StepVerdict, CheckDecision)); e != nil {
		asked.Problem = "it was redacted"
	}
	return asked
}

// awaitDecision returns the check that the output does not pass yet, where a person has the phase run again.
func (a *Asker) awaitDecision(ctx context.Context, form *echo.Form) (check string, err error) {
	d := a.Def.DecisionPoints
	w := echo.Wait{Kind: echo.WaitDecision, Form: form, Timeout: d.TimeoutSeconds, Expiry: echo.OnTimeout(d.Expiry())}
	got, err := effect.AwaitAnswer(ctx, a.Rec.Recorder, a.At(echo.StepWait), a.Site, w)
	if err != nil {
		return "", err
	}
	if got.TimedOut {
		if _, _, err := waiting.Settled(&got.Wait, got.Answer); err != nil {
			return "", err
		}
		return "", a.decided("", "")
	}
	choice, feedback, action := waiting.Chosen(got.Wait.Form, got.Value)
	said := waiting.Decided(got.Wait.Form, choice, feedback)
	switch action {
	case waiting.ActionContinue:
	case waiting.ActionRetry:
		a.retried++
		a.Templates.Rejected = "a person was asked: " + got.Wait.Form.Question + "\nThe decision: " + said
		return CheckDecision, nil
	case waiting.ActionAbort:
		return "", fmt.Errorf("a person has ended the phase: %s", said)
	default:
		a.Route = action
	}
	if err := a.decided(choice, feedback); err != nil {
		return "", err
	}
	return "", a.Say(echo.StepNotice, echo.NewText(echo.RoleUser, echo.KindNotice, "A person was asked: "+got.Wait.Form.Question+"\nThe answer: "+said))
}

// decided keeps what a person has decided; empty texts where nobody has.
func (a *Asker) decided(choice, feedback string) error {
	return a.SetState(cascade.StateHumanPrefix+a.Def.Name, map[string]any{"choice": choice, "feedback": feedback})
}
