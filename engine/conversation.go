package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// conversation runs a phase with a model: attempts until one answer passes every check. The value is the answer, parsed
// when the phase has an output_schema.
func (v *visit) conversation(ctx context.Context) (any, error) {
	if err := v.prepare(ctx); err != nil {
		return nil, err
	}
	limit := v.phase.MaxAttempts()
	for v.attempt = 1; ; v.attempt++ {
		v.turn = 0
		v.result.Attempts = v.attempt
		if v.attempt > 1 {
			if err := v.askAgain(); err != nil {
				return nil, err
			}
		}
		ans, err := v.runAttempt(ctx)
		if err != nil {
			return nil, err
		}
		value, check, err := v.judge(ctx, ans)
		if err != nil {
			return nil, err
		}
		if check == "" {
			v.result.Reason = ans.reason
			return value, nil
		}
		if v.attempt == limit {
			return nil, &VerdictError{Check: check, Attempts: limit, Reason: v.verdict}
		}
	}
}

// prepare writes what comes before the first turn: system message, context, what is selected, task.
func (v *visit) prepare(ctx context.Context) error {
	system, err := v.systemText()
	if err != nil {
		return err
	}
	if system != "" {
		if err := v.say(echo.StepSystem, echo.NewText(echo.RoleSystem, echo.KindSystem, system)); err != nil {
			return err
		}
	}
	task, err := v.taskText()
	if err != nil {
		return err
	}
	brought, err := v.bringContext()
	if err != nil {
		return err
	}
	message := echo.NewText(echo.RoleUser, echo.KindTask, task)
	if err := v.selectContext(ctx, v.kept(v.at(echo.StepTask), message, true).Text(), brought); err != nil {
		return err
	}
	return v.say(echo.StepTask, message)
}

// askAgain opens an attempt after one that did not pass.
func (v *visit) askAgain() error {
	text := "Your answer was not accepted: " + v.verdict + "\n\nCorrect this and give the complete answer again."
	if src := v.phase.Rules.RetryInstructions; src != "" {
		rendered, err := v.text("retry_instructions", src)
		if err != nil {
			return err
		}
		text = rendered
		if !strings.Contains(src, "validation_error") {
			text += "\n\nYour last answer was not accepted: " + v.verdict
		}
	}
	return v.say(echo.StepRetry, echo.NewText(echo.RoleUser, echo.KindRetry, text))
}

// judge checks an answer: output_schema, then loop_until unless it was just asked about this very answer. It returns the
// value and, when a check did not pass, the name of that check; why is then in v.verdict.
func (v *visit) judge(ctx context.Context, ans answer) (value any, failed string, err error) {
	value = ans.text
	v.verdict = ""
	if len(v.phase.OutputSchema) > 0 {
		parsed, reason, err := v.checkSchema(ctx, ans.text)
		if err != nil {
			return nil, "", err
		}
		if err := v.recordVerdict("output_schema", reason == "", reason); err != nil {
			return nil, "", err
		}
		if reason != "" {
			v.verdict = reason
			return nil, "output_schema", nil
		}
		value = parsed
	}
	name := v.phase.Rules.LoopUntil
	if name == "" || ans.passed {
		return value, "", nil
	}
	verdict, err := v.validate(ctx, name, ans.text)
	if err != nil {
		return nil, "", err
	}
	if !verdict.Valid {
		v.verdict = verdict.Reason
		return nil, "loop_until " + name, nil
	}
	return value, "", nil
}

func (v *visit) recordVerdict(check string, valid bool, reason string) error {
	verdict := echo.Verdict{Validator: check, Valid: valid, Reason: reason}
	return v.append(payloadEntry(v.here().Named(echo.StepVerdict, check), v.place(), verdict))
}

// emptyAnswer explains an answer without text.
func (v *visit) noteAnswer(resp *effect.ModelResponse) error {
	if resp.Ignored != "" && !v.doubted {
		v.doubted = true
		if err := v.warn(v.at(echo.StepFigures), v.place(), resp.Ignored); err != nil {
			return err
		}
	}
	switch {
	case resp.FinishReason == "length":
		return v.warn(v.at(echo.StepModel), v.place(), "the answer was cut off at the limit of output tokens")
	case strings.TrimSpace(resp.Message.Text()) == "":
		return v.warn(v.at(echo.StepModel), v.place(), fmt.Sprintf("the model answered without text (finish reason %q)", resp.FinishReason))
	}
	return nil
}
