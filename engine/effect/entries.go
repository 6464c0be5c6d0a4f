package effect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
)

func newEntry(t echo.NodeType, key echo.Key, s Site) *echo.Entry {
	return &echo.Entry{NodeType: t, Key: key, CascadeID: s.Cascade}
}

// CallEntry returns the entry of a model call that has ended. Without messages, as for embeddings,
// it has no hash, and its answer no message.
func CallEntry(key echo.Key, req *ModelRequest, resp *ModelResponse, err error, took time.Duration) *echo.Entry {
	e := newEntry(echo.NodeModelCall, key, req.Site)
	e.Model, e.DurationMS = req.Model, Millis(took)
	if len(req.Messages) > 0 {
		e.RequestHash = req.Hash()
	}
	if err != nil {
		modelFailure(e, err)
		return e
	}
	var thought json.RawMessage
	if resp.Message != nil { // not for embeddings
		e.Message, thought = echo.WithThought(resp.Message, nil), echo.Thought(resp.Message)
	}
	e.Provider, e.Scripted = resp.Provider, resp.Scripted
	e.Usage, e.CostUSD, e.Pretend = &resp.Usage, resp.CostUSD, resp.Pretend
	e.Set(echo.ModelCall{
		Model: resp.Model, FinishReason: resp.FinishReason, Retries: resp.Retries, RetryKinds: resp.RetryKinds, Ignored: resp.Ignored,
		CacheWritten: resp.CacheWritten, Thought: thought,
	})
	return e
}

func modelFailure(e *echo.Entry, err error) {
	var me *ModelError
	if !errors.As(err, &me) {
		e.Error = &echo.Failure{Kind: "failed", Message: err.Error()}
		e.Set(echo.ModelCall{Failed: true})
		return
	}
	e.Provider = me.Provider
	e.Error = &echo.Failure{Kind: string(me.Kind), Message: me.Message}
	if me.Unpaid {
		e.CostUSD = new(float64)
	}
	e.Set(echo.ModelCall{Model: me.Model, Retries: me.Retries, RetryKinds: me.RetryKinds, Status: me.Status, Hint: me.Hint})
}

// answerOf is the outcome of a model call as it was first seen.
func answerOf(e *echo.Entry, req *ModelRequest) (*ModelResponse, error) {
	d, err := echo.Read[echo.ModelCall](e)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Error != nil && d.Failed:
		return nil, errors.New(e.Error.Message)
	case e.Error != nil:
		return nil, &ModelError{
			Kind: echo.ModelErrorKind(e.Error.Kind), Provider: e.Provider, Model: cmp.Or(d.Model, req.Model), Status: d.Status,
			Message: e.Error.Message, Hint: d.Hint, Retries: d.Retries, RetryKinds: d.RetryKinds, Unpaid: e.CostUSD != nil,
		}
	case e.Message == nil:
		return nil, fmt.Errorf("the record of %s has neither an answer nor an error", e.Key)
	}
	var thought json.RawMessage
	if d.Thought != nil {
		thought = MustJSON(d.Thought) // as it was encoded when it came
	}
	resp := &ModelResponse{
		Message: echo.WithThought(e.Message, thought), Provider: e.Provider, Model: d.Model, Scripted: e.Scripted, CostUSD: e.CostUSD,
		FinishReason: d.FinishReason, Retries: d.Retries, RetryKinds: d.RetryKinds, Ignored: d.Ignored,
		CacheWritten: d.CacheWritten, Pretend: e.Pretend,
	}
	if e.Usage != nil {
		resp.Usage = *e.Usage
	}
	return resp, nil
}

// ToolEntry returns the entry of a tool's result; kind says how it failed.
func ToolEntry(key echo.Key, s Site, call echo.ToolCall, m *echo.Message, kind string) *echo.Entry {
	e := newEntry(echo.NodeToolCall, key, s)
	e.Message = m
	e.Tool = toolUse(call)
	if m.Failed() {
		e.Error = &echo.Failure{Kind: cmp.Or(kind, "failed"), Message: excerpt.FirstLine(m.Text())}
	}
	return e
}

func toolUse(call echo.ToolCall) *echo.ToolUse {
	return &echo.ToolUse{Name: call.Name, CallID: call.ID, Arguments: call.Arguments}
}

// Millis returns a duration in milliseconds, to the microsecond, as entries and results have it.
func Millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// MustJSON encodes a value of the engine's own making; it panics when JSON cannot express it.
func MustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: cannot encode its own data: " + err.Error())
	}
	return b
}
