package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
)

// The engine's own tools: they read and change the run itself, so they are no effects.
const (
	toolSetState = "set_state"
	toolGetState = "get_state"
	toolRouteTo  = "route_to"
)

// ownSpecs are those that a phase may list in its tackle.
var ownSpecs = map[string]effect.ToolSpec{
	toolSetState: {
		Name: toolSetState, Idempotent: true,
		Description: "Store a value under a key for later phases of this run. An existing value is replaced.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["key","value"],"properties":{` +
			`"key":{"type":"string","minLength":1,"description":"the name of the value"},` +
			`"value":{"description":"any JSON value"}}}`),
	},
	toolGetState: {
		Name: toolGetState, Idempotent: true,
		Description: "Read a value that was stored with set_state, or that the run set itself.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["key"],"properties":{` +
			`"key":{"type":"string","minLength":1,"description":"the name of the value"}}}`),
	},
	lookup.ToolRecall: lookup.RecallSpec(),
	lookup.ToolSearch: lookup.SearchSpec(),
}

// OwnTools returns the names of the engine's own tools that a phase may list in its tackle, sorted.
func OwnTools() []string { return slices.Sorted(maps.Keys(ownSpecs)) }

// OwnToolArguments returns the JSON Schema of the arguments of one of [OwnTools], or nil.
func OwnToolArguments(name string) json.RawMessage { return ownSpecs[name].Parameters }

// IsOwnTool reports whether the engine answers calls of a tool itself.
func IsOwnTool(name string) bool {
	_, ok := ownSpecs[name]
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

func (t toolset) with(spec effect.ToolSpec) toolset {
	if _, has := t.byName[spec.Name]; has {
		return t
	}
	return newToolset(append(t.specs[:len(t.specs):len(t.specs)], spec))
}

// specOf returns the description of a tool: one of the engine's own, or a declared one.
func specOf(name string, declared effect.Tools) (effect.ToolSpec, error) {
	spec, ok := ownSpecs[name]
	if !ok && declared != nil {
		spec, ok = declared.Spec(name)
	}
	if !ok {
		return spec, fmt.Errorf("no tool named %q", name)
	}
	return spec, nil
}

// toolsOf collects the tools of a phase's tackle, and route_to when the model has a choice.
func toolsOf(p *cascade.Phase, declared effect.Tools) (toolset, error) {
	var specs []effect.ToolSpec
	for _, name := range p.Tackle {
		spec, err := specOf(name, declared)
		if err != nil {
			return toolset{}, err
		}
		specs = append(specs, spec)
	}
	if slices.Contains(p.Tackle, lookup.ToolSearch) && !slices.Contains(p.Tackle, lookup.ToolRecall) {
		specs = append(specs, lookup.RecallSpec()) // what is found is read by it
	}
	if p.ChoosesRoute() {
		specs = append(specs, routeSpec(p.Handoffs))
	}
	return newToolset(specs), nil
}

func routeSpec(handoffs []cascade.Handoff) effect.ToolSpec {
	description := "Choose which phase runs after this one. Then finish your answer. The phases are:"
	var names []string
	for _, h := range handoffs {
		names = append(names, h.Target)
		description += "\n- " + h.Target
		if h.Description != "" {
			description += ": " + h.Description
		}
	}
	return effect.ToolSpec{
		Name: toolRouteTo, Idempotent: true, Description: description,
		Parameters: effect.MustJSON(map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"target"},
			"properties": map[string]any{
				"target": map[string]any{"type": "string", "enum": names, "description": "the phase to run next"},
				"reason": map[string]any{"type": "string", "description": "why, in a few words"},
			},
		}),
	}
}
