// Package schemagen writes the JSON Schema of cascade files from the types of package cascade. Its
// test compares that with the file that package schema embeds, and rewrites the file:
//
//	go test ./internal/schemagen -update
package schemagen

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/schema"
)

// Generate returns the schema. It fails when a field has no description, or a description no field.
func Generate() ([]byte, error) {
	r := jsonschema.Reflector{ExpandedStruct: true, Anonymous: true, Mapper: mapType}
	root := r.Reflect(cascade.Cascade{})
	defs := root.Definitions
	defs["Cascade"] = root
	// These are reached only through types that are written by hand.
	for name, d := range r.Reflect(cascade.Phase{}).Definitions {
		defs[name] = d
	}
	if err := annotate(defs); err != nil {
		return nil, err
	}
	addForms(defs)
	delete(defs, "Cascade")
	root.ID = schema.CascadeURL
	root.Title = "windlass cascade"
	root.Description = "An LLM workflow, declared phase by phase."
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the cascade schema: %w", err)
	}
	return append(text, '\n'), nil
}

// mapType gives the schemas of types that reflection cannot see into.
func mapType(t reflect.Type) *jsonschema.Schema {
	if values, ok := enums[t]; ok {
		return &jsonschema.Schema{Type: "string", Enum: values}
	}
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[cascade.Duration]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "number", ExclusiveMinimum: "0", Maximum: "31536000"},
			{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`},
		}}
	case reflect.TypeFor[cascade.InputsSchema]():
		return &jsonschema.Schema{Type: "object"}
	case reflect.TypeFor[cascade.OnError]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Ref: "#/$defs/Phase"}}}
	}
	return nil
}

// enums are the closed sets of the language.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[cascade.ToolType](): {cascade.ToolShell, cascade.ToolHTTP},
	reflect.TypeFor[cascade.Backoff](): {
		cascade.BackoffNone, cascade.BackoffLinear, cascade.BackoffExponential,
	},
	reflect.TypeFor[cascade.Check]():       {cascade.CheckAttempt, cascade.CheckEveryTurn},
	reflect.TypeFor[cascade.OnExhausted](): {cascade.ExhaustedFail, cascade.ExhaustedContinue},
	reflect.TypeFor[cascade.WardMode]():    {cascade.WardBlocking, cascade.WardRetry, cascade.WardAdvisory},
	reflect.TypeFor[cascade.Trigger]():     {cascade.TriggerOnStart, cascade.TriggerOnEnd},
	reflect.TypeFor[cascade.ItemError]():   {cascade.ItemFail, cascade.ItemSkip, cascade.ItemCollect},
	reflect.TypeFor[cascade.ContextMode](): {cascade.ContextExplicit, cascade.ContextAuto},
	reflect.TypeFor[cascade.Advance]():     {cascade.AdvanceCost, cascade.AdvanceEveryTurn, cascade.AdvanceStep},
	reflect.TypeFor[cascade.Recount]():     {cascade.RecountTokenizer, cascade.RecountProbe},
	reflect.TypeFor[cascade.AnchorInclude](): {
		cascade.AnchorOutput, cascade.AnchorCallouts, cascade.AnchorInput, cascade.AnchorErrors,
	},
	reflect.TypeFor[cascade.SelectionStrategy](): {
		cascade.StrategyHeuristic, cascade.StrategySemantic, cascade.StrategyLLM, cascade.StrategyHybrid,
	},
	reflect.TypeFor[cascade.BudgetStrategy](): {
		cascade.BudgetSlidingWindow, cascade.BudgetPruneOldest, cascade.BudgetSummarize, cascade.BudgetFail,
	},
	reflect.TypeFor[cascade.Include](): {
		cascade.IncludeOutput, cascade.IncludeMessages, cascade.IncludeImages, cascade.IncludeState,
	},
	reflect.TypeFor[continuity.Remember]():     {continuity.RememberOff, continuity.RememberMessages, continuity.RememberWinners},
	reflect.TypeFor[soundings.ModelStrategy](): {soundings.RoundRobin, soundings.Random, soundings.Weighted},
	reflect.TypeFor[soundings.MutationMode]():  {soundings.Rewrite, soundings.Augment, soundings.Approach},
	reflect.TypeFor[soundings.Mode]():          {soundings.Evaluate, soundings.Aggregate},
	reflect.TypeFor[soundings.Evaluator]():     {soundings.ByModel, soundings.ByHuman, soundings.ByHybrid},
	reflect.TypeFor[soundings.OnTie]():         {soundings.TieCheapest, soundings.TieFirst, soundings.TieHuman},
	reflect.TypeFor[soundings.Normalization](): {soundings.MinMax, soundings.ZScore, soundings.LogScale},
	reflect.TypeFor[soundings.Policy]():        {soundings.Balanced, soundings.PreferCheap, soundings.PreferQuality, soundings.Interactive},
	reflect.TypeFor[soundings.Presentation]():  {soundings.SideBySide, soundings.Tabbed, soundings.Diff},
	reflect.TypeFor[soundings.SelectionMode](): {soundings.PickOne, soundings.RankAll, soundings.RateEach},
	reflect.TypeFor[soundings.OnTimeout]():     {soundings.LLMFallback, soundings.FallToFirst, soundings.AbortTimeout},
	reflect.TypeFor[cascade.MessagesFilter](): {
		cascade.MessagesAll, cascade.MessagesAssistantOnly, cascade.MessagesLastTurn,
	},
}

// annotate adds to each property what the table says about it.
func annotate(defs jsonschema.Definitions) error {
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if defs[name].Properties == nil {
			continue
		}
		for p := defs[name].Properties.Oldest(); p != nil; p = p.Next() {
			f, ok := fields[name][p.Key]
			if !ok {
				return fmt.Errorf("describe the schema: the field %s of %s has no description", p.Key, name)
			}
			p.Value = f.apply(p.Value)
		}
	}
	for name, described := range fields {
		def := defs[name]
		if def == nil || def.Properties == nil {
			return fmt.Errorf("describe the schema: there is no type %s", name)
		}
		for key := range described {
			if _, ok := def.Properties.Get(key); !ok {
				return fmt.Errorf("describe the schema: %s describes %q, which is no field", name, key)
			}
		}
	}
	return nil
}

// addForms adds the short forms of the language, which package cascade decodes by hand.
func addForms(defs jsonschema.Definitions) {
	name := &jsonschema.Schema{Type: "string"}
	ref := func(def string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + def} }
	set := func(def, key string, forms ...*jsonschema.Schema) {
		old, _ := defs[def].Properties.Get(key)
		s := *old
		s.Ref, s.Type, s.Items, s.AnyOf, s.AdditionalProperties = "", "", nil, forms, nil
		defs[def].Properties.Set(key, &s)
	}
	list := func(items *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "array", Items: items}
	}
	handoff := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{name, ref("Handoff")}}
	source := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{name, ref("Source")}}
	set("Phase", "handoffs", list(handoff), name, ref("Handoff"))
	set("Phase", "callouts", name, ref("Callouts"))
	set("Phase", "after", list(name), name)
	for _, key := range []string{"pre", "turn", "post"} {
		set("Wards", key, list(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{name, ref("Ward")}}))
	}
	set("Phase", "sub_cascades", list(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{name, ref("SubCascade")}}))
	set("Phase", "async_cascades", list(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{name, ref("AsyncCascade")}}))
	set("ForEach", "items", &jsonschema.Schema{Type: "array"}, name)
	set("Context", "from", list(source), name, ref("Source"))
	addSoundings(set, list, ref)
	addPeople(set, ref, defs)
	onOff := &jsonschema.Schema{Type: "boolean"}
	set("IntraContext", "truncation", onOff, ref("Truncation"))
	set("IntraContext", "clear_tool_uses", onOff, ref("ClearToolUses"))
	keep, _ := defs["ClearToolUses"].Properties.Get("keep")
	set("ClearToolUses", "keep", &jsonschema.Schema{Type: "integer", Minimum: keep.Minimum, Maximum: keep.Maximum}, ref("Amount"))
	set("IntraContext", "guard", onOff, ref("Guard"))

	set("TokenBudget", "phase_overrides", &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: "1", Maximum: manyTokens}, ref("TokenBudgetOverride"),
	}}})

	// Older files have it beside from.
	include, _ := defs["Source"].Properties.Get("include")
	shared := *include
	shared.Description = "The same for all sources that have none. Write it in the sources."
	defs["Context"].Properties.Set("include", &shared)

	// The alias of tackle.
	tackle, _ := defs["Phase"].Properties.Get("tackle")
	alias := *tackle
	alias.Description = "The same as tackle."
	defs["Phase"].Properties.Set("tools", &alias)

	// A phase written in place, under on_error, needs no name.
	phases, _ := defs["Cascade"].Properties.Get("phases")
	phases.Items = &jsonschema.Schema{Ref: "#/$defs/Phase", Required: []string{"name"}}
	defs["Phase"].Required = slices.DeleteFunc(defs["Phase"].Required, func(k string) bool { return k == "name" })
}
