package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// deterministic runs the phase's one tool, as often as its retry allows. The value is the tool's result.
func (v *visit) deterministic(ctx context.Context) (any, error) {
	spec, ok := engineSpec(v.phase.Tool)
	if !ok {
		if spec, ok = v.Tools.Spec(v.phase.Tool); !ok {
			return nil, fmt.Errorf("no tool named %q", v.phase.Tool)
		}
	}
	tries := 1
	if r := v.phase.Retry; r != nil {
		tries = max(1, r.MaxAttempts)
	}
	for v.attempt = 1; ; v.attempt++ {
		v.result.Attempts = v.attempt
		value, inputs, err := v.tryTool(ctx, spec)
		if err == nil {
			v.result.Reason = echo.StopToolResult
			return value, nil
		}
		if !recoverable(err) {
			return nil, err
		}
		var tool *ToolError
		if v.attempt == tries || errors.As(err, &tool) && tool.Kind == effect.KindUnfinished {
			return nil, v.failDeterministic(err, inputs)
		}
		if err := v.backOff(ctx); err != nil {
			return nil, err
		}
	}
}

// tryTool runs the tool once.
func (v *visit) tryTool(ctx context.Context, spec effect.ToolSpec) (value any, inputs json.RawMessage, err error) {
	args, err := v.toolInputs(spec)
	if err != nil {
		return nil, nil, err
	}
	violations, err := v.schemas.check(ctx, spec.Parameters, args)
	if err != nil {
		return nil, args, fmt.Errorf("check inputs of tool %s: %w", spec.Name, err)
	}
	if len(violations) > 0 {
		return nil, args, &ToolError{Tool: spec.Name, Kind: "invalid_arguments", Message: "its inputs do not match its schema:\n" + bullets(violations)}
	}
	if text, failed, ok, err := v.engineTool(ctx, v.at(echo.StepTool), spec.Name, args); ok || err != nil {
		if err == nil && failed {
			err = &ToolError{Tool: spec.Name, Kind: "failed", Message: text}
		}
		return structured(text), args, err
	}
	v.touched = v.touched || !spec.Idempotent
	v.observer.Observe(Event{Kind: EventToolCall, Site: v.place(), Tool: spec.Name, Arguments: effect.MaskedArguments(v.mask, string(args))})
	m, err := v.rec.Tool(ctx, v.at(echo.StepTool), spec, effect.ToolRequest{
		Site: v.place(), SessionID: v.session.ID, Name: spec.Name, Arguments: args,
		Timeout: time.Duration(v.phase.Timeout),
	})
	if err != nil {
		return nil, args, err
	}
	v.enter(m, 0)
	if m.Failed() {
		kind := "failed"
		if m.Text() == effect.UnfinishedText(spec.Name) {
			kind = effect.KindUnfinished // no retry was meant for that: a person has to look
		}
		return nil, args, &ToolError{Tool: spec.Name, Kind: kind, Message: excerpt(m.Text())}
	}
	return structured(m.Text()), args, nil
}

// failDeterministic leaves behind what an on_error phase wants to know.
func (v *visit) failDeterministic(err error, inputs json.RawMessage) error {
	var in any
	if len(inputs) > 0 {
		var derr error
		if in, derr = decodeJSON(inputs); derr != nil {
			return derr
		}
	}
	return orFirst(err, v.setState("last_deterministic_error", map[string]any{
		"phase": v.phase.Name, "tool": v.phase.Tool, "error": err.Error(), "inputs": in,
	}))
}

// orFirst returns the failure of the record if there is one, else the error that led here.
func orFirst(err, record error) error {
	if record != nil {
		return record
	}
	return err
}

// toolInputs renders the phase's inputs. Every string in them is a template; where the tool's schema wants something
// other than a string, the rendered text is read as JSON.
func (v *visit) toolInputs(spec effect.ToolSpec) (json.RawMessage, error) {
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(spec.Parameters, &s); err != nil {
		return nil, fmt.Errorf("read the schema of tool %s: %w", spec.Name, err)
	}
	out := make(map[string]any, len(v.phase.Inputs))
	for _, name := range slices.Sorted(maps.Keys(v.phase.Inputs)) {
		value, err := decodeJSON(v.phase.Inputs[name])
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", name, err)
		}
		rendered, err := v.renderStrings("inputs."+name, value)
		if err != nil {
			return nil, err
		}
		out[name] = fitType(rendered, s.Properties[name].Type)
	}
	return effect.MustJSON(out), nil
}

// renderStrings renders every string in a JSON value.
func (v *visit) renderStrings(field string, value any) (any, error) {
	switch t := value.(type) {
	case string:
		return v.text(field, t)
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			r, err := v.renderStrings(field, e)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(t))
		for _, k := range slices.Sorted(maps.Keys(t)) {
			r, err := v.renderStrings(field+"."+k, t[k])
			if err != nil {
				return nil, err
			}
			out[k] = r
		}
		return out, nil
	default:
		return value, nil
	}
}

// fitType reads a rendered text as JSON when the schema's type is not string.
func fitType(value, schemaType any) any {
	text, ok := value.(string)
	if !ok || schemaType == nil || schemaType == "string" {
		return value
	}
	parsed, err := decodeJSON([]byte(text))
	if err != nil {
		return value
	}
	return parsed
}

// backOff waits before the next try, unless that is recorded.
func (v *visit) backOff(ctx context.Context) error {
	return v.rec.Sleep(ctx, trunk, backoffDelay(v.phase.Retry, v.attempt))
}

// maxBackoff bounds the wait between two tries, so that an exponent cannot turn into days.
const maxBackoff = 10 * time.Minute

// backoffDelay is the wait after try n (from 1): base, n*base or base*2^(n-1).
func backoffDelay(r *cascade.Retry, n int) time.Duration {
	base := r.BackoffBaseSeconds
	if base <= 0 {
		base = 1
	}
	var seconds float64
	switch r.Backoff {
	case cascade.BackoffLinear:
		seconds = base * float64(n)
	case cascade.BackoffExponential:
		seconds = base
		for range min(n-1, 30) {
			seconds *= 2
		}
	default:
		return 0
	}
	if seconds > maxBackoff.Seconds() {
		return maxBackoff
	}
	return time.Duration(seconds * float64(time.Second))
}
