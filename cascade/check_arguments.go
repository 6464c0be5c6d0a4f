package cascade

import (
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade/shape"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/schema"
)

// argumentRules hold the inputs of a phase that runs a tool against what the tool takes.
type argumentRules struct{ *checker }

func (k argumentRules) checkArguments(p located) {
	if p.Tool == "" || k.known.Arguments == nil || !p.at.Intact("inputs", "tool") {
		return
	}
	tool := k.tools.declared(p.Tool)
	if tool != nil && !tool.at.Intact("inputs_schema") {
		return
	}
	var declared *Tool
	if tool != nil {
		declared = tool.Tool
	}
	takes, ok := k.arguments[p.Tool]
	if !ok {
		takes = shape.TakesOf(k.known.Arguments(p.Tool, declared))
		k.arguments[p.Tool] = takes
	}
	if takes == nil {
		return
	}
	k.checkTaken(p, takes)
	k.checkConstants(p, takes)
	k.checkLacking(p, takes, tool)
}

// checkConstants finds values without a template that the tool's schema does not allow.
func (k argumentRules) checkConstants(p located, takes *shape.Takes) {
	inputs := p.at.Key("inputs")
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		value, property := p.Inputs[name], takes.Properties[name]
		if property == nil || !inputs.Intact(name) || !shape.IsConstant(value) {
			continue
		}
		compiled, err := schema.Compile(property)
		if err != nil {
			continue // a part of a schema that refers to others says nothing by itself
		}
		if wrong, err := compiled.Validate(shape.Fitted(value, property)); err == nil && len(wrong) > 0 {
			inputs.Key(name).Error(CodeInvalidValue, fmt.Sprintf("%s gives the tool %q a wrong %q: %s", p.title(), p.Tool, name, wrong[0]), "")
		}
	}
}

// checkTaken finds arguments that the tool does not take.
func (k argumentRules) checkTaken(p located, takes *shape.Takes) {
	if takes.Shape == nil || !takes.Shape.Closed {
		return
	}
	names := slices.Sorted(maps.Keys(takes.Properties))
	inputs := p.at.Key("inputs")
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		if _, ok := takes.Properties[name]; ok || !inputs.Intact(name) {
			continue
		}
		hint := wording.Meant(name, names)
		if hint == "" {
			hint = wording.KnownNames("the arguments are ", names)
		}
		if len(names) == 0 {
			hint = "it takes none: remove this"
		}
		inputs.KeyError(name, CodeUnknownArgument, fmt.Sprintf("%s gives %q, which the tool %q does not take", p.title(), name, p.Tool), hint)
	}
}

// checkLacking finds arguments that the tool needs: its schema requires them, or its templates.
func (k argumentRules) checkLacking(p located, takes *shape.Takes, tool *declared) {
	needs := slices.Clone(takes.Required)
	if tool != nil {
		for _, name := range k.usedBy(tool) {
			if _, taken := takes.Properties[name]; taken || takes.Shape == nil || !takes.Shape.Closed {
				needs = append(needs, name)
			}
		}
	}
	slices.Sort(needs)
	for _, name := range slices.Compact(needs) {
		if _, given := p.Inputs[name]; given || p.at.Key("inputs").Has(name) {
			continue
		}
		message := fmt.Sprintf("%s runs the tool %q without %q, which it needs", p.title(), p.Tool, name)
		hint := fmt.Sprintf(`add "inputs": {%q: ...}`, name)
		if p.at.Has("inputs") {
			p.at.KeyError("inputs", CodeMissingArgument, message, fmt.Sprintf(`add %q to "inputs"`, name))
			continue
		}
		p.at.Key("tool").Error(CodeMissingArgument, message, hint)
	}
}

// usedBy returns the arguments without which a tool's templates cannot be rendered.
func (k argumentRules) usedBy(tool *declared) []string {
	if tool.uses == nil {
		uses := map[string]bool{}
		for t := range k.templates.ofTool(*tool) {
			for _, l := range k.templates.of(t) {
				if name := argumentOf(&l); name != "" {
					uses[name] = true
				}
			}
		}
		tool.uses = slices.AppendSeq([]string{}, maps.Keys(uses))
	}
	return tool.uses
}

// argumentOf returns the argument without which a tool's template cannot be rendered, or "".
func argumentOf(l *Lookup) string {
	root, _ := l.Path[0].(string)
	switch {
	case l.Perhaps || l.Safe > 0 && root != "input" || root == "env":
		return ""
	case root != "input":
		return root
	case len(l.Path) > 1 && l.Safe < 2:
		name, _ := l.Path[1].(string)
		return name
	}
	return ""
}

// checkRefused finds tools that this run refuses to run.
func (k argumentRules) checkRefused(p located) {
	if k.known.Refused == nil {
		return
	}
	if p.Tool != "" {
		if why := k.known.Refused(p.Tool, p.Inputs); why != "" {
			p.at.Key("tool").Warn(CodeRefusedTool, fmt.Sprintf("%s runs the tool %q, which is refused", p.title(), p.Tool), why)
		}
		return
	}
	list := p.at.Key("tackle")
	if !p.at.Has("tackle") {
		list = p.at.Key("tools")
	}
	for i, name := range p.Tackle {
		if why := k.known.Refused(name, nil); why != "" {
			list.Index(i).Warn(CodeRefusedTool, fmt.Sprintf("the tackle of %s names %q, but every call of it is refused", p.title(), name), why)
		}
	}
}
