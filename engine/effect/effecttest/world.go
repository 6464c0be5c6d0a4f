// Package effecttest is the contract that every implementation of [effect.Effects] passes, and a
// world for it to touch.
package effecttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// World is a model and tools that answer by what they are asked and count what they did: a
// [effect.Model] and [effect.Tools], safe for concurrent use.
type World struct {
	// Leave, when set, is called when a request leaves or a tool begins.
	Leave func()

	mu       sync.Mutex
	done     map[string]int
	requests []effect.ModelRequest
	calls    []effect.ToolRequest
}

// Names of tools and models that behave in a way of their own; all others answer.
const (
	Failing = "failing" // fails: a model with a [effect.ModelError], a tool with a failed result
	Broken  = "broken"  // fails with an error of another kind
	Slow    = "slow"    // fails because its own time limit is over, whatever the context says
	Late    = "late"    // answers although the context has ended meanwhile
	Leaky   = "leaky"   // fails with an error that repeats what was asked
	Refused = "refused" // a model that fails before anything was generated
)

// Done returns how often something was done: what a model was asked, or the arguments of a tool.
func (w *World) Done(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done[what]
}

func (w *World) note(what string, keep func()) {
	if w.Leave != nil {
		w.Leave()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	keep()
	if w.done == nil {
		w.done = map[string]int{}
	}
	w.done[what]++
}

// Complete implements [effect.Model].
func (w *World) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	asked := req.Messages[len(req.Messages)-1].Text()
	w.note(asked, func() { w.requests = append(w.requests, *req) })
	switch req.Model {
	case Failing:
		return nil, failing()
	case Leaky:
		return nil, &effect.ModelError{Kind: echo.ModelErrServer, Provider: "world", Model: Leaky, Message: "no " + asked, Hint: "not " + asked}
	case Refused:
		return nil, refused()
	case Broken:
		return nil, errBroken
	case Slow:
		return nil, &effect.ModelError{
			Kind: echo.ModelErrTimeout, Provider: "world", Model: req.Model, Message: "took too long", Err: context.DeadlineExceeded,
		}
	}
	if err := ctx.Err(); err != nil && req.Model != Late {
		return nil, &effect.ModelError{Kind: echo.ModelErrNetwork, Provider: "world", Model: req.Model, Message: err.Error(), Err: err}
	}
	if req.OnDelta != nil {
		req.OnDelta(effect.Delta{Text: "answer to " + asked})
	}
	return answered(asked), nil
}

// answered is what a model answers that is asked something.
func answered(asked string) *effect.ModelResponse {
	cost := 0.25
	return &effect.ModelResponse{
		Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "answer to "+asked), Provider: "world", Model: "world-1", Scripted: true,
		Usage: echo.Usage{In: 7, Cached: 3, Out: 2, Reasoning: 1, Estimated: true}, CostUSD: &cost, FinishReason: "stop",
		Retries: 1, RetryKinds: []echo.ModelErrorKind{echo.ModelErrRateLimited}, Ignored: "a negative cost", CacheWritten: 3,
	}
}

// refused is the error of the model [Refused].
func refused() *effect.ModelError {
	return &effect.ModelError{Kind: echo.ModelErrAuth, Provider: "world", Model: Refused, Status: 401, Message: "no key", Unpaid: true}
}

// failing is the error of the model [Failing].
func failing() *effect.ModelError {
	return &effect.ModelError{
		Kind: echo.ModelErrServer, Provider: "world", Model: Failing, Status: 503, Message: "overloaded", Hint: "later",
		Retries: 2, RetryKinds: []echo.ModelErrorKind{echo.ModelErrServer, echo.ModelErrTimeout},
	}
}

// errBroken is the error of what is [Broken].
var errBroken = errors.New("no such thing")

// Spec implements [effect.Tools].
func (w *World) Spec(name string) (effect.ToolSpec, bool) {
	return effect.ToolSpec{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}, true
}

// Call implements [effect.Tools].
func (w *World) Call(ctx context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return effect.ToolResult{}, err
	}
	w.note(string(req.Arguments), func() { w.calls = append(w.calls, req) })
	switch req.Name {
	case Failing:
		return effect.ToolResult{Failed: true, Kind: "exit_status", Parts: echo.Text("it failed")}, nil
	case Leaky:
		return effect.ToolResult{}, fmt.Errorf("cannot do %s", req.Arguments)
	case Broken:
		return effect.ToolResult{}, errBroken
	case Slow:
		return effect.ToolResult{}, context.DeadlineExceeded
	}
	if err := ctx.Err(); err != nil && req.Name != Late {
		return effect.ToolResult{}, err
	}
	return effect.ToolResult{Parts: echo.Text(fmt.Sprintf("%s of %s", req.Name, req.Arguments))}, nil
}

// Ask returns a request of the model that is asked something.
func Ask(model, what string) *effect.ModelRequest {
	return &effect.ModelRequest{
		Site: effect.Site{Cascade: "c"}, Model: model, Messages: []*echo.Message{echo.NewText(echo.RoleUser, echo.KindTask, what)},
	}
}

// Use returns a request of a tool whose arguments name what is done.
func Use(tool, what string) effect.ToolRequest {
	return effect.ToolRequest{
		Site: effect.Site{Cascade: "c"}, CallID: "call_" + what, Name: tool, Arguments: json.RawMessage(fmt.Sprintf(`{"what":%q}`, what)),
	}
}

// Disk is a sink that knows which entries would outlive the process, and which the machine's power.
type Disk struct {
	// Fail is asked before an entry is kept, FailSync before entries are made durable; may be nil.
	Fail     func(*echo.Entry) error
	FailSync func() error

	mu      sync.Mutex
	entries []*echo.Entry
	flushed int
	durable int
}

// Write implements [echo.Sink].
func (d *Disk) Write(e *echo.Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Fail != nil {
		if err := d.Fail(e); err != nil {
			return err
		}
	}
	d.entries = append(d.entries, e)
	return nil
}

// Flush implements [echo.DurableSink].
func (d *Disk) Flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flushed = len(d.entries)
}

// Commit implements [echo.DurableSink].
func (*Disk) Commit() {}

// Wait implements [echo.DurableSink].
func (d *Disk) Wait(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.FailSync != nil {
		if err := d.FailSync(); err != nil {
			return err
		}
	}
	d.flushed, d.durable = len(d.entries), len(d.entries)
	return ctx.Err()
}

// Close implements [echo.Sink].
func (*Disk) Close(context.Context) error { return nil }

// Entries returns what is kept, as a journal would give it back.
func (d *Disk) Entries() []*echo.Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*echo.Entry, len(d.entries))
	for i, e := range d.entries {
		text, err := json.Marshal(e)
		if err == nil {
			out[i] = &echo.Entry{}
			err = json.Unmarshal(text, out[i])
		}
		if err != nil {
			panic(fmt.Sprintf("entry %d cannot be kept: %v", e.Seq, err))
		}
	}
	return out
}

// Unflushed returns how many entries the death of the process would take.
func (d *Disk) Unflushed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.entries) - d.flushed
}

// Unsafe returns how many entries a power failure would take.
func (d *Disk) Unsafe() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.entries) - d.durable
}
