package snapshot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/oneline"
)

// Aspect is one thing that a test compares.
type Aspect string

// The aspects.
const (
	Phases  Aspect = "phases"  // which ran, how each ended, what its checks said; and how the run ended
	Routes  Aspect = "routes"  // which phase followed which, and why
	Tools   Aspect = "tools"   // the calls of tools with their arguments
	Output  Aspect = "output"  // of the run
	State   Aspect = "state"   // what was stored, and what each phase put out
	Context Aspect = "context" // what each model call was sent
)

// Aspects returns all of them, in the order in which they are shown.
func Aspects() []Aspect { return []Aspect{Phases, Routes, Tools, Output, State, Context} }

// Usual returns the aspects that are compared by default, without the wording of prompts.
func Usual() []Aspect { return []Aspect{Phases, Routes, Tools, Output, State} }

// Observed is what a run came to. An aspect that nobody chose is nil.
type Observed struct {
	Phases  []string        `json:"phases,omitzero"`
	Routes  []string        `json:"routes,omitzero"`
	Tools   []ToolCall      `json:"tools,omitzero"`
	Output  json.RawMessage `json:"output,omitzero"` // null: there is none
	State   map[string]any  `json:"state,omitzero"`
	Context []string        `json:"context,omitzero"`
}

// ToolCall is a call that was made of a tool, the engine's own among them.
type ToolCall struct {
	At        echo.Key `json:"at"`
	Tool      string   `json:"tool"`
	Arguments any      `json:"arguments"` // what is no JSON is a string
	Failed    string   `json:"failed,omitempty"`
}

// field returns what an aspect is in: there is a field for each, in their order.
func (o *Observed) field(a Aspect) reflect.Value {
	return reflect.ValueOf(o).Elem().Field(slices.Index(Aspects(), a))
}

func (o *Observed) has(a Aspect) bool { return !o.field(a).IsNil() }

func (o Observed) only(chosen []Aspect) Observed {
	for _, a := range Aspects() {
		if !slices.Contains(chosen, a) {
			o.field(a).SetZero()
		}
	}
	return o
}

// Observe returns what a run came to of which these entries are recorded.
func Observe(entries []*echo.Entry) Observed {
	f := record.Of(entries)
	o := Observed{
		Phases: phaseLines(f), Routes: []string{}, Tools: []ToolCall{}, Output: json.RawMessage("null"), State: stateOf(f), Context: []string{},
	}
	for _, r := range f.Routes() {
		o.Routes = append(o.Routes, fmt.Sprintf("%s -> %s (%s)", cmp.Or(r.From, "begin"), cmp.Or(r.To, "end"), r.Reason))
	}
	if end := f.End(); end.Output != nil {
		o.Output = encoded(end.Output)
	}
	words := map[echo.Hash]string{}
	counted := f.Counted()
	order, parallel := orderOf(f)
	if parallel {
		counted = slices.Clone(counted)
		slices.SortStableFunc(counted, func(a, b *echo.Entry) int { return order.compare(a.Key, b.Key) })
		slices.Sort(o.Routes)
	}
	o.Tools = append(o.Tools, childCalls(f)...)
	for _, e := range counted {
		if e.Message != nil {
			words[e.Message.Hash()] = excerpt(e.Message)
		}
		if e.NodeType == echo.NodeToolCall && e.Tool != nil {
			o.Tools = append(o.Tools, toolCall(e))
		}
		o.Context = append(o.Context, contextLines(e, words)...)
	}
	slices.SortStableFunc(o.Tools, func(a, b ToolCall) int {
		if parallel {
			return cmp.Or(order.compare(a.At, b.At), inTurn(a, b))
		}
		return inTurn(a, b)
	})
	return o
}

func toolCall(e *echo.Entry) ToolCall {
	c := ToolCall{At: e.Key, Tool: e.Tool.Name, Arguments: shorten(valueOf(e.Tool.Arguments))}
	if e.Error != nil {
		c.Failed = e.Error.Kind
	}
	return c
}

func stateOf(f *record.Fold) map[string]any {
	state := map[string]any{}
	for _, v := range visitsOf(f) {
		for _, name := range v.State {
			state[name] = f.State(name)
		}
		if v.Output != nil {
			state[cascade.StateOutputPrefix+v.Phase] = v.Output
		}
	}
	return state
}

func inTurn(a, b ToolCall) int {
	if a.At.Place() != b.At.Place() {
		return 0
	}
	return callNumber(a.At) - callNumber(b.At)
}

func callNumber(key echo.Key) int {
	p := key.Path()
	return p.InTurn().Number
}

func phaseLines(f *record.Fold) []string {
	const open = "did not end"
	var out []string
	for _, v := range visitsOf(f) {
		line := open
		if v.Status.IsDone() {
			line = endLine(v.Status, v.Reason, v.Attempts, v.Turns, v.Error)
		}
		out = append(out, v.Key.String()+": "+line)
		for _, d := range v.Verdicts {
			out = append(out, verdictLine(&d))
		}
		out = append(out, branchLines(f, v.Key)...)
	}
	out = append(out, wholeLines(f)...)
	line := open
	if end := f.End(); end.Whole {
		line = endLine(end.Status, end.Reason, 0, 0, end.Error)
	}
	return append(out, "run: "+line)
}

func verdictLine(d *record.Verdict) string {
	who := d.Validator
	if d.Ward != "" {
		who = fmt.Sprintf("ward %s (%s) %s", d.Ward, d.Mode, d.Validator)
	}
	at := fmt.Sprintf("attempt %d", d.Attempt)
	if d.Attempt == 0 {
		at = "before the first attempt"
	}
	if d.Valid {
		return fmt.Sprintf("  %s: %s accepts", at, who)
	}
	return fmt.Sprintf("  %s: %s refuses: %s", at, who, oneline.Of(d.Reason))
}

func endLine(status echo.Status, reason echo.StopReason, attempts, turns int, problem string) string {
	line := fmt.Sprintf("%s (%s)", status, reason)
	if attempts > 0 {
		line += fmt.Sprintf(", attempts %d", attempts)
	}
	if turns > 0 {
		line += fmt.Sprintf(", turns %d", turns)
	}
	if problem != "" {
		line += ": " + oneline.Of(problem)
	}
	return line
}

// contextLines says what a call was sent: what changed of a view, and what identifies a request.
func contextLines(e *echo.Entry, words map[echo.Hash]string) []string {
	var out []string
	switch {
	case e.NodeType == echo.NodeModelCall:
		out = append(out, fmt.Sprintf("%s asks %s: request %.16s", e.Key, e.Model, e.RequestHash))
	case e.NodeType == echo.NodeSelection && e.Selection != nil:
		for i := range e.Selection.Spans {
			s := &e.Selection.Spans[i]
			for j, h := range s.Hashes {
				line := fmt.Sprintf("%s %d %s (%s) %s", e.Key.Place(), s.From+j+1, s.Form, s.Reason, h)
				if j < len(s.Sent) {
					for _, m := range s.Sent[j] {
						line += " as " + string(m.Hash()) + " " + excerpt(m)
					}
				} else {
					line += " " + words[h]
				}
				out = append(out, line)
			}
		}
	}
	return out
}

const excerptLength = 60

func excerpt(m *echo.Message) string {
	text := oneline.Of(m.Text())
	for _, c := range m.ToolCalls() {
		text = strings.TrimSpace(text + " " + c.Name + "()")
	}
	if r := []rune(text); len(r) > excerptLength {
		text = string(r[:excerptLength]) + "…"
	}
	return fmt.Sprintf("%s %q", m.Role(), text)
}

// longest is how many characters of a text in a tool's arguments are kept.
const longest = 200

func shorten(value any) any {
	switch v := value.(type) {
	case string:
		n := utf8.RuneCountInString(v)
		if n <= longest {
			return v
		}
		sum := sha256.Sum256([]byte(v))
		return fmt.Sprintf("%s… (%d characters, sha256 %s)", string([]rune(v)[:longest/2]), n, hex.EncodeToString(sum[:8]))
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shorten(v[k])
		}
	}
	return value
}

// valueOf reads a text as JSON; what is none stays a text.
func valueOf(text string) any {
	var v any
	if !json.Valid([]byte(text)) || decode([]byte(text), &v) != nil {
		return text
	}
	return v
}

func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(into)
}

func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("snapshot: cannot encode its own data: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}
