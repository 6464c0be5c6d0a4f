package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/checks"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/hearing"
	"github.com/windlass-run/windlass/engine/inquiry"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/upkeep"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// conversation is what a phase does that asks a model: attempts, each of turns.
type conversation struct {
	*visit
	corrects bool // the next turn corrects an answer that loop_until has rejected
	told     int  // the turn at which the model was told that the run was resumed; 0: none
	hearing  *hearing.Hearing
	spoken   bool // a person has said what the next turn is to answer
	stands   *upkeep.Stands
}

// converse makes attempts until an answer passes every check, and returns it. The first empty
// answer is followed by another attempt in any case, the second by none.
func (c *conversation) converse(ctx context.Context) (any, error) {
	if err := c.listen(ctx); err != nil {
		return nil, err
	}
	if err := newOpening(c.visit).write(ctx); err != nil {
		return nil, err
	}
	return c.attempts(ctx)
}

func (c *conversation) attempts(ctx context.Context) (any, error) {
	limit, empty := c.Def.MaxAttempts(), false
	for c.Attempt = 1; ; c.Attempt++ {
		c.Turn = 0
		c.result.Attempts = c.Attempt
		if c.Attempt > 1 {
			if err := c.askAgain(); err != nil {
				return nil, err
			}
		}
		if _, err := c.hear(ctx, c.Here()); err != nil {
			return nil, err
		}
		value, check, ans, err := c.settled(ctx, func(check string) bool {
			return check == "" || check == checks.Empty && empty || check != checks.Empty && !isWardCheck(check) && c.Attempt >= limit
		})
		if err == nil && c.Attempt >= limit && c.takesLast(check) {
			value, check, err = c.takeLast(ctx, check, ans)
		}
		if err == nil && check == "" {
			value, check, err = c.asks.Decide(ctx, value, ans.Text)
		}
		if err != nil || check == "" {
			return value, err
		}
		switch {
		case isWardCheck(check), check == inquiry.CheckDecision:
			limit++ // its attempts are its own
		case check == checks.Empty && empty:
			return nil, &core.EmptyAnswerError{Why: ans.Empty}
		case check == checks.Empty:
			empty, limit = true, max(limit, c.Attempt+1)
		case c.Attempt >= limit:
			return nil, &core.VerdictError{Check: check, Attempts: limit, Reason: c.Rec.Rules.Ending(check, c.templates.Rejected), Cause: c.checks.Failure()}
		}
	}
}

// settled is [conversation.judged] of an attempt that goes on for as long as a person has said something to an answer that ends
// the phase, as ends reports of the check that it did not pass.
func (c *conversation) settled(ctx context.Context, ends func(check string) bool) (value any, check string, ans answer, err error) {
	for {
		value, check, ans, err = c.judged(ctx)
		if err != nil || !ends(check) {
			return value, check, ans, err
		}
		h, err := c.hear(ctx, c.Here().Step(echo.StepEnd))
		if err != nil || !h.Said {
			return value, check, ans, err
		}
	}
}

// judged makes one attempt and returns its value, or the check that its answer did not pass. An answer
// that loop_until rejects is corrected as long as there are turns that the file gives.
func (c *conversation) judged(ctx context.Context) (value any, check string, ans answer, err error) {
	for {
		if ans, err = c.attempt(ctx); err != nil || ans.refused != "" {
			return nil, ans.refused, ans, err
		}
		if value, check, err = c.checks.Judge(ctx, ans.Answer); err != nil {
			return nil, "", ans, err
		}
		if check == "" {
			c.result.Reason = ans.reason
			check, err = c.wards.output(ctx, value)
			return value, check, ans, err
		}
		c.corrects = check == core.LoopUntilCheck+c.Def.Rules.LoopUntil && c.Rec.Rules.CorrectsInAttempt(&c.Def.Rules, c.Turn)
		if !c.corrects {
			return nil, check, ans, nil
		}
	}
}

// takesLast reports whether the phase takes an answer that no attempt got past a check. An empty one
// is no answer, and wards have attempts of their own.
func (c *conversation) takesLast(check string) bool {
	return check != "" && check != checks.Empty && !isWardCheck(check) && c.Def.Rules.OnExhausted == cascade.ExhaustedContinue
}

// takeLast takes the last answer as the output, or returns the ward that it did not pass.
func (c *conversation) takeLast(ctx context.Context, check string, ans answer) (value any, refused string, err error) {
	why := c.Rec.Rules.Ending(check, c.templates.Rejected)
	name := strings.TrimPrefix(check, core.LoopUntilCheck)
	if err := c.Rec.Warn(c.Here().Named(echo.StepVerdict, name), fmt.Sprintf("no answer passed %s in %s, and the last one is the output, as on_exhausted is continue: %s",
		check, quantity.Of(c.Attempt, "attempt"), excerpt.Of(why))); err != nil {
		return nil, "", err
	}
	value = ans.Text
	if raw, ok := modeltext.FindJSON(ans.Text); ok && len(c.Def.OutputSchema) > 0 {
		if value, err = modeltext.Decode(raw); err != nil {
			return nil, "", err
		}
	}
	c.result.Reason = echo.StopExhausted
	refused, err = c.wards.output(ctx, value)
	return value, refused, err
}

// askAgain opens an attempt after one that did not pass.
func (c *conversation) askAgain() error {
	text, err := c.templates.Correction()
	if err != nil {
		return err
	}
	return c.say(echo.StepRetry, echo.NewText(echo.RoleUser, echo.KindRetry, text))
}
