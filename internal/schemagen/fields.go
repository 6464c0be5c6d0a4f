package schemagen

import (
	"encoding/json"

	"github.com/invopop/jsonschema"

	"github.com/windlass-run/windlass/cascade"
)

// field is what the schema says about a key beside its type. Bounds are inclusive and written as JSON.
type field struct {
	text     string
	def      any
	min, max json.Number
	above    json.Number // an exclusive lower bound
	minItems uint64
	pattern  string
	enum     []any
	examples []any
	items    *field // of each element of a list
}

// apply returns a schema with what the field says: a copy, because types share schemas.
func (f field) apply(s *jsonschema.Schema) *jsonschema.Schema {
	out := *s
	out.Description, out.Default, out.Examples, out.Minimum, out.Maximum = f.text, f.def, f.examples, f.min, f.max
	out.ExclusiveMinimum = f.above
	if f.items != nil {
		out.Items = f.items.apply(out.Items)
	}
	if f.pattern != "" {
		out.Pattern = f.pattern
	}
	if f.enum != nil {
		out.Enum = f.enum
	}
	if f.minItems > 0 {
		out.MinItems = &f.minItems
	}
	return &out
}

// The patterns of names. A phase's name is written outputs.NAME in templates; a tool's is what providers accept.
const (
	phaseName = `^[A-Za-z_][A-Za-z0-9_-]*$`
	toolName  = `^[A-Za-z0-9_-]{1,64}$`
	notEmpty  = `\S`
)

// The upper bounds of whole numbers: what no one writes on purpose, and far from where a 64-bit integer ends.
const (
	manyTurns  = "100000"
	manyTokens = "1000000000000"
)

// fields describes every key of the language, type by type.
func fields() map[string]map[string]field {
	return map[string]map[string]field{
		"Cascade":             cascadeFields(),
		"AutoContext":         autoContextFields(),
		"IntraContext":        intraFields(),
		"Truncation":          truncationFields(),
		"ClearToolUses":       clearFields(),
		"Guard":               guardFields(),
		"InterContext":        interFields(),
		"Cards":               cardsFields(),
		"Anchors":             anchorsFields(),
		"Selection":           selectionFields(),
		"TokenBudget":         tokenBudgetFields(),
		"TokenBudgetOverride": tokenOverrideFields(),
		"Budget":              budgetFields(),
		"InlineValidator":     validatorFields(),
		"Tool":                toolFields(),
		"Phase":               phaseFields(),
		"Rules":               rulesFields(),
		"Handoff":             handoffFields(),
		"Retry":               retryFields(),
		"Context":             contextFields(),
		"Source":              sourceFields(),
		"Callouts":            calloutsFields(),
	}
}

func cascadeFields() map[string]field {
	return map[string]field{
		"$schema":     {text: "Where an editor finds the JSON Schema of this file. windlass does not read it.", examples: []any{"../../schema/cascade.schema.json"}},
		"cascade_id":  {text: "The name of the workflow in logs and cost reports.", pattern: notEmpty, examples: []any{"incident_report"}},
		"description": {text: "What the workflow is for."},
		"tags":        {text: "Words to find the workflow by."},
		"inputs_schema": {
			text:     "The contract of a run's input: names with a description each (all strings, all required), or a JSON Schema of an object. Input is checked before anything is paid for.",
			examples: []any{map[string]any{"service": "the failing service"}},
		},
		"model": {text: "The model of all phases that name none. Without it, --model or WINDLASS_MODEL says.", examples: []any{"gpt-5-mini"}},
		"auto_context": {
			text:     "How what a model is sent is chosen: what becomes of older messages inside a phase, and what is selected of earlier phases. Without it every call is sent the phase's whole history, under the guard.",
			examples: []any{map[string]any{"intra_phase": map[string]any{"window": 5, "mask_observations_after": 3}}},
		},
		"token_budget": {text: "A lower ceiling than the model's window for every request.", examples: []any{map[string]any{"max_total": 60000}}},
		"budget":       {text: "Limits of one run, checked before each model call."},
		"validators":   {text: "Validators that a model runs, by name, for loop_until.", examples: []any{map[string]any{"polite": map[string]any{"instructions": "Is this polite? {{ content }}"}}}},
		"tools":        {text: "Tools that this cascade declares. Files named *.tool.json beside it declare one tool each."},
		"phases":       {text: "The steps. They run in this order when none of them has handoffs or routing; otherwise a phase without them ends the run.", minItems: 1},
	}
}

func budgetFields() map[string]field {
	return map[string]field{
		"max_usd":     {text: "The most that the run may cost, in US dollars. 0 is no limit.", def: 0, min: "0"},
		"max_tokens":  {text: "The most tokens, in and out together. 0 is no limit.", def: 0, min: "0", max: manyTokens},
		"max_seconds": {text: "The longest the run may take, in seconds. 0 is no limit.", def: 0, min: "0"},
	}
}

func validatorFields() map[string]field {
	return map[string]field{
		"instructions": {text: "What the model is to judge, a template over content and original_input. It answers {valid, reason}."},
		"model":        {text: "The model that judges; by default the phase's."},
		"max_turns":    {text: "How often the model is asked until its answer is a verdict.", def: 1, min: "1", max: manyTurns},
	}
}

func toolFields() map[string]field {
	return map[string]field{
		"tool_id":       {text: "The tool's name.", pattern: toolName, examples: []any{"run_tests"}},
		"description":   {text: "What the tool does, for the model."},
		"type":          {text: "What the tool is: a shell command or an HTTP request."},
		"inputs_schema": {text: "The tool's arguments: names with a description each (all strings, all required), or a JSON Schema of an object."},
		"command":       {text: "shell: the command line, a template over the arguments. Every value is quoted unless the filter raw says otherwise.", examples: []any{"grep -c {{ word }} {{ file }}"}},
		"method":        {text: "http: the request's method.", def: "GET", enum: []any{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}},
		"url":           {text: "http: the address, a template.", examples: []any{"https://api.example.com/items/{{ id }}"}},
		"headers":       {text: "http: the request's headers, templates."},
		"body":          {text: "http: the request's body, a template."},
		"response_jq":   {text: "A jq program over the result.", examples: []any{".items | map(.name)"}},
		"timeout":       {text: "How long one run of the tool may take: seconds, or a span as in \"1m30s\".", examples: []any{30, "1m30s"}},
		"idempotent":    {text: "Running the tool twice does no harm, so it may be run again after a crash.", def: false},
	}
}

func phaseFields() map[string]field {
	return map[string]field{
		"name":              {text: "The phase's name, unique in the cascade. Templates read its result as outputs.NAME.", pattern: phaseName, examples: []any{"research"}},
		"instructions":      {text: "The task for the model, a template. A phase has either instructions or a tool.", examples: []any{"Find out why {{ input.service }} fails."}},
		"model":             {text: "The model of this phase.", examples: []any{"gpt-5-mini"}},
		"temperature":       {text: "The sampling temperature; by default the model's own.", min: "0", max: "2"},
		"max_output_tokens": {text: "The most tokens of one answer.", min: "1", max: manyTokens},
		"model_options":     {text: "Further options, passed to the provider as they are.", examples: []any{map[string]any{"reasoning_effort": "low"}}},
		"tackle":            {text: "The names of the tools that the model may call.", examples: []any{[]string{"list_files", "read_file"}}},
		"use_native_tools":  {text: "Call tools through the provider's protocol. If false, they are described in the prompt and calls are read from the answer's JSON blocks.", def: true},
		"intra_context":     {text: "What becomes of older messages in this phase: auto_context.intra_phase, field by field.", examples: []any{map[string]any{"loop_history_limit": 2}}},
		"rules":             {text: "The bounds of the phase's loops, and what its answer is checked against."},
		"output_schema":     {text: "A JSON Schema of the answer. An answer that does not match is retried with what is wrong; the parsed value is the phase's output."},
		"tool":              {text: "The tool to run without a model."},
		"inputs":            {text: "The tool's arguments. Strings in it are templates.", examples: []any{map[string]any{"path": "{{ input.file }}"}}},
		"routing":           {text: "Where the run goes by the result's _route or status, and by default.", examples: []any{map[string]any{"ok": "report", "default": "repair"}}},
		"retry":             {text: "How often the tool is tried."},
		"timeout":           {text: "How long the tool may take: seconds, or a span as in \"1m30s\".", examples: []any{30, "1m30s"}},
		"context":           {text: "What comes in from other phases. Without it the phase sees its instructions and the input only."},
		"handoffs":          {text: "The phases that may run next. With several, or with a description, the model chooses by the tool route_to; otherwise the first one runs.", examples: []any{[]any{"report", map[string]any{"target": "repair", "description": "when something is broken"}}}},
		"callouts":          {text: "Marks messages as important: a template for the name of the output's callout, or an object."},
		"on_error":          {text: "Where the run goes when the phase fails: a phase's name, or a phase written in place."},
	}
}

func rulesFields() map[string]field {
	return map[string]field{
		"max_turns":          {text: "The most turns of one attempt: 1 by default, 25 with tools. A turn is one model call with the tool results that answer it.", min: "1", max: manyTurns},
		"max_attempts":       {text: "How often the phase is tried until its answer passes: 1 by default, 3 with an output_schema.", min: "1", max: manyTurns},
		"loop_until":         {text: "The validator that the answer must pass: the name of a validator or a declared tool, or non_empty, json, regex:PATTERN, min_words:N, max_words:N, command:LINE.", examples: validatorExamples()},
		"loop_until_prompt":  {text: "What the model is told about the check, a template, in place of the built-in text."},
		"loop_until_silent":  {text: "Do not tell the model what will be checked.", def: false},
		"retry_instructions": {text: "What the model is told when an attempt failed, a template.", examples: []any{"It was refused: {{ validation_error }}. Try again."}},
		"turn_prompt":        {text: "The prompt of the second and later turns, a template. With it the model is asked again until max_turns, or until loop_until passes."},
	}
}

func validatorExamples() []any {
	var out []any
	for _, v := range cascade.BuiltinValidators() {
		out = append(out, v)
	}
	return out
}

func handoffFields() map[string]field {
	return map[string]field{
		"target":      {text: "The phase to run."},
		"description": {text: "Tells the model when to choose it."},
	}
}

func retryFields() map[string]field {
	return map[string]field{
		"max_attempts":         {text: "How often the tool is tried in all.", def: 1, min: "1", max: manyTurns},
		"backoff":              {text: "How the wait between tries grows.", def: cascade.BackoffNone},
		"backoff_base_seconds": {text: "The first wait, in seconds.", def: 1, min: "0", max: "86400"},
	}
}

func contextFields() map[string]field {
	return map[string]field{
		"mode":          {text: "Who chooses what comes in: explicit is what from lists, auto also selects what the phase needs of earlier ones: anchors first, then messages by selection.", def: cascade.ContextExplicit},
		"from":          {text: "The phases whose results come in: names, all, first, previous (prev), or objects that say more.", examples: []any{[]string{"all"}, "previous"}},
		"exclude":       {text: "The phases that all leaves out, and anchors and selection with the mode auto."},
		"include_input": {text: "Whether the run's input comes in. By default it does, unless the instructions use it themselves."},
		"anchors":       {text: "With the mode auto: what comes in whatever is selected. auto_context.inter_phase.anchors, field by field.", examples: []any{map[string]any{"from_phases": []string{"research"}}}},
		"selection":     {text: "With the mode auto: how messages of earlier phases are chosen. auto_context.inter_phase.selection, field by field.", examples: []any{map[string]any{"strategy": "hybrid", "max_tokens": 20000}}},
	}
}

func sourceFields() map[string]field {
	return map[string]field{
		"phase":           {text: "A phase's name, or all, first, previous (prev)."},
		"include":         {text: "What comes in: output and images by default."},
		"messages_filter": {text: "Which of the phase's messages come in.", def: cascade.MessagesAll},
		"as_role":         {text: "The role of the message that brings it in.", def: "user", enum: []any{"user", "system"}},
		"condition":       {text: "A template; when it renders as nothing, false, 0 or none, the source is left out.", examples: []any{"{{ state.broken }}"}},
	}
}

func calloutsFields() map[string]field {
	return map[string]field{
		"output":          {text: "A template for the name of the output's callout."},
		"messages":        {text: "A template for the name of the messages' callouts."},
		"messages_filter": {text: "Which of the phase's messages are marked.", def: cascade.MessagesAll},
	}
}
