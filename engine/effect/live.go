package effect

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Live performs and records effects so that a call is paid for once: its outcome is in the journal
// before the engine sees it, and everything is synced before what must not happen twice.
type Live struct {
	model Model
	tools Tools
	now   func() time.Time
	w     Writer

	mailbox Mailbox // nil: nobody answers
}

// NewLive returns the effects of a process. now may be nil: the system's clock.
func NewLive(model Model, tools Tools, w Writer, now func() time.Time) *Live {
	return &Live{model: model, tools: tools, now: orSystem(now), w: w}
}

// Answers has waits answered from a mailbox. It is called before the effects are used.
func (l *Live) Answers(m Mailbox) *Live {
	l.mailbox = m
	return l
}

// Model implements [Effects].
func (l *Live) Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error) {
	if err := l.w.Settle(ctx); err != nil {
		return nil, err
	}
	req = l.w.Clean(req)
	start := l.now()
	resp, err := l.model.Complete(ctx, req)
	if err != nil && interrupted(ctx, err) {
		return nil, ctx.Err() // not as the failure of a model, which it is wrapped in
	}
	return l.w.Answer(key, req, resp, err, l.now().Sub(start))
}

// quickTool is how long an idempotent tool runs before its call is synced; one that ends sooner
// shares the sync of its result.
const quickTool = 100 * time.Microsecond

// Tool implements [Effects].
func (l *Live) Tool(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) (*echo.Message, error) {
	if spec.Idempotent {
		overlap := time.AfterFunc(quickTool, l.w.Log.Commit)
		defer overlap.Stop()
	} else if err := l.w.Announce(ctx, key, spec, req); err != nil {
		return nil, err
	}
	start := l.now()
	res, err := l.call(ctx, req)
	if err != nil {
		if interrupted(ctx, err) {
			return nil, err
		}
		res = ToolResult{Failed: true, Kind: "failed", Parts: echo.Text(err.Error())}
	}
	m, err := l.w.Result(key, req, res, l.now().Sub(start))
	if err == nil {
		l.w.Log.Commit()
	}
	return m, err
}

// call runs a tool. The tools of a program need not read images, and a program may have none.
func (l *Live) call(ctx context.Context, req ToolRequest) (res ToolResult, err error) {
	err = errNoImages
	if l.tools != nil {
		res, err = l.tools.Call(ctx, req)
	}
	if err != nil && req.Name == ImagesTool && ctx.Err() == nil {
		err = errNoImages
	}
	return res, err
}

var errNoImages = errors.New("the program that runs this work reads no files; ask without images")

// Value implements [Effects].
func (l *Live) Value(_ context.Context, key echo.Key, site Site, read func() echo.Payload) (json.RawMessage, error) {
	return l.w.Reading(key, site, read())
}

func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
