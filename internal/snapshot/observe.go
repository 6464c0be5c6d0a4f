package snapshot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
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

// Usual returns the aspects that are compared when nobody chooses. The wording of a prompt is none of them.
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

func (o *Observed) has(a Aspect) bool {
	switch a {
	case Phases:
		return o.Phases != nil
	case Routes:
		return o.Routes != nil
	case Tools:
		return o.Tools != nil
	case Output:
		return o.Output != nil
	case State:
		return o.State != nil
	default:
		return o.Context != nil
	}
}

// only returns the chosen aspects.
func (o Observed) only(chosen []Aspect) Observed {
	var out Observed
	for _, a := range chosen {
		switch a {
		case Phases:
			out.Phases = o.Phases
		case Routes:
			out.Routes = o.Routes
		case Tools:
			out.Tools = o.Tools
		case Output:
			out.Output = o.Output
		case State:
			out.State = o.State
		case Context:
			out.Context = o.Context
		}
	}
	return out
}

// Observe reads off the entries of a run, in their order, what it came to. Only what counts of a record belongs in it, see
// engine.Counted.
func Observe(entries []*echo.Entry) Observed {
	o := Observed{Routes: []string{}, Tools: []ToolCall{}, Output: json.RawMessage("null"), State: map[string]any{}, Context: []string{}}
	phases := phaseLines{}
	words := map[echo.Hash]string{}
	for _, e := range entries {
		if e.Message != nil {
			words[e.Message.Hash()] = excerpt(e.Message)
		}
		phases.read(e)
		o.read(e)
		o.Context = append(o.Context, contextLines(e, words)...)
	}
	o.Phases = phases.lines()
	slices.SortStableFunc(o.Tools, inTurn)
	return o
}

// read takes what an entry says of routes, tools, output and state.
func (o *Observed) read(e *echo.Entry) {
	switch e.NodeType {
	case echo.NodeRoute:
		d, _ := echo.Read[echo.Route](e) // what cannot be read shows as nothing
		o.Routes = append(o.Routes, fmt.Sprintf("%s -> %s (%s)", cmp.Or(d.From, "begin"), cmp.Or(d.To, "end"), d.Reason))
	case echo.NodeToolCall:
		if e.Tool == nil {
			return
		}
		c := ToolCall{At: e.Key, Tool: e.Tool.Name, Arguments: shorten(valueOf(e.Tool.Arguments))}
		if e.Error != nil {
			c.Failed = e.Error.Kind
		}
		o.Tools = append(o.Tools, c)
	case echo.NodeState:
		if d, err := echo.Read[echo.State](e); err == nil {
			o.State[d.Key] = d.Value
		}
	case echo.NodePhaseEnd:
		if d, err := echo.Read[echo.PhaseEnd](e); err == nil && d.Output != nil {
			o.State["output_"+e.Phase] = d.Output
		}
	case echo.NodeRunEnd:
		if d, err := echo.Read[echo.RunEnd](e); err == nil && d.Output != nil {
			o.Output = encoded(d.Output)
		}
	}
}

// inTurn puts the calls of one turn, which may have ended in any order, into the order in which the model made them.
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

// phaseLines puts together how each visit to a phase went.
type phaseLines struct {
	order  []echo.Key // of visits
	ends   map[echo.Key]string
	checks map[echo.Key][]string
	run    string
}

func (p *phaseLines) read(e *echo.Entry) {
	if p.ends == nil {
		p.ends, p.checks = map[echo.Key]string{}, map[echo.Key][]string{}
	}
	visit := e.Key.VisitKey()
	switch e.NodeType {
	case echo.NodePhaseStart:
		p.order = append(p.order, visit)
	case echo.NodeVerdict:
		d, _ := echo.Read[echo.Verdict](e)
		line := fmt.Sprintf("  attempt %d: %s accepts", e.Attempt, d.Validator)
		if !d.Valid {
			line = fmt.Sprintf("  attempt %d: %s refuses: %s", e.Attempt, d.Validator, oneLine(d.Reason))
		}
		p.checks[visit] = append(p.checks[visit], line)
	case echo.NodePhaseEnd:
		d, _ := echo.Read[echo.PhaseEnd](e)
		p.ends[visit] = endLine(e, &d)
	case echo.NodeRunEnd:
		d, _ := echo.Read[echo.RunEnd](e)
		p.run = endLine(e, &echo.PhaseEnd{Status: d.Status, Reason: d.Reason})
	}
}

func endLine(e *echo.Entry, d *echo.PhaseEnd) string {
	line := fmt.Sprintf("%s (%s)", d.Status, d.Reason)
	if d.Attempts > 0 {
		line += fmt.Sprintf(", attempts %d", d.Attempts)
	}
	if d.Turns > 0 {
		line += fmt.Sprintf(", turns %d", d.Turns)
	}
	if e.Error != nil {
		line += ": " + oneLine(e.Error.Message)
	}
	return line
}

func (p *phaseLines) lines() []string {
	var out []string
	for _, visit := range p.order {
		out = append(out, visit.String()+": "+cmp.Or(p.ends[visit], "did not end"))
		out = append(out, p.checks[visit]...)
	}
	return append(out, "run: "+cmp.Or(p.run, "did not end"))
}

// contextLines says what a model call was sent: of the view of a phase's own call what changed since the one before, and of
// every call what identifies the whole request.
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

// excerptLength is how many characters of a message are shown where it is named.
const excerptLength = 60

func excerpt(m *echo.Message) string {
	text := oneLine(m.Text())
	for _, c := range m.ToolCalls() {
		text = strings.TrimSpace(text + " " + c.Name + "()")
	}
	if r := []rune(text); len(r) > excerptLength {
		text = string(r[:excerptLength]) + "…"
	}
	return fmt.Sprintf("%s %q", m.Role(), text)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// longest is how many characters of a text in a tool's arguments are kept. A file that is written belongs to the answer
// that wrote it; here it is enough to know whether it is the same.
const longest = 200

// shorten puts a digest in the place of long texts.
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

// encoded encodes a value that came out of JSON.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("snapshot: cannot encode its own data: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}
