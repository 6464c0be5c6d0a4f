package cascade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/wording"
)

type referenceRules struct{ *checker }

func (k referenceRules) checkTargets(p located) {
	handoffs := p.at.Key("handoffs")
	for i, h := range p.Handoffs {
		at := handoffs.Element(i)
		if at.Has("target") {
			at = at.Key("target")
		}
		k.checkTarget(at, h.Target, "a hand-off of "+p.title())
	}
	for label, target := range p.Routing {
		k.checkTarget(p.at.Keys("routing", label), target, fmt.Sprintf("the route %q of %s", label, p.title()))
	}
	if p.OnError != nil && p.OnError.Inline == nil {
		k.checkTarget(p.at.Key("on_error"), p.OnError.Phase, "on_error of "+p.title())
	}
}

func (k referenceRules) checkTarget(at place, name, from string) {
	if !at.Sound() || k.names.named[name] || at.Node() == nil {
		return
	}
	if k.cascade.EndsRun(name) && !strings.HasPrefix(from, "on_error") {
		at.Warn(CodeOlderForm, fmt.Sprintf("%s leads to %q, which is no phase: it ends the run", from, name), "lead to a phase without hand-offs and routing, which ends the run")
		return
	}
	at.Error(CodeUnknownPhase, fmt.Sprintf("%s leads to %q, which is no phase", from, name), k.names.hint(name))
}

func (k referenceRules) checkContext(p located) {
	if p.Context == nil {
		return
	}
	at := p.at.Key("context")
	for i, s := range p.Context.From {
		where := at.Key("from").Element(i)
		if where.Has("phase") {
			where = where.Key("phase")
		}
		k.checkSource(where, s.Phase, "the context of "+p.title())
	}
	if at.Has("include") && at.Intact("include") {
		at.KeyWarn("include", CodeOlderForm, fmt.Sprintf("%q belongs to a source of %s; here it is for all sources that have none", "include", p.title()),
			`write it in "from", as {"phase": "NAME", "include": ["messages"]}`)
	}
	for i, name := range p.Context.Exclude {
		k.checkSource(at.Key("exclude").Index(i), name, "the context of "+p.title())
	}
	reachesAll := slices.ContainsFunc(p.Context.From, func(s Source) bool { return s.Phase == FromAll })
	if at.Has("exclude") && !reachesAll && !p.Context.auto() && at.Intact("mode") && !at.Meant("mode") {
		at.NoEffect("exclude", `"exclude" leaves phases out of "all", which is not in "from"`, `write "from": ["all"] or remove it`)
	}
}

func (k referenceRules) checkSource(at place, name, from string) {
	if !at.Sound() || at.Node() == nil || name == FromAll || name == FromFirst || name == FromPrevious {
		return
	}
	if _, known := k.names.named[name]; !known {
		at.Error(CodeUnknownPhase, fmt.Sprintf("%s names %q, which is no phase", from, name), k.names.hint(name, FromAll, FromFirst, FromPrevious))
	}
}

// checkTackle resolves the tools of a phase, those of a model and that of a deterministic one.
func (k referenceRules) checkTackle(p located) {
	list := p.at.Key("tackle")
	if !p.at.Has("tackle") {
		list = p.at.Key("tools")
	}
	seen := make(map[string]bool, len(p.Tackle))
	for i, name := range p.Tackle {
		at := list.Index(i)
		if name == wording.Manifest {
			at.Error(CodeNotSupportedYet, fmt.Sprintf("choosing tools by %q is not supported yet by this version of windlass", wording.Manifest), wording.ManifestHint)
			continue
		}
		childRules(k).checkTool(at, name, "the tackle of "+p.title(), true)
		if seen[name] && name != "" {
			at.Warn(CodeNoEffect, fmt.Sprintf("the tackle of %s lists %q twice", p.title(), name), "remove one of the two")
		}
		seen[name] = true
	}
	childRules(k).checkToolNames(p, list)
	if p.Tool != "" && !p.at.Key("tool").Blank() {
		childRules(k).checkTool(p.at.Key("tool"), p.Tool, p.title(), false)
	}
}
