package cascade

import (
	"fmt"
	"slices"
)

type referenceRules struct{ *checker }

func (k referenceRules) checkTargets(p located) {
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

func (k referenceRules) checkTarget(at place, name, from string) {
	if at.doc.edits[at.pointer] != 0 || k.names.named[name] || at.node() == nil {
		return
	}
	at.error(CodeUnknownPhase, fmt.Sprintf("%s leads to %q, which is no phase", from, name), k.names.hint(name))
}

func (k referenceRules) checkContext(p located) {
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

func (k referenceRules) checkSource(at place, name, from string) {
	if at.doc.edits[at.pointer] != 0 || at.node() == nil || name == FromAll || name == FromFirst || name == FromPrevious {
		return
	}
	if _, known := k.names.named[name]; !known {
		at.error(CodeUnknownPhase, fmt.Sprintf("%s names %q, which is no phase", from, name), k.names.hint(name, FromAll, FromFirst, FromPrevious))
	}
}

// checkTackle resolves the tools of a phase, those of a model and that of a deterministic one.
func (k referenceRules) checkTackle(p located) {
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
		k.tools.check(at, name, "the tackle of "+p.title())
		if seen[name] && name != "" {
			at.warn(CodeNoEffect, fmt.Sprintf("the tackle of %s lists %q twice", p.title(), name), "remove one of the two")
		}
		seen[name] = true
	}
	if p.Tool != "" && !blank(p.at.key("tool")) {
		k.tools.check(p.at.key("tool"), p.Tool, p.title())
	}
}
