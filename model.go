package windlass

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Model answers requests, see [WithProvider]. It has one method:
//
//	Complete(ctx context.Context, req *ModelRequest) (*ModelResponse, error)
//
// It is safe for concurrent use, retries what it wants to be retried, and returns when ctx ends. An
// error that is no [*ModelError] is taken for one that may pass: the run fails, and can be resumed.
type Model = effect.Model

// ModelRequest is what a model is asked: Messages in their order, Tools it may call, Model as the
// cascade names it, and settings. OnDelta, when it is set, may be called with pieces of the answer.
// A request must not be changed.
type ModelRequest = effect.ModelRequest

// ModelResponse is a whole answer. [Reply] and [CallTool] make one; Usage and CostUSD may be set in
// it.
type ModelResponse = effect.ModelResponse

// ModelError is a model call that failed for good, with Kind, Message and Hint.
type ModelError = effect.ModelError

// ModelFunc is a function that is a [Model].
type ModelFunc func(ctx context.Context, req *ModelRequest) (*ModelResponse, error)

// Complete calls the function.
func (f ModelFunc) Complete(ctx context.Context, req *ModelRequest) (*ModelResponse, error) {
	return f(ctx, req)
}

// ownProvider is the provider of answers that a program gives, unless it names another one.
const ownProvider = "program"

// Reply returns an answer that is a text.
func Reply(text string) *ModelResponse {
	return response("stop", echo.Draft{Role: echo.RoleAssistant, Parts: echo.Text(text)})
}

// CallTool returns an answer that calls a tool. The arguments are encoded as JSON; the error says
// that they cannot be.
func CallTool(name string, arguments any) (*ModelResponse, error) {
	text, err := json.Marshal(arguments)
	if err != nil {
		return nil, invalid("call the tool %q: the arguments cannot be encoded: %w", name, err)
	}
	call := echo.ToolCall{ID: "call_" + rand.Text(), Name: name, Arguments: string(text)}
	return response("tool_calls", echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{call}}), nil
}

func response(finish string, d echo.Draft) *ModelResponse {
	return &ModelResponse{Message: echo.Seal(d), Provider: ownProvider, FinishReason: finish}
}

// guarded is a model of the program whose faults are errors of the model.
type guarded struct{ model Model }

func (g guarded) Complete(ctx context.Context, req *ModelRequest) (resp *ModelResponse, err error) {
	fault := func(kind echo.ModelErrorKind, format string, args ...any) error {
		cause := fmt.Errorf(format, args...)
		return &ModelError{Kind: kind, Provider: ownProvider, Model: req.Model, Message: cause.Error(), Err: cause}
	}
	if why := shielded(func() { resp, err = g.model.Complete(ctx, req) }); why != "" {
		return nil, fault(echo.ModelErrServer, "it %s", why)
	}
	if _, ok := err.(*ModelError); ok || ctx.Err() != nil && err != nil { //nolint:errorlint // a wrapped one is wrapped again
		return nil, err
	}
	switch {
	case err != nil:
		return nil, fault(echo.ModelErrServer, "%w", err)
	case resp == nil || resp.Message == nil || resp.Message.Role() != echo.RoleAssistant:
		return nil, fault(echo.ModelErrBadResponse, "it returned no message of the assistant")
	}
	whole := *resp
	if whole.Provider == "" {
		whole.Provider = ownProvider
	}
	if whole.Model == "" {
		whole.Model = req.Model
	}
	return &whole, nil
}

// shielded calls a function of the program on a goroutine of its own, waits for it, and returns what
// it did instead of returning: a panic, or a [runtime.Goexit], which would take the run's goroutine
// along.
func shielded(call func()) string {
	done := make(chan string, 1)
	go func() {
		why := "ended its goroutine instead of returning, as a failed assertion of package testing does"
		defer func() {
			if p := recover(); p != nil {
				why = fmt.Sprintf("panicked: %v", p)
			}
			done <- why
		}()
		call()
		why = ""
	}()
	return <-done
}
