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
			`"ui_hint":{"enum":["choice","multi_choice","confirmation","text","rating","review"],"description":"how it is answered; with options a choice is the default, else a text"}}}`),
	},
	{
		Name: ToolDecision, Idempotent: true,
		Description: "Have a person decide between options that you describe, and wait for the decision.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["question","options"],"properties":{` +
			`"question":{"type":"string","minLength":1},` +
			`"options":{"type":"array","minItems":1,"maxItems":64,"items":` + optionSchema + `},` +
			`"context":{"type":"string"},"severity":{"enum":["info","warning","critical"]},` +
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
	return specs[slices.IndexFunc(specs, func(s effect.ToolSpec) bool { return s.Name == tool })]
}

// Asks reports whether a tool waits for an answer.
func Asks(tool string) bool {
	return tool == ToolAsk || tool == ToolAskForm || tool == ToolDecision || tool == ToolAwait
}

// asked is what the tools are called with, all of them together.
type asked struct {
	Question    string
	Context     string
	Hint        echo.FormKind     `json:"ui_hint"`
	Options     []json.RawMessage `json:"options"`
	Data        json.RawMessage
	Severity    string
	AllowCustom bool    `json:"allow_custom"`
	Seconds     float64 `json:"timeout_seconds"`

	Signal      string `json:"signal_name"`
	Timeout     float64
	Description string
}

// Of returns the wait of a call with arguments that its schema has let through. The problem is for the
// model: there is no wait then.
func Of(tool string, args json.RawMessage) (w echo.Wait, problem string, err error) {
	var in asked
	if err := json.Unmarshal(args, &in); err != nil {
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
	if len(in.Data) > 0 {
		f.Context = indented(in.Data)
	}
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
		if err := json.Unmarshal(r, &o.ID); err != nil {
			if err := json.Unmarshal(r, &o); err != nil {
				return nil, "An option is a text, or an object with an id."
			}
		}
		if strings.TrimSpace(o.ID) == "" {
			return nil, "An option has an empty id."
		}
		if slices.ContainsFunc(out, func(before echo.Option) bool { return before.ID == o.ID }) {
			return nil, fmt.Sprintf("Two options have the id %q.", o.ID)
		}
		out = append(out, o)
	}
	return out, ""
}

func indented(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}
