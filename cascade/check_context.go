package cascade

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/internal/source"
)

// layered is a block of settings and the one it inherits from; the cascade's is below itself.
type layered struct{ at, below place }

// origin says where a value comes from that the block itself does not have.
func (l layered) origin(block, key string) string {
	switch {
	case l.at.key(block).has(key):
		return ""
	case l.below.key(block).has(key):
		return " in the cascade"
	default:
		return " by default"
	}
}

// conflict returns where to report two conflicting settings; there is no such place when neither
// is written here (it is reported where they are), or one has a wrong type.
func (l layered) conflict(block, first, second string) (place, bool) {
	at := l.at.key(block)
	if !at.intact(first, second) || !l.below.key(block).intact(first, second) {
		return place{}, false
	}
	if at.has(first) {
		return at.key(first), true
	}
	return at.key(second), at.has(second)
}

// intraBlock is a block of settings for the context inside a phase.
type intraBlock struct {
	*IntraContext
	layered
	merged Intra // over what it inherits
}

type intraRules struct{ *checker }

func (k intraRules) cascadePlace() place { return k.root.keys("auto_context", "intra_phase") }

func (k intraRules) checkAutoContext() {
	if n := k.root.key("auto_context").node(); n != nil && n.Kind == source.Object && len(n.Members) == 0 {
		k.root.noEffect("auto_context", `"auto_context" is empty, which changes nothing`, `write "auto_context": {"intra_phase": {}} to take the defaults`)
	}
	s := k.cascade.AutoContext.intra()
	if s == nil {
		return
	}
	b := &intraBlock{IntraContext: s, layered: layered{k.cascadePlace(), k.cascadePlace()}, merged: mergeIntra(s)}
	k.checkIntraBlock(b)
	steps := slices.ContainsFunc(k.phases, func(p located) bool {
		return !p.Deterministic() && k.cascade.EffectiveIntra(p.Phase).Advance == AdvanceStep
	})
	if !steps {
		b.stepWithoutEffect()
	}
}

// checkIntraContext checks a phase's own settings, also against what they inherit.
func (k intraRules) checkIntraContext(p located) {
	if p.IntraContext == nil || p.at.has("tool") {
		return // That a phase with a tool has none is said elsewhere.
	}
	b := &intraBlock{p.IntraContext, layered{p.at.key("intra_context"), k.cascadePlace()}, k.cascade.EffectiveIntra(p.Phase)}
	k.checkIntraBlock(b)
	if b.merged.Advance != AdvanceStep {
		b.stepWithoutEffect()
	}
	k.checkIdleSettings(p)
}

func (k intraRules) checkIntraBlock(b *intraBlock) {
	k.checkExcluded(b.at.key("exclude_tools"), b.ExcludeTools)
	if b.ClearToolUses != nil {
		k.checkExcluded(b.at.keys("clear_tool_uses", "exclude_tools"), b.ClearToolUses.ExcludeTools)
	}
	b.check()
}

// check holds the block to the rules that need only it and what it inherits.
func (b *intraBlock) check() {
	checkModel(b.at.key("guard"), "summarizer_model")
	b.checkRemovalLevels()
	g := b.merged.Guard
	compact := number{"compact_percent", g.CompactPercent}
	b.checkOrder("guard", number{"warn_percent", g.WarnPercent}, compact, true, "the warning has to come before the guard acts")
	b.checkOrder("guard", number{"target_percent", g.TargetPercent}, compact, false, "the guard would act again on what it has just done")
	if t := b.merged.Truncation; t != nil {
		const why = "older results would keep more than newer ones"
		older := number{"older_limit", t.OlderLimit}
		b.checkOrder("truncation", older, number{"recent_limit", t.RecentLimit}, true, why)
		b.checkOrder("truncation", number{"inactive_limit", t.InactiveLimit}, older, true, why)
	}
}

func (b *intraBlock) checkRemovalLevels() {
	if b.Guard == nil {
		return
	}
	list := b.at.keys("guard", "removal_levels")
	for i, level := range b.Guard.RemovalLevels {
		if i == 0 || level > b.Guard.RemovalLevels[i-1] || !list.intact(strconv.Itoa(i-1), strconv.Itoa(i)) {
			continue
		}
		list.index(i).error(CodeInvalidValue,
			fmt.Sprintf("the levels of %s do not rise: %d comes after %d", describe(list), level, b.Guard.RemovalLevels[i-1]),
			"write them in rising order, each once, as [10, 20, 50, 100]")
	}
}

// number is a merged setting of a block.
type number struct {
	key   string
	value int
}

// checkOrder refuses a number above another one of its block, or equal to it where that is wrong.
func (b *intraBlock) checkOrder(block string, low, high number, mayEqual bool, why string) {
	at, reported := b.conflict(block, low.key, high.key)
	if !reported || low.value < high.value || mayEqual && low.value == high.value {
		return
	}
	limit := "below"
	if mayEqual {
		limit = "to at most"
	}
	at.error(CodeConflicting,
		fmt.Sprintf("%s: %q is %d%s and %q is %d%s: %s", describe(b.at.key(block)), low.key, low.value, b.origin(block, low.key),
			high.key, high.value, b.origin(block, high.key), why),
		fmt.Sprintf("set %q %s %d", low.key, limit, high.value))
}

// stepWithoutEffect warns of a step that nothing takes.
func (b *intraBlock) stepWithoutEffect() {
	if b.StepTurns != nil && b.at.intact("advance") {
		b.at.noEffect("step_turns", `"step_turns" is only used with "advance": "step"`, `add "advance": "step" or remove it`)
	}
}

// checkExcluded resolves the tools whose results stay.
func (k intraRules) checkExcluded(list place, names []string) {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		at := list.index(i)
		switch {
		case !list.intact(strconv.Itoa(i)):
		case seen[name]:
			at.warn(CodeNoEffect, fmt.Sprintf("%s lists %q twice", describe(list), name), "remove one of the two")
		case k.tools.offered[name]:
		case k.tools.has(name) || name == routeTool:
			at.warn(CodeNoEffect, fmt.Sprintf("%s names %q, which no phase has among its tools", describe(list), name), "add it to a phase's tackle, or remove it here")
		default:
			k.tools.unknown(at, name, describe(list))
		}
		seen[name] = true
	}
}

// recallTool returns what is masked; the engine offers it by itself.
const recallTool = "recall"

// checkIdleSettings warns of settings of a phase that has nothing they apply to.
func (k intraRules) checkIdleSettings(p located) {
	at := p.at.key("intra_context")
	if p.MaxAttempts() == 1 && p.at.key("rules").intact("max_attempts") && !p.at.has("output_schema") {
		for _, key := range at.written("compress_loops", "loop_history_limit", "loop_output_limit") {
			at.noEffect(key, fmt.Sprintf("%s has one attempt, so %q is never used", p.title(), key), "set max_attempts to 2 or more, or remove it")
		}
	}
	if p.at.has("tackle") || p.at.has("tools") || p.ChoosesRoute() || bringsMessages(p.Context) {
		return
	}
	for _, key := range at.written("mask_observations_after", "min_masked_size", "preserve_errors", "dedupe", "exclude_tools", "truncation", "clear_tool_uses") {
		at.noEffect(key, fmt.Sprintf("%s has no tools, so there are no results for %q", p.title(), key), "give it tools or remove it")
	}
}

// bringsMessages reports whether messages of another phase, tool results among them, come in.
func bringsMessages(c *Context) bool {
	return c.auto() || c != nil && slices.ContainsFunc(c.From, func(s Source) bool { return slices.Contains(s.Include, IncludeMessages) })
}
