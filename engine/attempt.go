package engine

import (
	"context"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// answer is what an attempt came to.
type answer struct {
	text   string
	reason echo.StopReason
	passed bool   // loop_until has accepted it already
	empty  string // why there is no text; "": there is some
}

// attempt takes turns until the model answers without calls, loop_until passes, or none are left. It
// goes on after a turn whose answer was rejected.
func (v *visit) attempt(ctx context.Context) (answer, error) {
	limit := v.phase.MaxTurns()
	for v.Turn++; ; v.Turn++ {
		if v.Turn > 1 {
			if err := v.noticeResume(ctx); err != nil {
				return answer{}, err
			}
			if err := v.promptTurn(); err != nil {
				return answer{}, err
			}
		}
		resp, err := v.takeTurn(ctx, false)
		if err != nil {
			return answer{}, err
		}
		called := len(resp.Message.ToolCalls()) > 0
		ans := answer{text: resp.Message.Text(), reason: echo.StopAnswered, empty: whyEmpty(resp)}
		if err := v.checkTurn(ctx, limit, called, &ans); err != nil {
			return answer{}, err
		}
		last := v.Turn == limit
		switch {
		case called && (ans.passed || last):
			return v.finalAnswer(ctx, ans)
		case ans.passed:
			ans.reason = echo.StopLoopUntil
			return ans, nil
		case !called && (last || v.phase.Rules.TurnPrompt == ""):
			return ans, nil
		}
	}
}

// whyEmpty says why an answer has no text; "" when it has some.
func whyEmpty(resp *effect.ModelResponse) string {
	if strings.TrimSpace(resp.Message.Text()) != "" {
		return ""
	}
	reasoned := resp.Usage.Reasoning > 0
	switch {
	case resp.FinishReason == "length" && reasoned:
		return "it was cut off at the limit of output tokens while the model was still reasoning"
	case resp.FinishReason == "length":
		return "it was cut off at the limit of output tokens before any text"
	case resp.FinishReason == "content_filter":
		return "the provider's content filter withheld it"
	case len(resp.Message.ToolCalls()) > 0:
		return "the model called tools where none can be called"
	case reasoned:
		return "the model only reasoned"
	}
	return "the model said nothing"
}

// promptTurn opens turn 2 and later, in a phase that prompts them.
func (v *visit) promptTurn() error {
	src := v.phase.Rules.TurnPrompt
	if src == "" && !v.corrects {
		return nil
	}
	text, err := v.turnPrompt(src)
	if err != nil {
		return err
	}
	v.corrects = false
	return v.say(echo.StepPrompt, echo.NewText(echo.RoleUser, echo.KindTurnPrompt, text))
}

// turnPrompt writes the prompt of a turn, which says why an answer before it was rejected.
func (v *visit) turnPrompt(src string) (string, error) {
	if src == "" {
		return v.templates.correction()
	}
	text, err := v.templates.text("turn_prompt", src)
	if err == nil && v.corrects && !strings.Contains(src, "validation_error") {
		text += "\n\nYour last answer was not accepted: " + v.templates.rejected
	}
	return text, err
}

// checkTurn asks loop_until whether a turn may end the attempt early. Text beside tool calls is no
// answer: only validators that look at the world see it. An answer that ends the attempt is left
// to judge, which asks what costs nothing first.
func (v *visit) checkTurn(ctx context.Context, limit int, called bool, ans *answer) error {
	name := v.phase.Rules.LoopUntil
	ends := !called && (v.Turn == limit || v.phase.Rules.TurnPrompt == "")
	if name == "" || limit < 2 || ends || called && !v.checks.looksAtWorld(name) || !v.rec.rules.checksEveryTurn(&v.phase.Rules) {
		return nil
	}
	vd, err := v.checks.validate(ctx, name, ans.text)
	if err != nil {
		return err
	}
	ans.passed = vd.Valid
	v.templates.rejected = vd.Reason
	v.corrects = !called && !vd.Valid && v.rec.rules.correctsInAttempt(&v.phase.Rules, v.Turn)
	return nil
}

// finalAnswer asks for the answer, without tools, after a last turn that called tools.
func (v *visit) finalAnswer(ctx context.Context, before answer) (answer, error) {
	note := "No more tool calls are possible. Give your final answer now, in text."
	if before.passed {
		note = "The checks pass now. Give your final answer, in text, without calling tools."
	}
	v.Turn++
	if err := v.noticeResume(ctx); err != nil {
		return answer{}, err
	}
	if err := v.say(echo.StepNotice, echo.NewText(echo.RoleUser, echo.KindNotice, note)); err != nil {
		return answer{}, err
	}
	resp, err := v.takeTurn(ctx, true)
	if err != nil {
		return answer{}, err
	}
	ans := answer{text: resp.Message.Text(), reason: echo.StopMaxTurns, empty: whyEmpty(resp)}
	if before.passed {
		ans.passed, ans.reason = true, echo.StopLoopUntil
	}
	return ans, nil
}
