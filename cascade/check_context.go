package cascade

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/cascade/settings"
	"github.com/windlass-run/windlass/internal/source"
)

type intraRules struct{ *checker }

func (k intraRules) cascadePlace() place { return k.root.Keys("auto_context", "intra_phase") }

func (k intraRules) checkAutoContext() {
	if n := k.root.Key("auto_context").Node(); n != nil && n.Kind == source.Object && len(n.Members) == 0 {
		k.root.NoEffect("auto_context", `"auto_context" is empty, which changes nothing`, `write "auto_context": {"intra_phase": {}} to take the defaults`)
	}
	s := k.cascade.AutoContext.Intra()
	if s == nil {
		return
	}
	b := &settings.IntraBlock{IntraContext: s, Layered: settings.Layered{At: k.cascadePlace(), Below: k.cascadePlace()}, Merged: settings.MergeIntra(s)}
	k.checkIntraBlock(b)
	steps := slices.ContainsFunc(k.phases, func(p located) bool {
		return !p.Deterministic() && k.cascade.EffectiveIntra(p.Phase).Advance == AdvanceStep
	})
	if !steps {
		b.StepWithoutEffect()
	}
}

// checkIntraContext checks a phase's own settings, also against what they inherit.
func (k intraRules) checkIntraContext(p located) {
	if p.IntraContext == nil || !p.asksModel() {
		return // That a phase with a tool has none is said elsewhere.
	}
	b := &settings.IntraBlock{IntraContext: p.IntraContext, Layered: settings.Layered{At: p.at.Key("intra_context"), Below: k.cascadePlace()}, Merged: k.cascade.EffectiveIntra(p.Phase)}
	k.checkIntraBlock(b)
	if b.Merged.Advance != AdvanceStep {
		b.StepWithoutEffect()
	}
	k.checkIdleSettings(p)
}

func (k intraRules) checkIntraBlock(b *settings.IntraBlock) {
	k.checkExcluded(b.At.Key("exclude_tools"), b.ExcludeTools)
	if b.ClearToolUses != nil {
		k.checkExcluded(b.At.Keys("clear_tool_uses", "exclude_tools"), b.ClearToolUses.ExcludeTools)
	}
	b.Check()
}

// checkExcluded resolves the tools whose results stay.
func (k intraRules) checkExcluded(list place, names []string) {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		at := list.Index(i)
		switch {
		case !list.Intact(strconv.Itoa(i)):
		case seen[name]:
			at.Warn(CodeNoEffect, fmt.Sprintf("%s lists %q twice", describe(list), name), "remove one of the two")
		case k.tools.offered[name]:
		case k.tools.has(name) || name == routeTool:
			at.Warn(CodeNoEffect, fmt.Sprintf("%s names %q, which no phase has among its tools", describe(list), name), "add it to a phase's tackle, or remove it here")
		default:
			k.tools.unknown(at, name, describe(list), "")
		}
		seen[name] = true
	}
}

// recallTool returns what is masked; the engine offers it by itself.
const recallTool = "recall"

// checkIdleSettings warns of settings of a phase that has nothing they apply to.
func (k intraRules) checkIdleSettings(p located) {
	at := p.at.Key("intra_context")
	if p.MaxAttempts() == 1 && !p.Wards.Retries() && p.at.Key("rules").Intact("max_attempts") && !p.at.Has("output_schema") {
		for _, key := range at.Written("compress_loops", "loop_history_limit", "loop_output_limit") {
			at.NoEffect(key, fmt.Sprintf("%s has one attempt, so %q is never used", p.title(), key), "set max_attempts to 2 or more, or remove it")
		}
	}
	if p.at.Has("tackle") || p.at.Has("tools") || k.cascade.BankOf(p.Phase) != "" || ContinuityOf(k.cascade, p.Phase).HasTools() || p.ChoosesRoute() || bringsMessages(p.Context) {
		return
	}
	for _, key := range at.Written("mask_observations_after", "min_masked_size", "preserve_errors", "dedupe", "exclude_tools", "truncation", "clear_tool_uses") {
		at.NoEffect(key, fmt.Sprintf("%s has no tools, so there are no results for %q", p.title(), key), "give it tools or remove it")
	}
}

// bringsMessages reports whether messages of another phase, tool results among them, come in.
func bringsMessages(c *Context) bool {
	return c.auto() || c != nil && slices.ContainsFunc(c.From, func(s Source) bool { return slices.Contains(s.Include, IncludeMessages) })
}
