package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Effects is the one way in which a run touches the world: each call names its place by a structural key, and its
// outcome is recorded under it. Implementations are safe for concurrent use with different keys.
//
// An error that the world gave back (a [*ModelError]) is an outcome like any other and is recorded. A [*RecordError]
// or the end of ctx is not an outcome.
type Effects interface {
	// Model asks a model.
	Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error)
	// Tool runs a tool whose arguments have been checked.
	Tool(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) (*echo.Message, error)
	// Value takes a reading that is not deterministic: a clock, a random value. A reading of nil says that there is nothing
	// to know: it is not recorded and the value is nil, and so is the value of a replay that has no record.
	Value(ctx context.Context, key echo.Key, site Site, read func() any) (json.RawMessage, error)
}

// liveEffects performs effects and records them. The order is what makes a paid call be paid once: an outcome is in the
// journal's file before the engine sees it, and everything recorded so far is synced before a request leaves or a tool
// starts that is not idempotent. Syncs overlap work that does not depend on them: a tool's result is synced while the
// next request is put together, an answer while the tools run that it asked for.
type liveEffects struct {
	model Model
	tools Tools
	log   *echo.Log
	now   func() time.Time
	mask  Mask // of whatever comes back, before it is an outcome
}

func (l *liveEffects) Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error) {
	if err := l.settle(ctx); err != nil {
		return nil, err
	}
	if isOthers(req) {
		req = maskedRequest(l.mask, req)
	}
	start := l.now()
	resp, err := l.model.Complete(ctx, req)
	if err != nil && interrupted(ctx, err) {
		return nil, ctx.Err() // not as the failure of a model, which it is wrapped in
	}
	if err == nil && req.Prompted {
		resp.Message = promptedCalls(resp.Message, req.Site)
	}
	if err == nil {
		resp.Message = resp.Message.Rewritten(l.mask.Text)
	}
	recorded := l.record(withoutSecrets(l.mask, CallEntry(key, req, resp, err, l.now().Sub(start))))
	switch {
	case err != nil:
		return nil, errors.Join(recorded, err)
	case recorded != nil:
		return nil, recorded
	}
	return resp, nil
}

// CallEntry returns the entry of a model call that has ended: with its answer, or with the reason why there is none. A
// request without messages, such as one for embeddings, has no hash, and its answer no message.
func CallEntry(key echo.Key, req *ModelRequest, resp *ModelResponse, err error, took time.Duration) *echo.Entry {
	e := siteEntry(echo.NodeModelCall, key, req.Site)
	e.Model, e.DurationMS = req.Model, millis(took)
	if len(req.Messages) > 0 {
		e.RequestHash = req.Hash()
	}
	if err != nil {
		modelFailure(e, err)
		return e
	}
	e.Message, e.Provider, e.Scripted = resp.Message, resp.Provider, resp.Scripted
	e.Usage, e.CostUSD = &resp.Usage, resp.CostUSD
	e.Data = mustJSON(modelCallData{
		Model: resp.Model, FinishReason: resp.FinishReason, Retries: resp.Retries, RetryKinds: resp.RetryKinds, Ignored: resp.Ignored,
	})
	return e
}

// modelCallData is what only a model_call entry has.
type modelCallData struct {
	Model        string           `json:"model,omitempty"` // as the provider names it
	FinishReason string           `json:"finish_reason,omitempty"`
	Retries      int              `json:"retries,omitempty"`
	RetryKinds   []ModelErrorKind `json:"retry_kinds,omitempty"` // one for each of them
	Ignored      string           `json:"ignored,omitempty"`     // figures of the endpoint
	Status       int              `json:"status,omitempty"`      // HTTP status of a failure
	Hint         string           `json:"hint,omitempty"`
	Failed       bool             `json:"failed,omitempty"` // by an error that is no [ModelError]
}

func modelFailure(e *echo.Entry, err error) {
	var me *ModelError
	if !errors.As(err, &me) {
		e.Error = &echo.Failure{Kind: "failed", Message: err.Error()}
		e.Data = mustJSON(modelCallData{Failed: true})
		return
	}
	e.Provider = me.Provider
	e.Error = &echo.Failure{Kind: string(me.Kind), Message: me.Message}
	if me.Unpaid {
		e.CostUSD = new(float64)
	}
	e.Data = mustJSON(modelCallData{Model: me.Model, Retries: me.Retries, RetryKinds: me.RetryKinds, Status: me.Status, Hint: me.Hint})
}

// quickTool is how long an idempotent tool runs before the answer that asked for it is synced meanwhile. One that ends
// sooner shares the sync of its own result, which saves a turn of quick tools one of its two syncs.
const quickTool = 100 * time.Microsecond

func (l *liveEffects) Tool(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) (*echo.Message, error) {
	call := echo.ToolCall{ID: req.CallID, Name: req.Name, Arguments: maskedArguments(l.mask, string(req.Arguments))}
	if spec.Idempotent {
		overlap := time.AfterFunc(quickTool, l.log.Commit)
		defer overlap.Stop()
	} else if err := l.announce(ctx, key, spec, req, call); err != nil {
		return nil, err
	}
	start := l.now()
	res, err := l.tools.Call(ctx, req)
	if err != nil {
		if interrupted(ctx, err) {
			return nil, err
		}
		res = ToolResult{Failed: true, Kind: "failed", Parts: echo.Text(err.Error())}
	}
	m := echo.NewToolResult(call, res.Parts, res.Failed).Rewritten(l.mask.Text)
	e := toolEntry(key, req.Site, call, m, res.Kind)
	e.DurationMS = millis(l.now().Sub(start))
	if err := l.record(e); err != nil {
		return nil, err
	}
	l.log.Commit()
	return m, nil
}

// announce makes durable that a tool is about to begin that may do harm when it is run twice.
func (l *liveEffects) announce(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest, call echo.ToolCall) error {
	if !mayRunAgain(spec, req) {
		e := siteEntry(echo.NodeToolStart, key, req.Site)
		e.Tool = toolUse(call)
		if err := l.record(e); err != nil {
			return err
		}
	}
	return l.settle(ctx)
}

func (l *liveEffects) Value(_ context.Context, key echo.Key, site Site, read func() any) (json.RawMessage, error) {
	value := read()
	if value == nil {
		return nil, nil
	}
	e := siteEntry(echo.NodeValue, key, site)
	if r, ok := value.(interface{ nodeType() echo.NodeType }); ok {
		e.NodeType = r.nodeType()
	}
	e.Data = l.mask.JSON(mustJSON(value))
	return e.Data, l.record(e)
}

// record appends an outcome and hands it to the operating system.
func (l *liveEffects) record(e *echo.Entry) error {
	if err := l.log.Append(e); err != nil {
		return &RecordError{Err: err}
	}
	l.log.Flush()
	return nil
}

// settle waits until what was recorded is durable.
func (l *liveEffects) settle(ctx context.Context) error {
	err := l.log.Wait(ctx)
	if err == nil || interrupted(ctx, err) {
		return err
	}
	return &RecordError{Err: err}
}

// interrupted reports whether err is the end of ctx and not a failure of its own.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// siteEntry returns an entry with its place filled in.
func siteEntry(t echo.NodeType, key echo.Key, s Site) *echo.Entry {
	return &echo.Entry{
		NodeType: t, Key: key, CascadeID: s.Cascade, Phase: s.Phase, Attempt: s.Attempt, Turn: s.Turn,
	}
}

// toolEntry returns the entry of a tool's result; kind says how it failed.
func toolEntry(key echo.Key, s Site, call echo.ToolCall, m *echo.Message, kind string) *echo.Entry {
	e := siteEntry(echo.NodeToolCall, key, s)
	e.Message = m
	e.Tool = toolUse(call)
	if m.Failed() {
		if kind == "" {
			kind = "failed"
		}
		e.Error = &echo.Failure{Kind: kind, Message: firstLine(m.Text())}
	}
	return e
}

func toolUse(call echo.ToolCall) *echo.ToolUse {
	return &echo.ToolUse{Name: call.Name, CallID: call.ID, Arguments: call.Arguments}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// mustJSON encodes a value of the engine's own making.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: cannot encode its own data: " + err.Error())
	}
	return b
}
