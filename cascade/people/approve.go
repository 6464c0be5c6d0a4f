package people

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/engine/waiting"
)

// Tools are those of a phase, as they are called.
type Tools struct {
	Names    []string
	Answered func(name string) bool // by windlass itself, without approval
	Unsure   bool                   // there may be others
}

// CheckApprove finds patterns in the rules of a phase that no call waits for. title is what messages call the phase.
func CheckApprove(rules document.Place, title string, patterns []string, tools Tools) {
	if !rules.Has("approve") || !rules.Intact("approve") {
		return
	}
	if len(patterns) == 0 {
		rules.NoEffect("approve", fmt.Sprintf("%q of %s names no tool", "approve", title), "name one or remove it")
		return
	}
	for i, pattern := range patterns {
		at := rules.Key("approve").Index(i)
		matches := func(name string) bool { return waiting.Needs([]string{pattern}, name) }
		switch {
		case !at.Sound():
		case slices.ContainsFunc(tools.Names, func(name string) bool { return matches(name) && !tools.Answered(name) }):
		case slices.ContainsFunc(tools.Names, matches) || tools.Answered(pattern):
			at.Warn(document.CodeNoEffect, fmt.Sprintf("%s has calls of %q wait for approval, which windlass answers itself: they never do", title, pattern), "remove it")
		case !tools.Unsure:
			at.Warn(document.CodeNoEffect, fmt.Sprintf("%s has calls of %q wait for approval, and has no tool of that name", title, pattern),
				cmp.Or(wording.Meant(pattern, tools.Names), wording.KnownNames("its tools are ", tools.Names), "remove it"))
		}
	}
}

// timeouts are the arguments by which waits of tools end.
var timeouts = map[string]string{waiting.ToolAwait: "timeout", waiting.ToolDecision: "timeout_seconds"}

// CheckTool finds a timeout of a phase that runs a tool which waits.
func CheckTool(phase document.Place, title, tool string) {
	if !waiting.Asks(tool) || !phase.Has("timeout") || !phase.Intact("timeout", "tool") {
		return
	}
	hint := "remove it"
	if own := timeouts[tool]; own != "" {
		hint = fmt.Sprintf("write it as an input of the tool, %q, in seconds", own)
	}
	phase.NoEffect("timeout", fmt.Sprintf("%s waits with the tool %q, which this timeout does not end", title, tool), hint)
}
