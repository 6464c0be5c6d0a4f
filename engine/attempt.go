package engine

import (
	"context"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/checks"
	"github.com/windlass-run/windlass/engine/effect"
)

// answer is what an attempt came to.
type answer struct {
	checks.Answer
	reason  echo.StopReason
	content string // what validators see of it
	refused string // the ward for which the attempt ends here; "": none
}

// answered reads an answer, and has the wards look at it. One without text that is asked for again is
// none that they could look at.
func (c *conversation) answered(ctx context.Context, resp *effect.ModelResponse) (answer, error) {
	ans := answer{Answer: checks.AnswerOf(resp, continuityOf(c.visit)), reason: echo.StopAnswered}
	ans.content = c.checks.Content(ans.Text)
	if len(resp.Message.ToolCalls()) == 0 && ans.Empty != "" && c.checks.RefusesEmpty() {
		return ans, nil
	}
	var err error
	if ans.refused, err = c.wards.answer(ctx, ans.content); ans.refused != "" {
		c.corrects = false
	}
	return ans, err
}

// attempt takes turns until the model answers without calls, loop_until passes, or none are left. It
// goes on after a turn whose answer was rejected. What a person says has a further turn, whatever the limit.
func (c *conversation) attempt(ctx context.Context) (answer, error) {
	limit := max(c.run.spec.Cascade.MaxTurns(c.Def), c.Turn+1)
	for c.Turn++; ; c.Turn++ {
		if err := c.openTurn(ctx); err != nil {
			return answer{}, err
		}
		resp, err := c.takeTurn(ctx, false)
		if err != nil {
			return answer{}, err
		}
		called := len(resp.Message.ToolCalls()) > 0
		ans, goesOn, err := c.heardOrAnswered(ctx, resp)
		if err != nil || ans.refused != "" {
			return ans, err
		}
		if goesOn {
			limit = max(limit, c.Turn+1)
			continue
		}
		if err := c.checkTurn(ctx, limit, called, &ans); err != nil {
			return answer{}, err
		}
		last := c.Turn == limit
		switch {
		case called && (ans.Passed || last):
			return c.finalAnswer(ctx, ans)
		case ans.Passed:
			ans.reason = echo.StopLoopUntil
			return ans, nil
		case !called && (last || c.Def.Rules.TurnPrompt == ""):
			return ans, nil
		}
	}
}

// heardOrAnswered reads an answer, unless a person has said something to it: then the attempt goes on with another turn. One
// that is taken back is read by nobody.
func (c *conversation) heardOrAnswered(ctx context.Context, resp *effect.ModelResponse) (ans answer, goesOn bool, err error) {
	c.spoken = false // it has answered that
	h, err := c.hear(ctx, c.Here())
	if err != nil {
		return answer{}, false, err
	}
	if !h.Retract {
		ans, err = c.answered(ctx, resp)
	}
	return ans, h.Said, err
}

// openTurn opens turn 2 and later: what a person has said while the answer before was checked comes first.
func (c *conversation) openTurn(ctx context.Context) error {
	if c.Turn == 1 {
		return nil
	}
	if err := c.noticeResume(ctx); err != nil {
		return err
	}
	if _, err := c.hear(ctx, c.Here().Step(echo.StepPrompt)); err != nil {
		return err
	}
	return c.promptTurn()
}

// promptTurn prompts turn 2 and later, in a phase that prompts them.
func (c *conversation) promptTurn() error {
	src := c.Def.Rules.TurnPrompt
	if c.spoken {
		c.spoken, c.corrects = false, false
		return nil
	}
	if src == "" && !c.corrects {
		return nil
	}
	text, err := c.turnPrompt(src)
	if err != nil {
		return err
	}
	c.corrects = false
	return c.say(echo.StepPrompt, echo.NewText(echo.RoleUser, echo.KindTurnPrompt, text))
}

// turnPrompt writes the prompt of a turn, which says why an answer before it was rejected.
func (c *conversation) turnPrompt(src string) (string, error) {
	if src == "" {
		return c.templates.Correction()
	}
	text, err := c.templates.Text("turn_prompt", src)
	if err == nil && c.corrects && !strings.Contains(src, "validation_error") {
		text += "\n\nYour last answer was not accepted: " + c.templates.Rejected
	}
	return text, err
}

// checkTurn asks loop_until whether a turn may end the attempt early. Text beside tool calls is no
// answer: only validators that look at the world see it. An answer that ends the attempt is left
// to judge, which asks what costs nothing first.
func (c *conversation) checkTurn(ctx context.Context, limit int, called bool, ans *answer) error {
	name := c.Def.Rules.LoopUntil
	ends := !called && (c.Turn == limit || c.Def.Rules.TurnPrompt == "")
	if name == "" || limit < 2 || ends || called && !c.checks.LooksAtWorld(name) || !c.Rec.Rules.ChecksEveryTurn(&c.Def.Rules) {
		return nil
	}
	vd, err := c.checks.Validate(ctx, name, ans.content)
	if err != nil {
		return err
	}
	ans.Passed = vd.Valid
	c.templates.Rejected = vd.Reason
	c.corrects = !called && !vd.Valid && c.Rec.Rules.CorrectsInAttempt(&c.Def.Rules, c.Turn)
	return nil
}

// finalAnswer asks for the answer, without tools, after a last turn that called tools.
func (c *conversation) finalAnswer(ctx context.Context, before answer) (answer, error) {
	note := "No more tool calls are possible. Give your final answer now, in text."
	if before.Passed {
		note = "The checks pass now. Give your final answer, in text, without calling tools."
	}
	for {
		c.Turn++
		if err := c.noticeResume(ctx); err != nil {
			return answer{}, err
		}
		if _, err := c.hear(ctx, c.Here().Step(echo.StepPrompt)); err != nil {
			return answer{}, err
		}
		if err := c.say(echo.StepNotice, echo.NewText(echo.RoleUser, echo.KindNotice, note)); err != nil {
			return answer{}, err
		}
		resp, err := c.takeTurn(ctx, true)
		if err != nil {
			return answer{}, err
		}
		ans, goesOn, err := c.heardOrAnswered(ctx, resp)
		if goesOn && err == nil && ans.refused == "" {
			continue
		}
		return finalOf(ans, before), err
	}
}

// finalOf returns the answer that ends an attempt after its last turn.
func finalOf(ans, before answer) answer {
	ans.reason = echo.StopMaxTurns
	if before.Passed {
		ans.Passed, ans.reason = true, echo.StopLoopUntil
	}
	return ans
}
