// Package continuity has the settings of what lives longer than a phase: the bank of memory that a run uses.
package continuity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/source"
)

// Memory names the bank of memory that a phase uses. In a file it is the name, an object, or false, which is none.
type Memory struct {
	Name string `json:"name,omitempty"` // of the bank, as [memory.CheckName] wants it; "": none
}

// On reports whether there is a bank.
func (m *Memory) On() bool { return m != nil && m.Name != "" }

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

// MarshalJSON writes the name, or false.
func (m Memory) MarshalJSON() ([]byte, error) {
	if m.Name == "" {
		return []byte("false"), nil
	}
	return json.Marshal(m.Name)
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
}

// CheckName demands that a memory that is an object names a bank. More may be wrong with it than that.
func CheckName(of document.Place) {
	at := of.Key("memory")
	if n := at.Node(); n != nil && n.Kind == source.Object && len(n.Members) == 0 {
		at.Error(document.CodeMissingKey, at.Describe()+" names no bank", `write the name of one, as "notes"; false is no memory`)
	}
}

// Check holds the memory of a phase against its rules.
func (p Phase) Check() {
	CheckName(p.At)
	if p.Own.On() && !p.Model && p.Tool != memory.Tool {
		p.At.KeyError("memory", document.CodeMisplacedField,
			fmt.Sprintf("\"memory\" belongs to a phase that asks a model, or runs the tool %q; %s does neither", memory.Tool, p.Title), "remove it")
	}
	p.checkInputs()
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
