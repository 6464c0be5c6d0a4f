package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/effect"
)

// The engine's own tools: they read and change the run itself, so they are no effects.
const (
	toolSetState = "set_state"
	toolGetState = "get_state"
	toolRouteTo  = "route_to"
)

// ToolSearchContext is the name of the tool by which a model searches its session.
const ToolSearchContext = "search_context"

// OwnTools returns the names of the tools that the engine has itself and that a phase may list in its tackle.
func OwnTools() []string { return []string{toolGetState, toolRecall, ToolSearchContext, toolSetState} }

// IsOwnTool reports whether the engine answers calls of a tool itself.
func IsOwnTool(name string) bool {
	_, ok := engineSpec(name)
	return ok || name == toolRouteTo
}

// toolset is what one phase can call.
type toolset struct {
	specs  []effect.ToolSpec
	byName map[string]effect.ToolSpec
	digest [sha256.Size]byte
}

func newToolset(specs []effect.ToolSpec) toolset {
	t := toolset{specs: specs, byName: make(map[string]effect.ToolSpec, len(specs)), digest: effect.DigestTools(specs)}
	for _, s := range specs {
		t.byName[s.Name] = s
	}
	return t
}

func (t toolset) names() []string {
	names := make([]string, len(t.specs))
	for i, s := range t.specs {
		names[i] = s.Name
	}
	return names
}

// gatherTools collects the tools of the phase in the order of its tackle, and route_to when the model has a choice.
func (v *visit) gatherTools() (toolset, error) {
	var specs []effect.ToolSpec
	for _, name := range v.phase.Tackle {
		spec, ok := engineSpec(name)
		if !ok && v.Tools != nil {
			spec, ok = v.Tools.Spec(name)
		}
		if !ok {
			return toolset{}, fmt.Errorf("no tool named %q", name)
		}
		specs = append(specs, spec)
	}
	if slices.Contains(v.phase.Tackle, ToolSearchContext) && !slices.Contains(v.phase.Tackle, toolRecall) {
		specs = append(specs, recallSpec()) // what is found is read by it
	}
	if v.phase.ChoosesRoute() {
		specs = append(specs, routeSpec(v.phase.Handoffs))
	}
	return newToolset(specs), nil
}

func engineSpec(name string) (effect.ToolSpec, bool) {
	switch name {
	case toolSetState:
		return effect.ToolSpec{
			Name: toolSetState, Idempotent: true,
			Description: "Store a value under a key for later phases of this run. An existing value is replaced.",
			Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["key","value"],"properties":{` +
				`"key":{"type":"string","minLength":1,"description":"the name of the value"},` +
				`"value":{"description":"any JSON value"}}}`),
		}, true
	case toolGetState:
		return effect.ToolSpec{
			Name: toolGetState, Idempotent: true,
			Description: "Read a value that was stored with set_state, or that the run set itself.",
			Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["key"],"properties":{` +
				`"key":{"type":"string","minLength":1,"description":"the name of the value"}}}`),
		}, true
	case toolRecall:
		return recallSpec(), true
	case ToolSearchContext:
		return searchSpec(), true
	}
	return effect.ToolSpec{}, false
}

func routeSpec(handoffs []cascade.Handoff) effect.ToolSpec {
	var lines, names []string
	for _, h := range handoffs {
		line := "- " + h.Target
		if h.Description != "" {
			line += ": " + h.Description
		}
		lines = append(lines, line)
		names = append(names, h.Target)
	}
	return effect.ToolSpec{
		Name: toolRouteTo, Idempotent: true,
		Description: "Choose which phase runs after this one. Then finish your answer. The phases are:\n" + strings.Join(lines, "\n"),
		Parameters: effect.MustJSON(map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"target"},
			"properties": map[string]any{
				"target": map[string]any{"type": "string", "enum": names, "description": "the phase to run next"},
				"reason": map[string]any{"type": "string", "description": "why, in a few words"},
			},
		}),
	}
}
