package schemagen

import (
	"encoding/json"
	"strconv"

	"github.com/invopop/jsonschema"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/cascade/people"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/waiting"
)

const (
	fieldName = `^[A-Za-z_][A-Za-z0-9_]*$`
	manyWait  = "31536000" // seconds: a year
)

// The ways to answer: of a phase, and of a field of a form.
var (
	fieldKinds = []any{echo.FormConfirmation, echo.FormChoice, echo.FormMultiChoice, echo.FormRating, echo.FormText}
	inputKinds = append(fieldKinds[:len(fieldKinds):len(fieldKinds)], echo.FormFields, echo.FormReview)
)

var humanFields = map[string]field{
	"type":            {text: "How it is answered: yes or no, one of the options, several of them, a number from 1 to 5, a text, the fields of a form, or approved with feedback. By default a text; with options a choice, with fields a form.", enum: inputKinds},
	"prompt":          {text: "What is asked, a template. Without it, whether the output is right.", pattern: notEmpty, examples: []any{"Publish {{ outputs.draft }}?"}},
	"options":         {text: "Of a choice: ids, or objects that say more.", minItems: 1, examples: []any{[]any{"now", map[string]any{"id": "later", "description": "with the next release"}}}},
	"fields":          {text: "Of a form: what is asked for.", minItems: 1, examples: []any{[]any{map[string]any{"name": "reason", "required": true}}}},
	"condition":       {text: "A template; when it renders as nothing, false, 0 or none, nobody is asked.", pattern: notEmpty, examples: []any{"{{ state.risky }}"}},
	"timeout_seconds": {text: "After how many seconds the wait ends without an answer. Without it the wait has no end.", above: "0", max: manyWait, examples: []any{3600}},
	"on_timeout":      {text: "What follows when nobody answers in time: continue without an answer, fail the phase, or take default_value as the answer.", def: people.Continue, enum: []any{people.Continue, people.Fail, people.Default}},
	"default_value":   {text: "With on_timeout default: the answer that is taken."},
}

var decisionFields = map[string]field{
	"trigger":         {text: "When a decision is asked: when the output has one.", def: "output", enum: []any{"output"}},
	"routing":         {text: "What follows from an option, by its id: a phase, _continue, _retry (the phase runs again with what the person says) or _abort (it fails). Without an entry, and where the option itself says nothing, the run continues.", examples: []any{map[string]any{"publish": "publish", "again": waiting.ActionRetry}}},
	"ui":              {text: "Of older files; not used."},
	"timeout_seconds": {text: "After how many seconds the wait ends without an answer. Without it the wait has no end.", above: "0", max: manyWait, examples: []any{3600}},
	"on_timeout":      {text: "What follows when nobody answers in time: continue without an answer, or fail the phase.", def: people.Continue, enum: []any{people.Continue, people.Fail}},
	"max_retries":     {text: "How often a person can have the phase run again; then nothing that does so is offered any more.", def: people.DefaultMaxRetries, min: "0", max: "100"},
}

var audibleFields = map[string]field{
	"enabled":     {text: "Whether people can say something to the phase while it runs.", def: true},
	"budget":      {text: "How many times in one visit of the phase; more is kept for the next phase.", def: people.DefaultAudibles, min: "1", max: "100"},
	"allow_retry": {text: "Whether a person can also take the newest answer back: the model is not sent it again.", def: true},
}

var continuityFields = map[string]field{
	"scratchpad":  {text: "Notes that the model keeps by the tool scratchpad, of the whole session: they stand near the end of every request.", def: false},
	"state_block": {text: "Has the model write the state of its work at the end of its answers, below ### STATE: the newest stands near the end of every request.", def: false},
	"groups":      {text: "How many of the newest groups of messages are sent: what was asked, with all that answers it. 0 sends all of them.", def: 0, min: "0", max: json.Number(strconv.Itoa(continuity.MaxGroups))},
	"memos":       {text: "Short facts that all sessions of the project share: tools that save and find them, and up to five that come to a turn by its words.", def: false},
}

var optionFields = map[string]field{
	"id":          {text: "What the answer says. An option of an id alone may be written as that.", pattern: notEmpty, examples: []any{"now"}},
	"label":       {text: "What a person reads; by default the id."},
	"description": {text: "What the option means."},
	"style":       {text: "How a page shows it, such as primary or danger."},
}

var formFields = map[string]field{
	"name":     {text: "The name of the value in the answer.", pattern: fieldName, examples: []any{"reason"}},
	"label":    {text: "What a person reads; by default the name."},
	"type":     {text: "How it is answered.", def: echo.FormText, enum: fieldKinds},
	"options":  {text: "Of a choice: ids, or objects that say more.", minItems: 1, examples: []any{[]string{"low", "high"}}},
	"required": {text: "Whether the form needs it.", def: false},
}

var waitFields = map[string]field{
	"signal":          {text: "The name of a signal, a template: the phase waits for it.", pattern: notEmpty, examples: []any{"deployed"}},
	"any":             {text: "The signals and the question of which the first that is there ends the wait.", minItems: 1, examples: []any{[]any{map[string]any{"signal": "deployed"}, map[string]any{"signal": "cancelled", "route": "stop"}}}},
	"timeout_seconds": {text: "After how many seconds the wait ends with the label timeout. Without it the wait has no end.", above: "0", max: manyWait, examples: []any{3600}},
	"description":     {text: "What is awaited, for people; a template."},
}

var alternativeFields = map[string]field{
	"signal": {text: "The name of a signal, a template.", pattern: notEmpty, examples: []any{"deployed"}},
	"ask":    {text: "What a person is asked: type, prompt, options and fields as in human_input."},
	"route":  {text: "The label of the output, _route, when the wait ends so; by default fired of a signal, answered of a question.", pattern: notEmpty, examples: []any{"stop"}},
}

var memoryFields = map[string]field{
	"name":         {text: "The bank: one of the project folder, or shared:NAME, which all projects share.", pattern: memory.NamePattern, examples: []any{"notes"}},
	"remember":     {text: "What the bank remembers by itself of a visit to a phase that ends well: messages, what was said and what tools answered; winners, the answer that passed; off, nothing.", def: continuity.RememberOff},
	"recall_tool":  {text: "Whether the model gets a tool of the bank's name that searches in all that the bank has, over all sessions. By default it does where the bank remembers by itself."},
	"project_file": {text: "A file of the project folder that stands in the system prompt as it is when the run begins, up to 16 KiB of it: its path there.", pattern: notEmpty, examples: []any{"MEMORY.md"}},
}

// addPeople adds the forms that package people decodes by hand.
func addPeople(set func(def, key string, forms ...*jsonschema.Schema), ref func(string) *jsonschema.Schema, defs jsonschema.Definitions) {
	set("Phase", "decision_points", &jsonschema.Schema{Type: "boolean", Enum: []any{true}}, ref("DecisionPoints"))
	for _, def := range []string{"Cascade", "Phase"} {
		set(def, "audibles", &jsonschema.Schema{Type: "boolean"}, ref("Audibles"))
		set(def, "memory", &jsonschema.Schema{Type: "string", Pattern: memory.NamePattern}, &jsonschema.Schema{Type: "boolean", Enum: []any{false}}, ref("Memory"))
	}
	set("Phase", "human_input", &jsonschema.Schema{Type: "boolean", Enum: []any{true}}, ref("HumanInput"))
	for _, def := range []string{"HumanInput", "Field"} {
		options, _ := defs[def].Properties.Get("options")
		options.Items = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: notEmpty}, ref("Option")}}
	}
}
