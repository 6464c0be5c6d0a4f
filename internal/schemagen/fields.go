package schemagen

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/settings"
	"github.com/windlass-run/windlass/cascade/validators"
	"github.com/windlass-run/windlass/engine/waiting"
)

// field is what the schema says about a key beside its type. Bounds are inclusive, and JSON.
type field struct {
	text     string
	def      any
	min, max json.Number
	above    json.Number // an exclusive lower bound
	below    json.Number // an exclusive upper bound
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
	out.ExclusiveMinimum, out.ExclusiveMaximum = f.above, f.below
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

// The patterns of names: templates write outputs.NAME of phases; providers bound those of tools.
const (
	phaseName = `^[A-Za-z_][A-Za-z0-9_-]*$`
	toolName  = `^[A-Za-z0-9_-]{1,64}$`
	notEmpty  = `\S`

	toolPattern = `^[A-Za-z0-9_*-]+$` // of "approve": * stands for any characters
)

// The upper bounds of numbers: what no one writes on purpose, and far from where a 64-bit integer
// ends.
const (
	manyTurns    = "100000"
	manyTokens   = "1000000000000"
	manyChars    = "1000000000"
	manyWeight   = "1000" // only the proportion of weights matters
	manyParallel = "64"
)

const switchText = "Whether the block applies. The block may also be written as true or false."

// The defaults of settings.
var (
	intra      = cascade.DefaultIntra()
	truncation = cascade.DefaultTruncation()
	clearing   = cascade.DefaultClear()
	inter      = cascade.DefaultInter()
)

// fields describe every key of the language, type by type.
var fields = map[string]map[string]field{
	"Cascade": {
		"$schema":     {text: "Where an editor finds the JSON Schema of this file. windlass does not read it.", examples: []any{"../../schema/cascade.schema.json"}},
		"cascade_id":  {text: "The name of the workflow in logs and cost reports.", pattern: notEmpty, examples: []any{"incident_report"}},
		"description": {text: "What the workflow is for."},
		"tags":        {text: "Words to find the workflow by."},
		"inputs_schema": {
			text:     "The contract of a run's input: names with a description each (all strings, all required), or a JSON Schema of an object. A string with the format \"image\", \"pdf\" or \"file\" is a file, given with --input NAME=@FILE. Input is checked before anything is paid for.",
			examples: []any{map[string]any{"service": "the failing service"}},
		},
		"model": {text: "The model of all phases that name none. Without it, --model or WINDLASS_MODEL says.", examples: []any{"gpt-5-mini"}},
		"fallback_models": {
			text:     "The models of all phases that name none of their own: the next of them is asked for the rest of a phase when its model cannot be reached (429, 5xx, network, timeout) after all retries.",
			examples: []any{[]string{"claude-haiku-4-5", "gemini-2.5-flash"}},
		},
		"auto_context": {
			text:     "How windlass chooses what a model is sent: how older messages inside a phase are shortened, and which messages of earlier phases are selected. Without it every call is sent the phase's whole history, under the guard.",
			examples: []any{map[string]any{"intra_phase": map[string]any{"window": 5, "mask_observations_after": 3}}},
		},
		"token_budget": {text: "A lower ceiling than the model's window for every request.", examples: []any{map[string]any{"max_total": 60000}}},
		"budget":       {text: "Limits of one run, checked before each model call."},
		"validators":   {text: "Validators that a model runs, by name, for loop_until.", examples: []any{map[string]any{"polite": map[string]any{"instructions": "Is this polite? {{ content }}"}}}},
		"tools":        {text: "Tools that this cascade declares. Files named *.tool.json in the same folder declare one tool each."},
		"max_parallel": {text: "In a cascade whose phases have after: how many of them run at a time.", def: cascade.DefaultMaxParallel, min: "1", max: manyParallel},
		"audibles":     {text: "Lets people say something to the model while a phase runs, before its next turn; windlass audible does. A phase's own come in their place.", examples: []any{true}},
		"memory":       {text: "The bank of memory that the phases use, by the tool memory: notes that outlast the run. shared:NAME is a bank that all projects share. A phase's own comes in its place.", examples: []any{"notes"}},
		"continuity":   {text: "What goes on in the conversations of all phases that ask a model where their messages do not: a scratchpad, a state block, groups, memos. A phase has its own settings in place of these, one by one.", examples: []any{map[string]any{"scratchpad": true}}},
		"triggers":     {text: "When runs of the cascade are to begin. windlass triggers lists, checks and exports them.", examples: []any{[]any{map[string]any{"name": "nightly", "type": "cron", "schedule": "30 2 * * *"}}}},
		"soundings":    {text: "Runs the whole cascade several times, keeps the best run, and refines it. Each candidate is a session of its own.", examples: []any{map[string]any{"factor": 3}}},
		"phases":       {text: "The steps. They run in this order when none of them has handoffs, routing or after; with after, a phase runs when those before it have ended; otherwise a phase without handoffs and routing ends the run.", minItems: 1},
	},
	"AutoContext": {
		"intra_phase": {text: "How older messages are shortened inside every phase that asks a model. A phase overrides it, field by field, with intra_context."},
		"inter_phase": {text: "Which messages of earlier phases are selected for every phase whose context has the mode auto. A phase overrides it, field by field, with anchors and selection in its context.", examples: []any{map[string]any{"strategy": "hybrid", "selector_model": "gpt-5-nano"}}},
	},
	"IntraContext": {
		"enabled":                 {text: "Whether the settings apply. If false, full history is sent, under the guard.", def: intra.Enabled},
		"window":                  {text: "The newest turns in which nothing of the model's is cut. In older ones long call arguments are cut, and texts to reasoning_limit. A turn is an answer of the model with the tool results that follow it.", def: intra.Window, min: "0", max: manyTurns},
		"mask_observations_after": {text: "Tool results older than this many turns may be masked: a placeholder replaces them, and the tool recall returns them.", def: intra.MaskAfter, min: "1", max: manyTurns},
		"min_masked_size":         {text: "Tool results of fewer characters are never masked.", def: intra.MinMaskedSize, min: "0", max: manyChars},
		"advance":                 {text: "When old tool results are masked: cost when it pays by the model's prices, every_turn at once, step every step_turns turns.", def: intra.Advance},
		"step_turns":              {text: "With advance step: the turns between two times of masking.", def: intra.StepTurns, min: "1", max: manyTurns},
		"preserve_reasoning":      {text: "Keep older texts of the model, cut to reasoning_limit. If false, a placeholder replaces them.", def: intra.PreserveReasoning},
		"reasoning_limit":         {text: "The characters that are kept of an older text.", def: intra.ReasoningLimit, min: "1", max: manyChars},
		"preserve_errors":         {text: "Keep the beginning, the end and the lines around the failure of older results that are errors, or whose text reports a failure (of a test, a compiler, a command). If false, they are masked like any other.", def: intra.PreserveErrors},
		"dedupe":                  {text: "Of tool results with equal content keep only the newest: a placeholder that says so replaces the others when the masking boundary next moves.", def: intra.Dedupe},
		"exclude_tools":           {text: "Tools whose results are neither masked nor cut, unless the guard needs the room.", def: []string{}, examples: []any{[]string{"read_file"}}},
		"compress_loops":          {text: "Begin a retry with the task, the failed answers and their verdicts, and not with all that failed attempts did.", def: intra.CompressLoops},
		"loop_history_limit":      {text: "The failed attempts that a retry is shown, the newest.", def: intra.LoopHistoryLimit, min: "0", max: manyTurns},
		"loop_output_limit":       {text: "The characters that are kept of a failed attempt's answer.", def: intra.LoopOutputLimit, min: "1", max: manyChars},
		"truncation":              {text: "Cut tool results by how recent they are, keeping head and tail. true takes the defaults, false switches it off.", def: false},
		"clear_tool_uses":         {text: "Mask the oldest tool results when a request grows past a number of tokens. true takes the defaults, false switches it off.", def: false},
		"guard":                   {text: "Keeps requests below the model's window. It is on unless this is false.", def: true},
	},
	"Truncation": {
		"enabled":        {text: switchText, def: true},
		"recent_results": {text: "The newest tool results, which keep recent_limit characters. The next twice as many keep older_limit, all before them inactive_limit.", def: truncation.RecentResults, min: "0", max: manyTurns},
		"recent_limit":   {text: "Characters of each of the newest tool results.", def: truncation.RecentLimit, min: "1", max: manyChars},
		"older_limit":    {text: "Characters of each of the next.", def: truncation.OlderLimit, min: "1", max: manyChars},
		"inactive_limit": {text: "Characters of each of all before them.", def: truncation.InactiveLimit, min: "1", max: manyChars},
	},
	"ClearToolUses": {
		"enabled":               {text: switchText, def: true},
		"trigger_tokens":        {text: "A request with this many tokens has its oldest tool results masked.", def: clearing.TriggerTokens, min: "1", max: manyTokens},
		"keep":                  {text: "The newest tool results, which stay.", def: clearing.Keep, min: "0", max: manyTurns},
		"clear_at_least_tokens": {text: "Nothing is masked unless it makes the request smaller by this many tokens, because it also rewrites what the provider has cached.", def: clearing.ClearAtLeastTokens, min: "0", max: manyTokens},
		"trigger":               {text: "The same as trigger_tokens, in the form of a provider's API.", examples: []any{map[string]any{"type": settings.InputTokens, "value": 100000}}},
		"clear_at_least":        {text: "The same as clear_at_least_tokens, in the form of a provider's API.", examples: []any{map[string]any{"type": settings.InputTokens, "value": 5000}}},
		"exclude_tools":         {text: "Tools whose results stay, beside those of the settings' own exclude_tools.", def: []string{}, examples: []any{[]string{"read_file"}}},
	},
	"Amount": {
		"type":  {text: "What is counted: input_tokens, or tool_uses of what is kept.", enum: []any{settings.InputTokens, settings.ToolUses}},
		"value": {text: "How many.", min: "0", max: manyTokens},
	},
	"Guard": {
		"enabled":              {text: switchText + " Without the guard nothing keeps requests short, a token_budget neither.", def: intra.Guard.Enabled},
		"warn_percent":         {text: "A request above this share of what it may have is warned of, once. Percentages are of the model's window less the reserve for the answer.", def: intra.Guard.WarnPercent, min: "1", max: "100"},
		"compact_percent":      {text: "Above this share the guard makes room.", def: intra.Guard.CompactPercent, min: "1", max: "100"},
		"target_percent":       {text: "What the guard makes room down to.", def: intra.Guard.TargetPercent, min: "1", max: "100"},
		"compact_at_tokens":    {text: "A request of this many tokens has the guard make room too, however long it may be; the other percentages are then of as much. 0 is no such size.", def: intra.Guard.CompactAtTokens, min: "0", max: manyTokens, examples: []any{200000}},
		"removal_levels":       {text: "The shares of the tool results, in percent and rising, that are removed one after the other until there is room, from the middle of the history outward.", def: intra.Guard.RemovalLevels, minItems: 1, items: &field{min: "1", max: "100"}},
		"keep_recent_messages": {text: "The newest messages, of which no tool result is removed. Compaction leaves as they are as many of them as fit.", def: intra.Guard.KeepRecentMessages, min: "1", max: manyTurns},
		"summarizer_model":     {text: "The model that sums up older messages; by default the phase's own.", examples: []any{"gpt-5-nano"}},
		"recount":              {text: "How a request is counted before the guard acts: tokenizer uses the model family's tokenizer or an estimate, probe a minimal call to the provider.", def: intra.Guard.Recount},
	},
	"InterContext": {
		"enabled":        {text: "Whether messages are selected. If false, phases with the mode auto get what their from lists and nothing else.", def: inter.Enabled},
		"strategy":       {text: "The same as strategy in selection.", def: inter.Selection.Strategy},
		"selector_model": {text: "The same as selector_model in selection.", examples: []any{"gpt-5-nano"}},
		"card_model":     {text: "The model that sums messages up in a sentence or two, in the background: a cheap one. Without it the sentences that say most are taken from them.", examples: []any{"gpt-5-nano"}},
		"cards":          {text: "How cards are created: the summaries and keywords on which messages are selected."},
		"anchors":        {text: "Messages that are always included."},
		"selection":      {text: "How messages of earlier phases are chosen."},
	},
	"Cards": {
		"enabled":      {text: "Whether cards (a summary, keywords) are made of the messages of a session that ClickHouse keeps. A session that selects nothing makes them after its answer.", def: inter.Cards.Enabled},
		"wait_seconds": {text: "How long a selection waits for cards that are being made. A message whose card is late is selected on what can be extracted from it at once.", def: inter.Cards.Wait.Seconds(), min: "0", max: "3600"},
	},
	"Anchors": {
		"window":      {text: "The newest turns of each source phase.", def: inter.Anchors.Window, min: "0", max: manyTurns},
		"from_phases": {text: "The source phases: names, all, first, previous (prev).", def: inter.Anchors.FromPhases, examples: []any{[]string{"research"}}},
		"include":     {text: "What else is an anchor: the output of the source phases, callouts of all phases, the run's input, tool results of all phases that are errors.", def: inter.Anchors.Include},
	},
	"Selection": {
		"strategy":             {text: "How messages are chosen: heuristic by words, semantic by meaning, llm by a model that reads their summaries, hybrid by words and meaning and then by a model.", def: inter.Selection.Strategy},
		"max_tokens":           {text: "The most tokens that are chosen, anchors not counted.", def: inter.Selection.MaxTokens, min: "1", max: manyTokens},
		"max_messages":         {text: "The most messages that are chosen, anchors not counted.", def: inter.Selection.MaxMessages, min: "1", max: manyTurns},
		"selector_model":       {text: "With llm and hybrid: the model that chooses, a cheap one; by default the phase's own.", examples: []any{"gpt-5-nano"}},
		"recency_weight":       {text: "How much being recent raises what is found by words. It is counted in places, not in time.", def: inter.Selection.RecencyWeight, min: "0", max: manyWeight},
		"keyword_weight":       {text: "How much words in common with the task count.", def: inter.Selection.KeywordWeight, min: "0", max: manyWeight},
		"callout_weight":       {text: "How much it counts that a message is a callout.", def: inter.Selection.CalloutWeight, min: "0", max: manyWeight},
		"similarity_threshold": {text: "With semantic: messages that are less similar to the task than this share of the most similar one are left out.", def: inter.Selection.SimilarityThreshold, min: "0", max: "1"},
	},
	"Soundings":           soundingFields,
	"Model":               modelFields,
	"Ballots":             ballotFields,
	"CostAware":           costFields,
	"Pareto":              paretoFields,
	"HumanEval":           humanEvalFields,
	"Adaptive":            adaptiveFields,
	"Reforge":             reforgeFields,
	"HumanInput":          humanFields,
	"DecisionPoints":      decisionFields,
	"Audibles":            audibleFields,
	"Memory":              memoryFields,
	"Continuity":          continuityFields,
	"Trigger":             triggerFields,
	"Wait":                waitFields,
	"Alternative":         alternativeFields,
	"Option":              optionFields,
	"Field":               formFields,
	"TokenBudget":         tokenBudget(),
	"TokenBudgetOverride": tokenOverride,
	"Summarizer": {
		"model":       {text: "The model that sums up; by default summarizer_model of the guard, else the phase's own.", examples: []any{"gpt-5-nano"}},
		"target_size": {text: "The tokens of a summary; by default a tenth of the request, at most 4,000.", min: "1", max: manyTokens},
	},
	"Budget": {
		"max_usd":     {text: "The most that the run may cost, in US dollars. 0 is no limit.", def: 0, min: "0"},
		"max_tokens":  {text: "The most tokens, in and out together. 0 is no limit.", def: 0, min: "0", max: manyTokens},
		"max_seconds": {text: "The longest the run may take, in seconds. 0 is no limit.", def: 0, min: "0"},
	},
	"InlineValidator": {
		"instructions": {text: "What the model is to judge, a template over content, original_input, has_images and image_count. It answers {valid, reason}."},
		"model":        {text: "The model that judges; by default the phase's."},
		"max_turns":    {text: "How often the model is asked until its answer is a verdict.", def: 1, min: "1", max: manyTurns},
	},
	"Tool": {
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
		"approve":       {text: "Each call of the tool waits until a person allows it, denies it or edits its arguments.", def: false},
	},
	"Phase": {
		"name":              {text: "The phase's name, unique in the cascade. Templates read its result as outputs.NAME.", pattern: phaseName, examples: []any{"research"}},
		"instructions":      {text: "The task for the model, a template. A phase has either instructions or a tool.", examples: []any{"Find out why {{ input.service }} fails."}},
		"model":             {text: "The model of this phase.", examples: []any{"gpt-5-mini"}},
		"fallback_models":   {text: "The models that replace this phase's model when it cannot be reached; an empty list: none.", examples: []any{[]string{"claude-haiku-4-5"}}},
		"temperature":       {text: "The sampling temperature; by default the model's own.", min: "0", max: "2"},
		"max_output_tokens": {text: "The most tokens of one answer.", min: "1", max: manyTokens},
		"model_options":     {text: "Further options, passed to the provider as they are.", examples: []any{map[string]any{"reasoning_effort": "low"}}},
		"tackle":            {text: "The names of the tools that the model may call.", examples: []any{[]string{"list_files", "read_file"}}},
		"use_native_tools":  {text: "Call tools through the provider's protocol. If false, they are described in the prompt and calls are read from the answer's JSON blocks.", def: true},
		"intra_context":     {text: "How older messages are shortened in this phase: auto_context.intra_phase, field by field.", examples: []any{map[string]any{"loop_history_limit": 2}}},
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
		"after":             {text: "The phases that must have ended before this one runs. As soon as one phase has it, phases that do not wait for each other run in parallel.", examples: []any{[]string{"fetch", "rules"}}},
		"for_each":          {text: "Runs the phase once for each element of a list; its output is the list of the outputs.", examples: []any{map[string]any{"items": "outputs.plan.files", "as": "file"}}},
		"sub_cascades":      {text: "Other cascades that run, in order, before the phase's first call. Templates of the phase see their outputs as subs.NAME.", examples: []any{[]any{map[string]any{"ref": "research.json", "input_map": map[string]string{"topic": "{{ input.topic }}"}}}}},
		"async_cascades":    {text: "Other cascades that run in the background. The end of the run waits for them, unless they are detached.", examples: []any{[]any{map[string]any{"ref": "notify", "trigger": "on_end"}}}},
		"wards":             {text: "Validators before the phase, after each answer and after its end.", examples: []any{map[string]any{"pre": []any{map[string]any{"validator": "allowed", "mode": "blocking"}}}}},
		"wait":              {text: "What the phase waits for, and does nothing else: a signal, or the first of several signals and the answer of a person.", examples: []any{map[string]any{"signal": "deployed"}}},
		"human_input":       {text: "Asks a person when the phase has its output; the run waits for the answer, which is in state.human_NAME. true asks whether the output is right.", examples: []any{map[string]any{"type": "confirmation", "prompt": "Publish it?"}}},
		"decision_points":   {text: "Lets the model ask a person to decide, by a decision in its output; what follows depends on the answer. true lets the model say what follows.", examples: []any{map[string]any{"routing": map[string]any{"again": waiting.ActionRetry}}}},
		"audibles":          {text: "Lets people say something to the model while the phase runs, before its next turn; windlass audible does. In place of those of the cascade.", examples: []any{map[string]any{"budget": 5}}},
		"memory":            {text: "The bank of memory that the phase uses, by the tool memory, in place of that of the cascade; false is none.", examples: []any{"notes", "shared:house-style", false}},
		"continuity":        {text: "What goes on in the phase's conversation where its messages do not; each setting comes in place of that of the cascade.", examples: []any{map[string]any{"groups": 5, "state_block": true}}},
		"soundings":         {text: "Runs the phase several times, each time in a context of its own, keeps the best answer, and refines it.", examples: []any{map[string]any{"factor": 3, "evaluator_instructions": "Which answer is complete and correct?"}}},
	},
	"Wards": {
		"pre":  {text: "Validators of the rendered input, before anything is paid for."},
		"turn": {text: "Validators of each answer."},
		"post": {text: "Validators of the output, after output_schema and loop_until."},
	},
	"Ward": {
		"validator":    {text: "The validator, as in loop_until. A ward with a validator alone may be written as its name.", pattern: notEmpty},
		"mode":         {text: "What becomes of what it rejects: blocking fails the phase, retry begins the next attempt with the reason, advisory records a warning.", def: cascade.WardBlocking},
		"max_attempts": {text: "With the mode retry: how often this ward begins another attempt; then it is blocking.", def: 1, min: "1", max: manyTurns},
	},
	"SubCascade": {
		"ref":         {text: "The other cascade: a path relative to this file, or a cascade_id.", pattern: notEmpty, examples: []any{"research.json"}},
		"name":        {text: "The name of its output in subs; by default its cascade_id.", pattern: phaseName},
		"input_map":   {text: "Its input, by name: a template, or the name of a value of state or input.", examples: []any{map[string]string{"topic": "{{ input.topic }}"}}},
		"context_in":  {text: "It also gets the state and the input of this run, as input.", def: false},
		"context_out": {text: "Its state becomes part of this run's.", def: false},
	},
	"AsyncCascade": {
		"ref":        {text: "The other cascade: a path relative to this file, or a cascade_id.", pattern: notEmpty, examples: []any{"notify"}},
		"name":       {text: "Its name in the record; by default its cascade_id.", pattern: phaseName},
		"trigger":    {text: "When it begins: on_start with the phase, on_end when the phase has ended well.", def: cascade.TriggerOnStart},
		"input_map":  {text: "Its input, by name: a template, or the name of a value of state or input.", examples: []any{map[string]string{"report": "{{ outputs.report }}"}}},
		"context_in": {text: "It also gets the state and the input of this run, as input.", def: false},
		"detach":     {text: "The end of the run does not wait for it.", def: false},
	},
	"ForEach": {
		"items":        {text: "The list: the list itself, a template whose text is a JSON list, or the path of a list such as outputs.plan.files, state.files or input.files.", examples: []any{"outputs.plan.files", []string{"de", "fr"}}},
		"as":           {text: "The variable of the element in templates; NAME_index is its number from 0.", def: cascade.DefaultAs, pattern: `^[A-Za-z_][A-Za-z0-9_]*$`},
		"max_parallel": {text: "How many elements run at a time.", def: cascade.DefaultMaxParallel, min: "1", max: manyParallel},
		"on_error":     {text: "When an element fails: fail lets no further element begin and fails the phase, skip leaves it out, collect puts {\"error\", \"item\"} in its place.", def: cascade.ItemFail},
	},
	"Rules": {
		"max_turns":          {text: "The most turns of one attempt: 1 by default, 25 with tools. A turn is one model call with the tool results that answer it.", min: "1", max: manyTurns},
		"max_attempts":       {text: "How often the phase is tried until its answer passes: 1 by default, 3 with an output_schema.", min: "1", max: manyTurns},
		"loop_until":         {text: "The validator that the answer must pass: the name of a validator or a declared tool, or " + strings.Join(validators.Builtins(), ", ") + ".", examples: validatorExamples()},
		"check":              {text: "When loop_until is asked: when an attempt ends, or also after every turn before, which can end the attempt early.", def: "attempt"},
		"loop_until_prompt":  {text: "What the model is told about the check, a template, in place of the built-in text."},
		"loop_until_silent":  {text: "Do not tell the model what will be checked.", def: false},
		"retry_instructions": {text: "What the model is told when an attempt failed, a template.", examples: []any{"It was refused: {{ validation_error }}. Try again."}},
		"turn_prompt":        {text: "The prompt of the second and later turns, a template. With it the model is asked again until max_turns or, with \"check\": \"every_turn\", until loop_until passes."},
		"approve":            {text: "The tools whose calls wait until a person allows them, denies them or edits their arguments: names, in which * stands for any characters. A phase that runs a tool has of its rules only this one.", items: &field{pattern: toolPattern}, examples: []any{[]string{"write_*", "deploy"}}},
		"require_tools":      {text: "Refuse the cascade when a tool of the phase is known but cannot be offered; otherwise that is a warning.", def: false},
		"on_exhausted":       {text: "What becomes of the phase when no attempt passed: fail, or continue with the last answer as its output and a warning.", def: cascade.ExhaustedFail},
		"allow_empty":        {text: "Whether an answer without text is an answer. If not, the model is asked once more, and then the phase fails.", def: false},
	},
	"Handoff": {
		"target":      {text: "The phase to run."},
		"description": {text: "Tells the model when to choose it."},
	},
	"Retry": {
		"max_attempts":         {text: "How often the tool is tried in all.", def: 1, min: "1", max: manyTurns},
		"backoff":              {text: "How the wait between tries grows.", def: cascade.BackoffNone},
		"backoff_base_seconds": {text: "The first wait, in seconds.", def: 1, min: "0", max: "86400"},
	},
	"Context": {
		"mode":          {text: "Who chooses what comes in: explicit is what from lists, auto also selects what the phase needs of earlier ones: anchors first, then messages by selection.", def: cascade.ContextExplicit},
		"from":          {text: "The phases whose results come in: names, all, first, previous (prev), or objects that say more.", examples: []any{[]string{"all"}, "previous"}},
		"exclude":       {text: "The phases that all leaves out, and anchors and selection with the mode auto."},
		"include_input": {text: "Whether the run's input comes in. By default it does, unless the instructions use it themselves."},
		"anchors":       {text: "With the mode auto: what comes in whatever is selected. auto_context.inter_phase.anchors, field by field.", examples: []any{map[string]any{"from_phases": []string{"research"}}}},
		"selection":     {text: "With the mode auto: how messages of earlier phases are chosen. auto_context.inter_phase.selection, field by field.", examples: []any{map[string]any{"strategy": "hybrid", "max_tokens": 20000}}},
	},
	"Source": {
		"phase":           {text: "A phase's name, or all, first, previous (prev)."},
		"include":         {text: "What comes in: output and images by default."},
		"messages_filter": {text: "Which of the phase's messages come in.", def: cascade.MessagesAll},
		"as_role":         {text: "The role of the message that brings it in.", def: "user", enum: []any{"user", "system"}},
		"condition":       {text: "A template; when it renders as nothing, false, 0 or none, the source is left out.", examples: []any{"{{ state.broken }}"}},
	},
	"Callouts": {
		"output":          {text: "A template for the name of the output's callout."},
		"messages":        {text: "A template for the name of the messages' callouts."},
		"messages_filter": {text: "Which of the phase's messages are marked.", def: cascade.MessagesAll},
	},
}

var tokenOverride = map[string]field{
	"max_total":          {text: "The most tokens of one request and its answer. The model's window still holds where it is smaller.", min: "1", max: manyTokens, examples: []any{60000}},
	"reserve_for_output": {text: "The tokens of max_total that are kept for the answer. Default: the phase's max_output_tokens; else what the model can answer, at most a quarter of its window.", min: "1", max: manyTokens, examples: []any{8000}},
	"strategy":           {text: "What makes room near the ceiling: summarize takes the guard's steps, prune_oldest removes the oldest tool results and then leaves out the oldest turns, sliding_window leaves out the oldest turns, fail fails the phase at the first request above the ceiling."},
	"warning_threshold":  {text: "The share of the ceiling above which a request is warned of. Default: the guard's warn_percent.", above: "0", max: "1", examples: []any{0.8}},
}

// tokenBudget describes the keys of tokenOverride, with the default that those inherit.
func tokenBudget() map[string]field {
	f := maps.Clone(tokenOverride)
	strategy := f["strategy"]
	strategy.def = cascade.BudgetSummarize
	f["strategy"] = strategy
	total := f["max_total"]
	total.def = settings.DefaultMaxTotal
	f["max_total"] = total
	f["summarizer"] = field{text: "How older messages are summed up to keep the ceiling.", examples: []any{map[string]any{"model": "gpt-5-nano", "target_size": 1000}}}
	f["phase_overrides"] = field{
		text:     "Other values for single phases, by the phase's name; a number is max_total. What is not set inherits.",
		examples: []any{map[string]any{"research": map[string]any{"max_total": 120000}}},
	}
	return f
}

func validatorExamples() []any {
	var out []any
	for _, v := range validators.Builtins() {
		out = append(out, v)
	}
	return out
}
