package effect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Writer records outcomes for all implementations of [Effects], without known secrets, and returns
// them as they are recorded. It is safe for concurrent use.
type Writer struct {
	Log  *echo.Log
	Mask Mask // nil: no secrets are known
}

func (w Writer) mask() Mask { return cmp.Or[Mask](w.Mask, NoMask{}) }

// Settle waits until everything recorded so far is durable. It is called before a request leaves. When
// ctx ends the waiting, the error is that of ctx, whatever its cause: the record is sound.
func (w Writer) Settle(ctx context.Context) error {
	err := w.Log.Wait(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return ctx.Err()
	}
	return &RecordError{Err: err}
}

// Announce makes durable that a tool begins; one that may do harm twice is recorded as begun.
func (w Writer) Announce(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) error {
	if !mayRunAgain(spec, req) {
		e := newEntry(echo.NodeToolStart, key, req.Site)
		e.Tool = toolUse(w.call(req))
		if err := w.Append(e); err != nil {
			return err
		}
	}
	return w.Settle(ctx)
}

// Clean returns a request as it may leave: only the conversation of a phase has secrets.
func (w Writer) Clean(req *ModelRequest) *ModelRequest {
	if req.Site.Purpose == "" {
		return req
	}
	return maskedRequest(w.mask(), req)
}

// Answer records a model call. The error is the model's, a [*RecordError], or both.
func (w Writer) Answer(key echo.Key, req *ModelRequest, resp *ModelResponse, err error, took time.Duration) (*ModelResponse, error) {
	if err == nil {
		read := *resp
		if req.Parse != nil {
			read.Message = req.Parse(read.Message)
		}
		thought := echo.Thought(read.Message)
		read.Message = read.Message.Rewritten(w.mask().Text)
		if len(thought) > 0 {
			read.Message = echo.WithThought(read.Message, MustJSON(json.RawMessage(w.mask().JSON(thought))))
		}
		resp = &read
	}
	recorded := w.Append(withoutSecrets(w.mask(), CallEntry(key, req, resp, err, took)))
	switch {
	case err != nil:
		return nil, errors.Join(recorded, err)
	case recorded != nil:
		return nil, recorded
	}
	return resp, nil
}

// Result records what a tool answered and returns it as a message.
func (w Writer) Result(key echo.Key, req ToolRequest, res ToolResult, took time.Duration) (*echo.Message, error) {
	call := w.call(req)
	m := echo.NewToolResult(call, res.Parts, res.Failed).Rewritten(w.mask().Text)
	e := ToolEntry(key, req.Site, call, m, res.Kind)
	e.DurationMS = Millis(took)
	return m, w.Append(e)
}

// Reading records a reading and returns it as it is recorded. A reading of nil is not recorded.
func (w Writer) Reading(key echo.Key, site Site, value echo.Payload) (json.RawMessage, error) {
	if value == nil {
		return nil, nil
	}
	e := newEntry("", key, site)
	e.Set(value)
	e = withoutSecrets(w.mask(), e)
	return e.Data, w.Append(e)
}

// Append records an entry as it is, and hands it to the operating system.
func (w Writer) Append(e *echo.Entry) error {
	if err := w.Log.Append(e); err != nil {
		return &RecordError{Err: err}
	}
	w.Log.Flush()
	return nil
}

func (w Writer) call(req ToolRequest) echo.ToolCall {
	return echo.ToolCall{ID: req.CallID, Name: req.Name, Arguments: MaskedArguments(w.mask(), string(req.Arguments))}
}
