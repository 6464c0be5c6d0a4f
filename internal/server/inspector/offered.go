package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/internal/inspect"
)

// offeredTool is a tool that a phase offers its model, with how often the answer of a call has called it.
type offeredTool struct {
	Name   string
	Called int
}

// toolsOf are the tools that the phase of a call offers, and what else its answer has called.
func (v *visit) toolsOf(c *inspect.Call, answer *echo.Message) (out []offeredTool) {
	if c.Number > 0 { // a request to choose offers none
		for _, name := range v.of.offered(c.Phase) {
			out = append(out, offeredTool{Name: name})
		}
	}
	if answer == nil {
		return out
	}
	for _, call := range answer.ToolCalls() {
		i := slices.IndexFunc(out, func(o offeredTool) bool { return o.Name == call.Name })
		if i < 0 {
			i = len(out)
			out = append(out, offeredTool{Name: call.Name})
		}
		out[i].Called++
	}
	return out
}

// offered returns the names of the tools of a phase, those of windlass among them, by the cascade as the session began with it.
func (o *opened) offered(phase string) []string {
	c, p := o.phase(phase)
	if p == nil {
		return nil
	}
	set, err := toolset.ToolsOf(p, c, named{}, toolset.Told{})
	if err != nil {
		return p.Tackle
	}
	return set.Names()
}

// phase returns a phase of the cascade as the session began with it, and that cascade; nil: it cannot be read, or has no such phase.
func (o *opened) phase(name string) (*cascade.Cascade, *cascade.Phase) {
	if len(o.Entries) == 0 {
		return nil, nil
	}
	h, err := journal.HeaderOf(o.Entries[0])
	if err != nil {
		return nil, nil
	}
	var c cascade.Cascade
	if json.Unmarshal(h.Cascade, &c) != nil {
		return nil, nil // of another version
	}
	i := slices.IndexFunc(c.Phases, func(p cascade.Phase) bool { return p.Name == name })
	if i < 0 {
		return nil, nil
	}
	return &c, &c.Phases[i]
}

// named takes every name for that of a tool: which there are, only the run knew.
type named struct{}

func (named) Spec(name string) (effect.ToolSpec, bool) { return effect.ToolSpec{Name: name}, true }

func (named) Call(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
	return effect.ToolResult{}, errors.ErrUnsupported
}
