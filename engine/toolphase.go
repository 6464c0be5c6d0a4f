package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/desk"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/texts"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// toolPhase is a visit to a phase that is one tool.
type toolPhase struct{ *visit }

// runTool runs a phase that is one tool, as often as its retry allows, and returns its result.
func (v toolPhase) runTool(ctx context.Context) (any, error) {
	spec, err := v.phaseTool()
	if err != nil {
		return nil, err
	}
	tries := 1
	if r := v.Def.Retry; r != nil {
		tries = max(1, r.MaxAttempts)
	}
	if err := v.guardTool(ctx, spec); err != nil {
		return nil, err
	}
	for v.Attempt = 1; ; v.Attempt++ {
		v.result.Attempts = v.Attempt
		value, inputs, err := v.tryTool(ctx, spec)
		if err == nil {
			v.result.Reason = echo.StopToolResult
			refused, err := v.wards.output(ctx, value)
			if err != nil || refused == "" {
				return value, err
			}
			tries++ // its attempts are its own
			continue
		}
		if !core.Recoverable(err) {
			return nil, err
		}
		var tool *core.ToolError
		if v.Attempt == tries || errors.As(err, &tool) && (tool.Kind == effect.KindUnfinished || tool.Kind == desk.KindDenied) {
			return nil, v.toolFailed(err, inputs)
		}
		if err := v.Rec.Sleep(ctx, v.Rec.Branch, toolset.BackoffDelay(v.Def.Retry, v.Attempt)); err != nil {
			return nil, err
		}
	}
}

// guardTool has the wards look at the inputs of the tool, before it runs.
func (v toolPhase) guardTool(ctx context.Context, spec effect.ToolSpec) error {
	if list, _ := v.wards.of(wardPre); len(list) == 0 {
		return nil
	}
	inputs, err := toolInputs(v.Def, v.templates, spec)
	if err != nil {
		return v.toolFailed(err, nil)
	}
	return v.wards.input(ctx, "inputs", inputs, nil)
}

func (v toolPhase) tryTool(ctx context.Context, spec effect.ToolSpec) (value any, inputs json.RawMessage, err error) {
	args, err := toolInputs(v.Def, v.templates, spec)
	if err != nil {
		return nil, nil, err
	}
	violations, err := v.tools.schemas.Check(ctx, spec.Parameters, args)
	if err != nil {
		return nil, args, fmt.Errorf("check inputs of tool %s: %w", spec.Name, err)
	}
	if len(violations) > 0 {
		return nil, args, &core.ToolError{Tool: spec.Name, Kind: "invalid_arguments", Message: "its inputs do not match its schema:\n" + toolset.Bullets(violations)}
	}
	if v.tools.desk.Answers(spec.Name) {
		text, failed, err := v.tools.desk.Answer(ctx, v.At(echo.StepTool), spec.Name, args)
		if err == nil && failed {
			err = &core.ToolError{Tool: spec.Name, Kind: "failed", Message: text}
		}
		return modeltext.Value(text), args, err
	}
	if text, failed, ok, err := v.tools.call(ctx, v.At(echo.StepTool), spec.Name, args); ok || err != nil {
		if err == nil && failed {
			err = &core.ToolError{Tool: spec.Name, Kind: "failed", Message: text}
		}
		return modeltext.Value(text), args, err
	}
	if args, _, err = v.tools.desk.Approved(ctx, v.At(echo.StepTool), spec, args); err != nil {
		var denied *desk.DeniedError
		if errors.As(err, &denied) {
			err = &core.ToolError{Tool: spec.Name, Kind: desk.KindDenied, Message: denied.Error()}
		}
		return nil, args, err
	}
	if v.tools.isCascade(spec.Name) {
		return v.callCascade(ctx, spec, args)
	}
	v.tools.touched = v.tools.touched || !spec.Idempotent
	m, err := v.Rec.Use(ctx, v.At(echo.StepTool), spec, effect.ToolRequest{
		Site: v.Site, SessionID: v.run.session.ID, Name: spec.Name, Arguments: args, Timeout: time.Duration(v.Def.Timeout),
	})
	if err != nil {
		return nil, args, err
	}
	v.enter(m)
	if m.Failed() {
		kind := "failed"
		if m.Text() == effect.UnfinishedText(spec.Name) {
			kind = effect.KindUnfinished // no retry was meant for that: a person has to look
		}
		return nil, args, &core.ToolError{Tool: spec.Name, Kind: kind, Message: excerpt.Of(m.Text())}
	}
	return modeltext.Value(m.Text()), args, nil
}

// phaseTool returns the tool of the phase, which may be a cascade.
func (v toolPhase) phaseTool() (effect.ToolSpec, error) {
	if v.Def.Wait != nil {
		return waiting.Spec(waiting.ToolAny), nil
	}
	spec, err := toolset.SpecOf(v.Def.Tool, v.run.Tools)
	of := v.run.spec.Cascade.Reaches[v.Def.Tool]
	if err == nil || of == nil {
		return spec, err
	}
	spec = toolset.CascadeSpec(of)
	v.tools.set.Cascades = map[string]*cascade.Reached{spec.Name: of}
	return spec, nil
}

// callCascade runs a cascade as the tool of the phase.
func (v toolPhase) callCascade(ctx context.Context, spec effect.ToolSpec, args json.RawMessage) (any, json.RawMessage, error) {
	p := &plannedCall{call: echo.ToolCall{Name: spec.Name, Arguments: string(args)}, key: v.At(echo.StepTool), spec: spec, args: args}
	if err := v.tools.runCascade(ctx, p); err != nil {
		var held *effect.HeldError
		if errors.As(err, &held) {
			err = held.Err
		}
		return nil, args, err
	}
	v.tools.children.took(p.child)
	v.enter(p.result)
	if p.child.failed {
		e := &core.ToolError{Tool: spec.Name, Kind: "failed", Message: excerpt.Of(p.child.text)}
		if p.child.outcome != nil {
			e.Cause = failure(spec.Name, p.child.outcome)
		}
		return nil, args, e
	}
	return modeltext.Value(p.result.Text()), args, nil
}

// toolFailed sets the state that an on_error phase reads.
func (v toolPhase) toolFailed(err error, inputs json.RawMessage) error {
	var in any
	if len(inputs) > 0 {
		var derr error
		if in, derr = modeltext.Decode(inputs); derr != nil {
			return derr
		}
	}
	recorded := v.tools.setState(cascade.StateLastError, map[string]any{
		"phase": v.Def.Name, "tool": v.Def.Runs(), "error": err.Error(), "inputs": in,
	})
	return cmp.Or(recorded, err)
}

// toolInputs renders a phase's inputs, read as JSON where the tool's schema wants no string.
func toolInputs(phase *cascade.Phase, t *texts.Templates, spec effect.ToolSpec) (json.RawMessage, error) {
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(spec.Parameters, &s); err != nil {
		return nil, fmt.Errorf("read the schema of tool %s: %w", spec.Name, err)
	}
	inputs := phase.RunInputs()
	out := make(map[string]any, len(inputs))
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		value, err := modeltext.Decode(inputs[name])
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", name, err)
		}
		rendered, err := t.Strings("inputs."+name, value)
		if err != nil {
			return nil, err
		}
		out[name] = toolset.FitType(rendered, s.Properties[name].Type)
	}
	return effect.MustJSON(out), nil
}
