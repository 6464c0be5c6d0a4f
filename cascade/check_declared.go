package cascade

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade/wording"
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
		t.at.Key("tool_id").Error(CodeDuplicateTool,
			fmt.Sprintf("two tools are called %q; the first is at %s", t.ToolID, b.list[i].at.Key("tool_id")), "give each tool a name of its own")
	case t.ToolID != "":
		b.at[t.ToolID] = len(b.list)
	}
	b.list = append(b.list, t)
}

// declareFile adds a tool file's tool unless the cascade has one of the name itself.
func (b *toolbox) declareFile(t declared, ownCount int) {
	if i, taken := b.at[t.ToolID]; taken && i < ownCount {
		b.list[i].at.Key("tool_id").Warn(CodeToolFileOverridden,
			fmt.Sprintf("the cascade's tool %q takes the place of the one in %s", t.ToolID, t.at.Document().File.Name), "rename one of the two")
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

// getStateTool is the tool that reads it.
const getStateTool = "get_state"

// routeTool is the tool by which a model chooses among hand-offs.
const routeTool = "route_to"

func (b *toolbox) check(at place, name, from string) {
	switch {
	case !at.Sound() || b.has(name):
		return
	case name == routeTool:
		at.Warn(CodeOlderForm, fmt.Sprintf("%q need not be listed: a phase has it when its hand-offs leave a choice", name), "remove it")
		return
	}
	b.unknown(at, name, from, "")
}

// unknown reports a name of no tool. When cascades were looked for, too, where says what was found.
func (b *toolbox) unknown(at place, name, from, where string) {
	if at.Document().Full() {
		return // The hint takes its time.
	}
	code, what := CodeUnknownTool, "no tool"
	if where != "" {
		what = "neither a tool nor a cascade"
	}
	names := b.names()
	later := wording.IsLaterTool(name)
	hint := cmp.Or(wording.Meant(name, names), where, wording.KnownNames(`declare it under "tools"; there are `, slices.Sorted(slices.Values(names))))
	if later {
		code, what, hint = CodeNotSupportedYet, "a tool that is not supported yet by this version of windlass", "remove it"
	}
	at.Error(code, fmt.Sprintf("%s names %q, which is %s", from, name, what), hint)
	if b.later == nil {
		return
	}
	b.later(name, at.Document().Withdraw())
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
