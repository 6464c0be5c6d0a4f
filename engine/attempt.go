package engine

import (
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// answer is what an attempt came to.
type answer struct {
	text   string
	reason echo.StopReason
	passed bool // loop_until has accepted it already
}

// runAttempt takes turns until the model answers without calling tools, loop_until passes, or the turns are used up.
func (v *visit) runAttempt(ctx context.Context) (answer, error) {
	limit := v.phase.MaxTurns()
	for v.turn = 1; ; v.turn++ {
		if v.turn > 1 {
			if err := v.openAgain(ctx); err != nil {
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
		ans := answer{text: resp.Message.Text(), reason: echo.StopAnswered}
		if err := v.checkTurn(ctx, limit, called, &ans); err != nil {
			return answer{}, err
		}
		last := v.turn == limit
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

// promptTurn opens turn 2 and later, in a phase that prompts them.
func (v *visit) promptTurn() error {
	src := v.phase.Rules.TurnPrompt
	if src == "" {
		return nil
	}
	text, err := v.text("turn_prompt", src)
	if err != nil {
		return err
	}
	return v.say(echo.StepPrompt, echo.NewText(echo.RoleUser, echo.KindTurnPrompt, text))
}

// checkTurn asks loop_until whether a turn that does not end the attempt may end it early. What a model says while it
// calls tools is not its answer, so such a turn is only shown to validators that look at the world and not at the text: a
// command or a declared tool. An answer that ends the attempt is left to judge, which asks what costs nothing first.
func (v *visit) checkTurn(ctx context.Context, limit int, called bool, ans *answer) error {
	name := v.phase.Rules.LoopUntil
	ends := !called && (v.turn == limit || v.phase.Rules.TurnPrompt == "")
	if name == "" || limit < 2 || ends || called && !v.looksAtWorld(name) {
		return nil
	}
	vd, err := v.validate(ctx, name, ans.text)
	if err != nil {
		return err
	}
	ans.passed = vd.Valid
	v.verdict = vd.Reason
	return nil
}

// finalAnswer asks for the answer in words, without tools, after a turn that called tools and was the last one: the turns
// are used up, or loop_until has passed.
func (v *visit) finalAnswer(ctx context.Context, before answer) (answer, error) {
	note := "No more tool calls are possible. Give your final answer now, in text."
	if before.passed {
		note = "The checks pass now. Give your final answer, in text, without calling tools."
	}
	v.turn++
	if err := v.openAgain(ctx); err != nil {
		return answer{}, err
	}
	if err := v.say(echo.StepNotice, echo.NewText(echo.RoleUser, echo.KindNotice, note)); err != nil {
		return answer{}, err
	}
	resp, err := v.takeTurn(ctx, true)
	if err != nil {
		return answer{}, err
	}
	ans := answer{text: resp.Message.Text(), reason: echo.StopMaxTurns}
	if before.passed {
		ans.passed, ans.reason = true, echo.StopLoopUntil
	}
	return ans, nil
}

// takeTurn is one model call together with the tool results that answer it.
func (v *visit) takeTurn(ctx context.Context, noTools bool) (*effect.ModelResponse, error) {
	resp, err := v.send(ctx, noTools)
	if err != nil {
		return nil, err
	}
	v.result.Turns++
	v.enter(resp.Message, v.turn)
	if len(resp.Message.ToolCalls()) == 0 {
		return resp, v.noteAnswer(resp)
	}
	return resp, v.runTools(ctx, resp.Message, noTools)
}

// ask makes a model call and adds what it took to the phase and to the run, also when it failed: a call that broke off may
// have cost something.
func (v *visit) ask(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	resp, err := v.rec.Model(ctx, key, req)
	v.result.Count(resp, err)
	v.run.result.Count(resp, err)
	if err == nil {
		v.answers.add(req, resp)
	}
	return resp, err
}
