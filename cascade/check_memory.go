package cascade

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/engine/standing"
)

// checkMemory holds the memory of a phase against its rules.
func (k *checker) checkMemory(p located) {
	of := continuity.Phase{At: p.at, Title: p.title(), Model: p.asksModel(), Tool: p.Tool, Uses: p.Tackle, Own: p.Memory, Bank: k.cascade.BankOf(p.Phase)}
	of.Recall, of.Taken = RecallToolOf(k.cascade, p.Phase), k.isTool
	if !k.known.Recorded { // what is redacted of a recorded one may be no command any more
		of.Inputs = p.Inputs
	}
	continuity.CheckMemory(p.at, p.Memory)
	of.Check()
	misplaced := ""
	if !p.asksModel() {
		misplaced = p.title()
	}
	continuity.CheckSettings(p.at, p.Continuity, misplaced)
	if i := slices.Index(p.Tackle, standing.Scratchpad); i >= 0 && !ContinuityOf(k.cascade, p.Phase).Scratchpad && p.at.Intact("continuity") && k.root.Intact("continuity") {
		p.at.Key("tackle").Index(i).Error(CodeMissingKey, fmt.Sprintf("%s offers the tool %q and has none", p.title(), standing.Scratchpad),
			`write "continuity": {"scratchpad": true}, in the phase or in the cascade: the tool comes with it`)
	}
}

// isTool reports whether there is a tool of a name, whether a phase uses it or not.
func (k *checker) isTool(name string) bool {
	return IsEngineTool(name) || slices.Contains(k.known.Tools, name) ||
		slices.ContainsFunc(k.cascade.Tools, func(t Tool) bool { return t.ToolID == name })
}

// checkBank warns of a bank of the cascade that no phase uses.
func (k *checker) checkBank() {
	continuity.CheckSettings(k.root, k.cascade.Continuity, "")
	m := k.cascade.Memory
	continuity.CheckMemory(k.root, m)
	if !m.On() || !k.root.Intact("memory") {
		return
	}
	for _, p := range k.phases {
		if p.Memory == nil && k.cascade.BankOf(p.Phase) != "" || !p.at.Intact("memory") {
			return
		}
	}
	k.root.Key("memory").Warn(CodeNoEffect, "no phase of the cascade uses its bank: phases that ask a model do, unless they have a memory of their own", "remove it")
}
