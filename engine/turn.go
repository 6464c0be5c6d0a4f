package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/views"
)

// maxRefusals bounds how often a refused request is made smaller. The builder gives up before.
const maxRefusals = 10

// takeTurn is one model call together with the tool results that answer it.
func (c *conversation) takeTurn(ctx context.Context, noTools bool) (*effect.ModelResponse, error) {
	err := c.stands.Rebuild(ctx, c.views)
	if err == nil {
		err = c.stands.Put(ctx)
	}
	if err != nil {
		return nil, err
	}
	resp, err := c.send(ctx, noTools)
	if err != nil {
		return nil, err
	}
	c.result.Turns++
	c.tools.before = c.tools.chosen
	c.enter(resp.Message)
	if err := c.stands.Keep(resp.Message); err != nil {
		return nil, err
	}
	if len(resp.Message.ToolCalls()) == 0 {
		return resp, c.noteAnswer(resp)
	}
	repeated, err := c.tools.run(ctx, resp.Message, noTools)
	if err == nil && c.tools.edited != "" {
		err = c.say(echo.StepNotice, echo.NewText(echo.RoleUser, echo.KindNotice, c.tools.edited))
	}
	if err != nil || len(repeated) == 0 {
		return resp, err
	}
	return resp, c.say(echo.StepRepeat, echo.NewText(echo.RoleUser, echo.KindNotice,
		"You made the same call with the same result before: "+strings.Join(repeated, ", ")+
			". Making it again will not change the result: use what you have, or try something else."))
}

// send makes a turn's model call. A request refused as too long is made smaller and sent again; where
// a model cannot be reached, the next one is asked.
func (c *conversation) send(ctx context.Context, noTools bool) (*effect.ModelResponse, error) {
	if err := c.views.ReadIdle(ctx); err != nil {
		return nil, err
	}
	var refusal error
	for try := 1; ; try++ {
		key := c.Here().Try(echo.StepModel, try)
		req, err := c.views.Request(ctx, c.Here().Try(echo.StepContext, try), key, noTools)
		if err != nil {
			return nil, refusedForGood(refusal, err)
		}
		if changed, err := c.hearing.Change(ctx, key); err != nil {
			return nil, err
		} else if changed { // also where a run was stopped here: the request is rebuilt
			if err := c.stands.Put(ctx); err != nil {
				return nil, err
			}
			continue
		}
		resp, err := c.ask(ctx, key, req)
		if err == nil {
			c.views.Learn(resp)
			return resp, nil
		}
		moved, failed := c.views.FallBack(ctx, key, err)
		switch {
		case failed != nil:
			return nil, failed
		case moved:
			refusal = nil
			continue
		case !refusedAsTooLong(err):
			return nil, err
		}
		refusal = err
		if try >= maxRefusals || !c.views.Smaller() {
			return nil, refusedForGood(refusal, nil)
		}
		if err := c.Rec.Warn(key, "the provider refused the request as too long; it is made smaller and sent again"); err != nil {
			return nil, err
		}
	}
}

// ask makes a turn's call. The first of a candidate may wait for what it shares with another one's.
func (c *conversation) ask(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if c.try == nil || c.try.First != nil {
		return c.calls.Ask(ctx, key, req)
	}
	return c.askFirst(ctx, key, req)
}

func refusedAsTooLong(err error) bool {
	var me *effect.ModelError
	return errors.As(err, &me) && me.Kind == echo.ModelErrContextLength && !effect.IsRecordError(err)
}

// refusedForGood is the error of a refused request that could not be made smaller.
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
		refusal, fit.LargestIndex+1, m.Role(), m.Kind(), views.Shorten(m))
}

// noteAnswer warns of an answer that ends the turn and is not whole.
func (c *conversation) noteAnswer(resp *effect.ModelResponse) error {
	if resp.Ignored != "" && !c.run.doubted {
		c.run.doubted = true
		if err := c.Rec.Warn(c.At(echo.StepFigures), resp.Ignored); err != nil {
			return err
		}
	}
	switch {
	case resp.FinishReason == "length":
		return c.Rec.Warn(c.At(echo.StepModel), "the answer was cut off at the limit of output tokens")
	case strings.TrimSpace(resp.Message.Text()) == "":
		return c.Rec.Warn(c.At(echo.StepModel), fmt.Sprintf("the model answered without text (finish reason %q)", resp.FinishReason))
	}
	return nil
}
