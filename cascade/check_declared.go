package cascade

import (
	"cmp"
	"fmt"
	"slices"
)

type toolbox struct {
	list    []declared
	at      map[string]int // index in list by name
	builtin []string
	later   func(name string, d Diagnostic) // see Known; may be nil
	offered map[string]bool                 // the tools that the model of some phase can call
}

type declared struct {
	*Tool
	at   place
	uses []string // the arguments without which its templates cannot be rendered; nil: not looked at
}

func (t declared) title() string {
	if t.ToolID == "" {
		return describe(t.at)
	}
	return fmt.Sprintf("tool %q", t.ToolID)
}

func (b *toolbox) declare(t declared) {
	i, taken := b.at[t.ToolID]
	switch {
	case taken:
		t.at.key("tool_id").error(CodeDuplicateTool,
			fmt.Sprintf("two tools are called %q; the first is at %s", t.ToolID, b.list[i].at.key("tool_id")), "give each tool a name of its own")
	case t.ToolID != "":
		b.at[t.ToolID] = len(b.list)
	}
	b.list = append(b.list, t)
}

// declareFile adds a tool file's tool unless the cascade has one of the name itself.
func (b *toolbox) declareFile(t declared, ownCount int) {
	if i, taken := b.at[t.ToolID]; taken && i < ownCount {
		b.list[i].at.key("tool_id").warn(CodeToolFileOverridden,
			fmt.Sprintf("the cascade's tool %q takes the place of the one in %s", t.ToolID, t.at.doc.file.Name), "rename one of the two")
		return
	}
	b.declare(t)
}

func (b *toolbox) has(name string) bool {
	_, isDeclared := b.at[name]
	return isDeclared || slices.Contains(b.builtin, name)
}

// declared returns a tool that the cascade declares, or nil.
func (b *toolbox) declared(name string) *declared {
	if i, ok := b.at[name]; ok {
		return &b.list[i]
	}
	return nil
}

func (b *toolbox) names() []string {
	var names []string
	for _, t := range b.list {
		names = append(names, t.ToolID)
	}
	return append(names, b.builtin...)
}

// setStateTool is the tool that stores a value in the state of the run.
const setStateTool = "set_state"

// routeTool is the tool by which a model chooses among hand-offs.
const routeTool = "route_to"

func (b *toolbox) check(at place, name, from string) {
	switch {
	case at.doc.edits[at.pointer] != 0 || b.has(name):
		return
	case name == routeTool:
		at.error(CodeMisplacedField, fmt.Sprintf("%q is not listed: a phase has it when its hand-offs leave a choice", name), "remove it")
		return
	}
	b.unknown(at, name, from)
}

func (b *toolbox) unknown(at place, name, from string) {
	if at.doc.full() {
		return // The hint takes its time.
	}
	names := b.names()
	hint := cmp.Or(meant(name, names), knownNames(`declare it under "tools"; there are `, slices.Sorted(slices.Values(names))))
	at.error(CodeUnknownTool, fmt.Sprintf("%s names %q, which is no tool", from, name), hint)
	if b.later == nil {
		return
	}
	last := len(*at.doc.found) - 1
	b.later(name, (*at.doc.found)[last])
	*at.doc.found = (*at.doc.found)[:last]
}

// offer notes the tools that the model of some phase can call.
func (b *toolbox) offer(phases []located) {
	b.offered = map[string]bool{recallTool: true}
	for _, p := range phases {
		for _, name := range p.Tackle {
			b.offered[name] = true
		}
		b.offered[routeTool] = b.offered[routeTool] || p.ChoosesRoute()
	}
}
