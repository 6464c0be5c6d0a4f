package cascade

import (
	"cmp"
	"fmt"
	"slices"
)

// checkTargets resolves the phases that a phase can lead to.
func (k *checker) checkTargets(p located) {
	handoffs := p.at.key("handoffs")
	for i, h := range p.Handoffs {
		at := handoffs.element(i)
		if at.has("target") {
			at = at.key("target")
		}
		k.checkTarget(at, h.Target, "a hand-off of "+p.title())
	}
	for label, target := range p.Routing {
		k.checkTarget(p.at.keys("routing", label), target, fmt.Sprintf("the route %q of %s", label, p.title()))
	}
	if p.OnError != nil && p.OnError.Inline == nil {
		k.checkTarget(p.at.key("on_error"), p.OnError.Phase, "on_error of "+p.title())
	}
}

func (k *checker) checkTarget(at place, name, from string) {
	if at.doc.edits[at.pointer] != 0 || k.named[name] || at.node() == nil {
		return
	}
	at.error(CodeUnknownPhase, fmt.Sprintf("%s leads to %q, which is no phase", from, name), k.phaseHint(name))
}

// phaseHint says which phase was meant; words are what the place understands beside names.
func (k *checker) phaseHint(name string, words ...string) string {
	names := append(slices.Clone(k.targets), words...)
	return cmp.Or(meant(name, names), knownNames("the phases are ", names))
}

// meant asks for the name that is close to what was written; it is empty when none is.
func meant(name string, names []string) string {
	if near := suggest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// knownNames lists names for a hint, as many as one reads.
func knownNames(intro string, names []string) string {
	const limit = 12
	if len(names) == 0 {
		return ""
	}
	if len(names) > limit {
		return fmt.Sprintf("%s%s and %d more", intro, quoteList(names[:limit]), len(names)-limit)
	}
	return intro + quoteList(names)
}

// checkContext resolves the phases that a context names.
func (k *checker) checkContext(p located) {
	if p.Context == nil {
		return
	}
	at := p.at.key("context")
	for i, s := range p.Context.From {
		where := at.key("from").element(i)
		if where.has("phase") {
			where = where.key("phase")
		}
		k.checkSource(where, s.Phase, "the context of "+p.title())
	}
	for i, name := range p.Context.Exclude {
		k.checkSource(at.key("exclude").index(i), name, "the context of "+p.title())
	}
	reachesAll := slices.ContainsFunc(p.Context.From, func(s Source) bool { return s.Phase == FromAll })
	if at.has("exclude") && !reachesAll && !p.Context.auto() && at.intact("mode") && !at.meant("mode") {
		at.noEffect("exclude", `"exclude" leaves phases out of "all", which is not in "from"`, `write "from": ["all"] or remove it`)
	}
}

func (k *checker) checkSource(at place, name, from string) {
	if at.doc.edits[at.pointer] != 0 || at.node() == nil || name == FromAll || name == FromFirst || name == FromPrevious {
		return
	}
	if _, known := k.named[name]; !known {
		at.error(CodeUnknownPhase, fmt.Sprintf("%s names %q, which is no phase", from, name), k.phaseHint(name, FromAll, FromFirst, FromPrevious))
	}
}

// checkTackle resolves the tools of a phase, those of a model and the one that a deterministic phase runs.
func (k *checker) checkTackle(p located) {
	list := p.at.key("tackle")
	if !p.at.has("tackle") {
		list = p.at.key("tools")
	}
	seen := make(map[string]bool, len(p.Tackle))
	for i, name := range p.Tackle {
		at := list.index(i)
		if name == manifest {
			at.error(CodeNotSupportedYet, fmt.Sprintf("choosing tools by %q is not supported yet by this version of windlass", manifest), manifestHint)
			continue
		}
		k.checkTool(at, name, "the tackle of "+p.title())
		if seen[name] && name != "" {
			at.warn(CodeNoEffect, fmt.Sprintf("the tackle of %s lists %q twice", p.title(), name), "remove one of the two")
		}
		seen[name] = true
	}
	if p.Tool != "" && !blank(p.at.key("tool")) {
		k.checkTool(p.at.key("tool"), p.Tool, p.title())
	}
}

// routeTool is the tool by which a model chooses among hand-offs.
const routeTool = "route_to"

func (k *checker) checkTool(at place, name, from string) {
	switch {
	case at.doc.edits[at.pointer] != 0 || k.isTool(name):
		return
	case name == routeTool:
		at.error(CodeMisplacedField, fmt.Sprintf("%q is not listed: a phase has it when its hand-offs leave a choice", name), "remove it")
		return
	}
	k.unknownTool(at, name, from)
}

// isTool reports whether a name is that of a declared or a built-in tool.
func (k *checker) isTool(name string) bool {
	_, isDeclared := k.toolAt[name]
	return isDeclared || slices.Contains(k.known.Tools, name)
}

func (k *checker) unknownTool(at place, name, from string) {
	if at.doc.full() {
		return // The hint takes its time.
	}
	names := k.toolNames()
	hint := cmp.Or(meant(name, names), knownNames(`declare it under "tools"; there are `, slices.Sorted(slices.Values(names))))
	at.error(CodeUnknownTool, fmt.Sprintf("%s names %q, which is no tool", from, name), hint)
}
