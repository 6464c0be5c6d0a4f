// Package continuity has the settings of what lives longer than a phase: the bank of memory that a run uses, what the bank
// remembers by itself, and the file of the project that models are shown.
package continuity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/source"
)

// Memory names the bank of memory that a phase uses, and says what else of memory it has. In a file it is the name, an
// object, or false, which is none.
type Memory struct {
	Name        string   `json:"name,omitempty"`         // of the bank, as [memory.CheckName] wants it; "": none
	Remember    Remember `json:"remember,omitempty"`     // what the bank remembers by itself; "": nothing
	RecallTool  *bool    `json:"recall_tool,omitempty"`  // whether models can search in the bank; nil: where it remembers
	ProjectFile string   `json:"project_file,omitempty"` // a file of the project folder that stands in the system prompt; "": none
}

// Remember says what a bank remembers by itself of a visit to a phase.
type Remember string

// What can be remembered.
const (
	RememberOff      Remember = "off"
	RememberMessages Remember = "messages" // what was said and what tools answered
	RememberWinners  Remember = "winners"  // the answer that passed
)

// On reports whether there is a bank.
func (m *Memory) On() bool { return m != nil && m.Name != "" }

// Remembers reports whether the bank remembers by itself.
func (m *Memory) Remembers() bool {
	return m.On() && m.Remember != "" && m.Remember != RememberOff
}

// Tool returns the name of the tool by which models search in the bank; "" where they cannot.
func (m *Memory) Tool() string {
	if !m.On() || m.RecallTool != nil && !*m.RecallTool || m.RecallTool == nil && !m.Remembers() {
		return ""
	}
	return memory.RecallTool(m.Name)
}

// UnmarshalJSON reads a name, an object or false.
func (m *Memory) UnmarshalJSON(text []byte) error {
	*m = Memory{}
	switch document.KindOf(text) {
	case 'n', 'f':
		return nil
	case '"':
		return json.Unmarshal(text, &m.Name)
	}
	type plain Memory
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(m))
}

// MarshalJSON writes the name, an object where there is more to say, or false.
func (m Memory) MarshalJSON() ([]byte, error) {
	switch m {
	case Memory{}:
		return []byte("false"), nil
	case Memory{Name: m.Name}:
		return json.Marshal(m.Name)
	}
	type plain Memory
	return json.Marshal(plain(m))
}

// Phase is what the rules have to know of a phase.
type Phase struct {
	At     document.Place
	Title  string
	Model  bool                       // it asks a model
	Tool   string                     // the tool that a phase without a model runs
	Inputs map[string]json.RawMessage // of that tool; strings in them are templates
	Uses   []string                   // the tools that its model is offered
	Own    *Memory                    // its memory
	Bank   string                     // the bank that it uses: its own, else that of the cascade
	Recall string                     // the tool that searches in that bank; "": none
	Taken  func(tool string) bool     // whether a tool has a name that is not in Uses
}

// CheckMemory holds the memory of a phase or a cascade against the rules that need no phase: an object says something, and
// names a bank where it says something about it; its file is in the project folder.
func CheckMemory(of document.Place, m *Memory) {
	at := of.Key("memory")
	n := at.Node()
	if m == nil || n == nil || n.Kind != source.Object || !of.Intact("memory") {
		return
	}
	const help = `write the name of one, as "notes"; false is no memory`
	switch {
	case len(n.Members) == 0:
		at.Error(document.CodeMissingKey, at.Describe()+" names no bank", help)
	case m.Name == "" && (m.Remember != "" || m.RecallTool != nil):
		at.Error(document.CodeMissingKey, at.Describe()+` names no bank, which "remember" and "recall_tool" are about`, help)
	}
	if problem := memory.CheckProjectFile(m.ProjectFile); m.ProjectFile != "" && problem != "" {
		at.KeyError("project_file", document.CodeInvalidValue, fmt.Sprintf("%q %s", m.ProjectFile, problem), `write its path below the project folder, as "MEMORY.md"`)
	}
}

// Check holds the memory of a phase against its rules.
func (p Phase) Check() {
	if p.Own != nil && (p.Own.On() || p.Own.ProjectFile != "") && !p.Model && p.Tool != memory.Tool {
		p.At.KeyError("memory", document.CodeMisplacedField,
			fmt.Sprintf("\"memory\" belongs to a phase that asks a model, or runs the tool %q; %s does neither", memory.Tool, p.Title), "remove it")
	}
	p.checkInputs()
	p.checkRecall()
	if p.Bank != "" || !p.At.Intact("memory") {
		return
	}
	help := `write "memory": "NAME", the name of a bank, in the phase or in the cascade`
	if p.Tool == memory.Tool {
		p.At.KeyError("tool", document.CodeMissingKey, fmt.Sprintf("%s runs the tool %q and has no bank", p.Title, memory.Tool), help)
	}
	for i, name := range p.Uses {
		if name == memory.Tool {
			p.At.Key("tackle").Element(i).Error(document.CodeMissingKey, fmt.Sprintf("%s offers the tool %q and has no bank", p.Title, memory.Tool), help)
		}
	}
}

// checkRecall demands that the tool that searches in the bank has a name of its own.
func (p Phase) checkRecall() {
	if p.Recall == "" || !p.Model || !slices.Contains(p.Uses, p.Recall) && !p.Taken(p.Recall) {
		return
	}
	at := p.At.Key("memory")
	if !p.Own.On() {
		at = p.At
	}
	at.Error(document.CodeShadowsBuiltin, fmt.Sprintf("the bank %q has a tool by which %s searches in it, %q, and there is another tool of that name", p.Bank, p.Title, p.Recall),
		`choose another name for the bank, or write "recall_tool": false`)
}

// checkInputs holds the inputs of a phase that runs the memory tool against what a command needs, where no template is
// in them.
func (p Phase) checkInputs() {
	if p.Tool != memory.Tool || p.Inputs == nil || !p.At.Intact("inputs") {
		return
	}
	for _, value := range p.Inputs {
		if bytes.Contains(value, []byte("{{")) || bytes.Contains(value, []byte("{%")) {
			return
		}
	}
	text, err := json.Marshal(p.Inputs)
	if err != nil {
		return
	}
	var problem string
	if c, err := memory.Read(text); err == nil {
		problem = c.CheckPaths()
	} else {
		problem = err.Error()
	}
	if problem = strings.TrimPrefix(problem, "Error: "); problem != "" {
		p.At.KeyError("inputs", document.CodeInvalidValue, fmt.Sprintf("%s runs the tool %q, which would refuse its inputs: %s", p.Title, memory.Tool, problem), "")
	}
}
