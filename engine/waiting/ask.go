package waiting

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// The tools by which a run asks people and other runs.
const (
	ToolAsk      = "ask_human"
	ToolAskForm  = "ask_human_custom"
	ToolDecision = "request_decision"
	ToolAwait    = "await_signal"
	ToolFire     = "fire_signal"
)

// DefaultMost is the highest of a rating that says none.
const DefaultMost = 5

// MaxHTML is how long the HTML of a question may be, in bytes.
const MaxHTML = 1 << 20

// MaxOptions is how many options a form has at most.
const MaxOptions = 64

const optionSchema = `{"anyOf":[{"type":"string","minLength":1},{"type":"object","additionalProperties":false,"required":["id"],"properties":{` +
	`"id":{"type":"string","minLength":1},"label":{"type":"string"},"description":{"type":"string"},"style":{"type":"string"}}}]}`

var specs = []effect.ToolSpec{
	{
		Name: ToolAsk, Idempotent: true,
		Description: "Ask the person who runs this work a question, and wait for the answer. Ask only what you cannot find out yourself.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["question"],"properties":{` +
			`"question":{"type":"string","minLength":1},` +
			`"context":{"type":"string","description":"what the person should know to answer"},` +
			`"ui_hint":{"enum":["confirmation","text","rating","review"],"description":"how it is answered: yes or no, a text (the default), a number, or approved with feedback"}}}`),
	},
	{
		Name: ToolAskForm, Idempotent: true,
		Description: "Ask the person who runs this work to choose among options, and wait for the answer.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["question"],"properties":{` +
			`"question":{"type":"string","minLength":1},` +
			`"options":{"type":"array","minItems":1,"maxItems":64,"items":` + optionSchema + `},` +
			`"data":{"description":"what the person should see to answer: any JSON value"},` +
			imagesSchema +
			`"ui_hint":{"enum":["choice","multi_choice","confirmation","text","rating","review"],"description":"how it is answered; with options a choice is the default, else a text"}}}`),
	},
	{
		Name: ToolDecision, Idempotent: true,
		Description: "Have a person decide between options that you describe, and wait for the decision.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["question","options"],"properties":{` +
			`"question":{"type":"string","minLength":1},` +
			`"options":{"type":"array","minItems":1,"maxItems":64,"items":` + optionSchema + `},` +
			`"context":{"type":"string"},"severity":{"enum":["info","warning","critical"]},` +
			`"html":{"type":"string","minLength":1,"description":"a document that the person sees with the question, with inline styles and images as data: addresses; scripts, links and forms do nothing in it"},` +
			`"allow_custom":{"type":"boolean","description":"a text of the person's own is an answer, too"},` +
			`"timeout_seconds":{"type":"number","exclusiveMinimum":0,"maximum":31536000}}}`),
	},
	{
		Name: ToolAwait, Idempotent: true,
		Description: "Wait for a signal that another run, a script or a person sends by its name. A signal that was sent before is there at once.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["signal_name"],"properties":{` +
			`"signal_name":{"type":"string","minLength":1,"maxLength":200},` +
			`"timeout":{"type":"number","exclusiveMinimum":0,"maximum":31536000,"description":"seconds; without it the wait has no end"},` +
			`"description":{"type":"string","description":"what the signal means, for people"}}}`),
	},
	{
		Name:        ToolFire,
		Description: "Send a signal by its name. A run that waits for it, or will wait for it, gets it with its payload.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["signal_name"],"properties":{` +
			`"signal_name":{"type":"string","minLength":1,"maxLength":200},` +
			`"payload":{"description":"any JSON value"},` +
			`"session_id":{"type":"string","minLength":1,"description":"the session that is to get it; without it whichever waits first"}}}`),
	},
}

// Spec returns what a model is told of one of these tools.
func Spec(tool string) effect.ToolSpec {
	if tool == ToolAny {
		return anySpec
	}
	return specs[slices.IndexFunc(specs, func(s effect.ToolSpec) bool { return s.Name == tool })]
}

// imagesSchema is what the arguments of [ToolAskForm] have since rules 5 of the engine.
const imagesSchema = `"images":{"type":"array","minItems":1,"maxItems":8,"items":{"type":"string","minLength":1},"description":"paths of png, jpeg, gif or webp files that the person should see to answer, at most 4 MiB each and 8 MiB together"},`

// SpecWithoutImages is [Spec] of a tool as sessions have it that began under rules of the engine before 5.
func SpecWithoutImages(tool string) effect.ToolSpec {
	s := Spec(tool)
	s.Parameters = json.RawMessage(strings.Replace(string(s.Parameters), imagesSchema, "", 1))
	return s
}

// Asks reports whether a tool waits for an answer.
func Asks(tool string) bool {
	return tool == ToolAsk || tool == ToolAskForm || tool == ToolDecision || tool == ToolAwait
}

// Waits reports whether a phase waits by it: a tool that asks, or [ToolAny].
func Waits(tool string) bool { return Asks(tool) || tool == ToolAny }

// asked is what the tools are called with, all of them together.
type asked struct {
	Question    string
	Context     string
	Hint        echo.FormKind     `json:"ui_hint"`
	Options     []json.RawMessage `json:"options"`
	Data        any
	HTML        string
	Severity    string
	AllowCustom bool    `json:"allow_custom"`
	Seconds     float64 `json:"timeout_seconds"`

	Signal      string `json:"signal_name"`
	Timeout     float64
	Description string
}

// Of returns the wait of a call with arguments that its schema has let through; [ImagesOf] says which images it shows.
// The problem is for the model: there is no wait then.
func Of(tool string, args json.RawMessage) (w echo.Wait, problem string, err error) {
	if tool == ToolAny {
		return ofAny(args)
	}
	var in asked
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber() // what a person sees has the digits that the model wrote
	if err := dec.Decode(&in); err != nil {
		return w, "", fmt.Errorf("read arguments of %s: %w", tool, err)
	}
	if tool == ToolAwait {
		return echo.Wait{
			Kind: echo.WaitSignal, Signal: in.Signal, Timeout: in.Timeout, By: echo.AwaitedBy{Tool: tool, Note: in.Description},
		}, "", nil
	}
	f := &echo.Form{Question: in.Question, Context: in.Context, Severity: in.Severity, Custom: in.AllowCustom}
	if f.Options, problem = options(in.Options); problem != "" {
		return w, problem, nil
	}
	f.Kind = kindOf(tool, in.Hint, len(f.Options) > 0)
	isChoice := f.Kind == echo.FormChoice || f.Kind == echo.FormMultiChoice
	if isChoice != (len(f.Options) > 0) {
		return w, fmt.Sprintf("A %s %s options.", f.Kind, map[bool]string{true: "needs", false: "has no"}[isChoice]), nil
	}
	if f.Kind == echo.FormRating {
		f.Most = DefaultMost
	}
	if len(in.HTML) > MaxHTML {
		return w, fmt.Sprintf("The HTML has %d bytes, at most %d are shown.", len(in.HTML), MaxHTML), nil
	}
	f.Data, f.HTML = in.Data, in.HTML
	return echo.Wait{Kind: echo.WaitQuestion, Form: f, Timeout: in.Seconds, By: echo.AwaitedBy{Tool: tool}}, "", nil
}

func kindOf(tool string, hint echo.FormKind, hasOptions bool) echo.FormKind {
	switch {
	case tool == ToolDecision:
		return echo.FormChoice
	case hasOptions:
		return cmp.Or(hint, echo.FormChoice)
	}
	return cmp.Or(hint, echo.FormText)
}

// options reads options, which are texts or objects. Two with the same id could not be told apart.
func options(raw []json.RawMessage) (out []echo.Option, problem string) {
	for _, r := range raw {
		var o echo.Option
		if json.Unmarshal(r, &o) != nil {
			return nil, "An option is a text, or an object with an id."
		}
		if strings.TrimSpace(o.ID) == "" {
			return nil, "An option has an empty id."
		}
		if !IsPlain(o.ID) {
			return nil, fmt.Sprintf("The id %s of an option has a line break, or a character that is not seen. Write it as one line.", quoted(o.ID))
		}
		if slices.ContainsFunc(out, func(before echo.Option) bool { return before.ID == o.ID }) {
			return nil, fmt.Sprintf("Two options have the id %q.", o.ID)
		}
		out = append(out, o)
	}
	return out, ""
}
