package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// recordedEffects answers effects from the past, and leaves to live what the past does not have.
//
// Only tools may find nothing while other things are still recorded: of parallel calls, some had ended. Anything else
// would mean that the run goes another way than the one that is recorded.
type recordedEffects struct {
	past *past
	live *liveEffects // nil: nothing is performed, the run ends where the record ends
	goOn func() error // called before live is
	mask Mask
}

func (r *recordedEffects) Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error) {
	e, next := r.past.follow(echo.NodeModelCall, key)
	if e == nil {
		if next != nil {
			return nil, other(next, echo.NodeModelCall, key)
		}
		if r.live == nil {
			return nil, &endError{echo.NodeModelCall, key}
		}
		if err := r.goOn(); err != nil {
			return nil, err
		}
		return r.live.Model(ctx, key, req)
	}
	if !asRecorded(r.mask, req, e.RequestHash) {
		return nil, &DivergenceError{Seq: e.Seq, Node: e.NodeType, Key: key, Field: "request", Recorded: e.RequestHash, Now: req.Hash()}
	}
	return recordedAnswer(e, req)
}

// recordedAnswer is the outcome of a model call as it was first seen.
func recordedAnswer(e *echo.Entry, req *ModelRequest) (*ModelResponse, error) {
	var d modelCallData
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return nil, fmt.Errorf("read the record of %s: %w", e.Key, err)
		}
	}
	switch {
	case e.Error != nil && d.Failed:
		return nil, errors.New(e.Error.Message)
	case e.Error != nil:
		model := d.Model
		if model == "" {
			model = req.Model
		}
		return nil, &ModelError{
			Kind: ModelErrorKind(e.Error.Kind), Provider: e.Provider, Model: model, Status: d.Status, Message: e.Error.Message,
			Hint: d.Hint, Retries: d.Retries, RetryKinds: d.RetryKinds, Unpaid: e.CostUSD != nil,
		}
	case e.Message == nil:
		return nil, fmt.Errorf("the record of %s has neither an answer nor an error", e.Key)
	}
	resp := &ModelResponse{
		Message: e.Message, Provider: e.Provider, Model: d.Model, Scripted: e.Scripted, CostUSD: e.CostUSD,
		FinishReason: d.FinishReason, Retries: d.Retries, RetryKinds: d.RetryKinds, Ignored: d.Ignored,
	}
	if e.Usage != nil {
		resp.Usage = *e.Usage
	}
	return resp, nil
}

func (r *recordedEffects) Tool(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) (*echo.Message, error) {
	started := r.past.take(echo.NodeToolStart, key)
	e := r.past.take(echo.NodeToolCall, key)
	call := echo.ToolCall{ID: req.CallID, Name: req.Name, Arguments: maskedArguments(r.mask, string(req.Arguments))}
	switch {
	case e != nil:
		recorded, now := mustJSON(withoutSecrets(r.mask, e).Tool), mustJSON(toolUse(call))
		if string(recorded) != string(now) || e.Message == nil {
			a, b := difference(string(recorded), string(now))
			return nil, &DivergenceError{Seq: e.Seq, Node: e.NodeType, Key: key, Field: "tool", Recorded: a, Now: b}
		}
		return e.Message, nil
	case r.live == nil:
		return nil, &endError{echo.NodeToolCall, key}
	}
	if err := r.goOn(); err != nil {
		return nil, err
	}
	if started != nil && !mayRunAgain(spec, req) {
		return r.live.unfinished(key, req, call)
	}
	return r.live.Tool(ctx, key, spec, req)
}

func (r *recordedEffects) Value(ctx context.Context, key echo.Key, site Site, read func() any) (json.RawMessage, error) {
	for _, node := range []echo.NodeType{echo.NodeValue, echo.NodeInter, echo.NodeHandoff} {
		if e, _ := r.past.follow(node, key); e != nil {
			return e.Data, nil
		}
	}
	switch {
	case r.past.pending() != nil:
		return nil, nil // there was nothing to know
	case r.live == nil:
		return nil, &endError{echo.NodeValue, key}
	}
	if err := r.goOn(); err != nil {
		return nil, err
	}
	return r.live.Value(ctx, key, site, read)
}

// mayRunAgain reports whether a tool may be run that had begun and whose end is not known. A validator is one: it is asked
// what holds now.
func mayRunAgain(spec ToolSpec, req ToolRequest) bool {
	return spec.Idempotent || req.Site.Validator != ""
}

// kindUnfinished is the kind of failure of a tool that had begun when the run was stopped.
const kindUnfinished = "unfinished"

// unfinishedText is what a model is told of such a tool.
func unfinishedText(tool string) string {
	return fmt.Sprintf("The run was stopped while %s ran. Whether it did what it should is not known, and it was not run again, "+
		"as that may do harm. Find out what it did before calling it again.", tool)
}

// unfinished records that a tool had begun, that its end is not known, and that it is not run again.
func (l *liveEffects) unfinished(key echo.Key, req ToolRequest, call echo.ToolCall) (*echo.Message, error) {
	m := echo.NewToolResult(call, echo.Text(unfinishedText(req.Name)), true)
	if err := l.record(toolEntry(key, req.Site, call, m, kindUnfinished)); err != nil {
		return nil, err
	}
	return m, nil
}
