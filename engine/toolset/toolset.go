package toolset

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/artifact"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/waiting"
)

// The engine's own tools: they read and change the run itself, so they are no effects.
const (
	ToolSetState = "set_state"
	ToolGetState = "get_state"
	ToolRouteTo  = "route_to"
	ToolSpawn    = "spawn_cascade"
)

// ownSpecs are those that a phase may list in its tackle.
var ownSpecs = map[string]effect.ToolSpec{
	ToolSetState: {
		Name: ToolSetState, Idempotent: true,
		Description: "Store a value under a key for later phases of this run. An existing value is replaced.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["key","value"],"properties":{` +
			`"key":{"type":"string","minLength":1,"description":"the name of the value"},` +
			`"value":{"description":"any JSON value"}}}`),
	},
	ToolGetState: {
		Name: ToolGetState, Idempotent: true,
		Description: "Read a value that was stored with set_state, or that the run set itself.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["key"],"properties":{` +
			`"key":{"type":"string","minLength":1,"description":"the name of the value"}}}`),
	},
	ToolSpawn: {
		Name:        ToolSpawn,
		Description: "Start another cascade, a workflow of its own, and go on without waiting for it. The run as a whole waits for it in the end.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["cascade"],"properties":{` +
			`"cascade":{"type":"string","minLength":1,"description":"its cascade_id, or its file relative to this cascade"},` +
			`"input":{"type":"object","description":"its input"}}}`),
	},
	waiting.ToolAsk: waiting.Spec(waiting.ToolAsk), waiting.ToolAskForm: waiting.Spec(waiting.ToolAskForm), waiting.ToolDecision: waiting.Spec(waiting.ToolDecision),
	waiting.ToolAwait: waiting.Spec(waiting.ToolAwait), waiting.ToolFire: waiting.Spec(waiting.ToolFire),
	artifact.ToolShow: artifact.Spec(artifact.ToolShow), artifact.ToolCreate: artifact.Spec(artifact.ToolCreate),
	artifact.ToolList: artifact.Spec(artifact.ToolList), artifact.ToolGet: artifact.Spec(artifact.ToolGet),
	memory.Tool:   memory.Spec(),
	memo.ToolSave: memo.Spec(memo.ToolSave), memo.ToolRetrieve: memo.Spec(memo.ToolRetrieve), memo.ToolEdit: memo.Spec(memo.ToolEdit), memo.ToolDelete: memo.Spec(memo.ToolDelete),
	standing.Scratchpad: standing.Spec(),
	lookup.ToolRecall:   lookup.RecallSpec(),
	lookup.ToolSearch:   lookup.SearchSpec(),
}

// OwnTools returns the names of the engine's own tools that a phase may list in its tackle, sorted.
func OwnTools() []string { return slices.Sorted(maps.Keys(ownSpecs)) }

// OwnToolArguments returns the JSON Schema of the arguments of one of [OwnTools], or nil.
func OwnToolArguments(name string) json.RawMessage { return ownSpecs[name].Parameters }

// IsOwnTool reports whether the engine answers calls of a tool itself.
func IsOwnTool(name string) bool { return cascade.IsEngineTool(name) }

// Toolset is what one phase can call.
type Toolset struct {
	Cascades map[string]*cascade.Reached // the tools that are cascades, by their names
	Specs    []effect.ToolSpec
	ByName   map[string]effect.ToolSpec
	Digest   [sha256.Size]byte
}

func newToolset(specs []effect.ToolSpec) Toolset {
	t := Toolset{Specs: specs, ByName: make(map[string]effect.ToolSpec, len(specs)), Digest: effect.DigestTools(specs)}
	for _, s := range specs {
		t.ByName[s.Name] = s
	}
	return t
}

// Names returns the names of the tools, in their order.
func (t Toolset) Names() []string {
	names := make([]string, len(t.Specs))
	for i, s := range t.Specs {
		names[i] = s.Name
	}
	return names
}

// With returns the tools and another one, unless it is among them.
func (t Toolset) With(spec effect.ToolSpec) Toolset {
	if _, has := t.ByName[spec.Name]; has {
		return t
	}
	with := newToolset(append(t.Specs[:len(t.Specs):len(t.Specs)], spec))
	with.Cascades = t.Cascades
	return with
}

// SpecOf returns the description of a tool: one of the engine's own, or a declared one.
func SpecOf(name string, declared effect.Tools) (effect.ToolSpec, error) {
	spec, ok := ownSpecs[name]
	if !ok && declared != nil {
		spec, ok = declared.Spec(name)
	}
	if !ok {
		return spec, fmt.Errorf("no tool named %q", name)
	}
	return spec, nil
}

// ToolSQL is the tool by which a model asks the record of its session.
const ToolSQL = "sql_query"

const messagesView = " The view messages has one row for each message: messages(id, group_id, role, kind, content, tool_name, tool_call_id, " +
	"status, model, phase, tokens, at); status is active, dropped or removed. Read the newest first, leave out what is not active, " +
	"use LIMIT, and search by role, by words of the content or by group_id."

// Told says what a model is told of its tools, which differs between the rules of sessions.
type Told struct {
	Images   bool // that people can be asked with images
	Messages bool // what the view messages has, by sql_query
}

// ToolsOf collects the tools of a phase's tackle, memory when it has a bank, the tool that searches in the bank, those of memos when it has them, and route_to when
// the model has a choice.
func ToolsOf(p *cascade.Phase, c *cascade.Cascade, declared effect.Tools, told Told) (Toolset, error) {
	var specs []effect.ToolSpec
	cascades := map[string]*cascade.Reached{}
	for _, name := range p.Tackle {
		spec, err := SpecOf(name, declared)
		if of := c.Reaches[name]; err != nil && of != nil {
			spec, err = CascadeSpec(of), nil
			cascades[spec.Name] = of
		}
		if err != nil {
			return Toolset{}, err
		}
		switch {
		case name == waiting.ToolAskForm && !told.Images:
			spec = waiting.SpecWithoutImages(name)
		case name == ToolSQL && told.Messages:
			spec.Description += messagesView
		}
		specs = append(specs, spec)
	}
	if slices.Contains(p.Tackle, lookup.ToolSearch) && !slices.Contains(p.Tackle, lookup.ToolRecall) {
		specs = append(specs, lookup.RecallSpec()) // what is found is read by it
	}
	if c.BankOf(p) != "" && !slices.Contains(p.Tackle, memory.Tool) {
		specs = append(specs, memory.Spec())
	}
	if name := cascade.RecallToolOf(c, p); name != "" {
		if slices.ContainsFunc(specs, func(s effect.ToolSpec) bool { return s.Name == name }) {
			return Toolset{}, fmt.Errorf("the bank %q has a tool by which the phase searches in it, %q, and there is another tool of that name: choose another name for the bank, or write \"recall_tool\": false", c.BankOf(p), name)
		}
		specs = append(specs, memory.RecallSpec(c.BankOf(p)))
	}
	if cascade.ContinuityOf(c, p).Scratchpad && !slices.Contains(p.Tackle, standing.Scratchpad) {
		specs = append(specs, standing.Spec())
	}
	if cascade.ContinuityOf(c, p).Memos {
		for _, name := range memo.Tools() {
			if !slices.Contains(p.Tackle, name) {
				specs = append(specs, memo.Spec(name))
			}
		}
	}
	if p.ChoosesRoute() {
		specs = append(specs, routeSpec(p.Handoffs))
	}
	set := newToolset(specs)
	set.Cascades = cascades
	return set, nil
}

// CascadeSpec describes a cascade as a tool: its arguments are its input.
func CascadeSpec(of *cascade.Reached) effect.ToolSpec {
	c := of.Cascade
	return effect.ToolSpec{
		Name: of.ToolName(), Description: cmp.Or(c.Description, "Runs the cascade "+c.CascadeID+" and returns its output."), Parameters: inputSchemaOf(c),
	}
}

// inputSchemaOf returns the JSON Schema of the input of a cascade: its contract as it is written, or
// the names that it declares.
func inputSchemaOf(c *cascade.Cascade) json.RawMessage {
	s := c.InputsSchema
	if s != nil && s.Schema != nil {
		return ofObject(s.Schema)
	}
	properties := map[string]any{}
	if s != nil {
		for name, description := range s.Names {
			properties[name] = map[string]any{"description": description}
		}
	}
	return effect.MustJSON(map[string]any{"type": "object", "properties": properties})
}

// ofObject returns a schema that says that arguments are an object, which providers want to read.
func ofObject(contract json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(contract, &members); err != nil || members["type"] != nil {
		return contract
	}
	members["type"] = json.RawMessage(`"object"`)
	return effect.MustJSON(members)
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
		Name: ToolRouteTo, Idempotent: true, Description: description,
		Parameters: effect.MustJSON(map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"target"},
			"properties": map[string]any{
				"target": map[string]any{"type": "string", "enum": names, "description": "the phase to run next"},
				"reason": map[string]any{"type": "string", "description": "why, in a few words"},
			},
		}),
	}
}
