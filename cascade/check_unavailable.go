package cascade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/wording"
)

// checkUnavailable says that the model of a phase is not offered a tool.
func (k childRules) checkUnavailable(at place, name, from string) {
	message := fmt.Sprintf("%s names %q, which windlass knows but cannot offer: it needs %s", from, name, wording.Lacks(name))
	if k.requires(at) {
		at.Error(CodeUnavailableTool, message, `remove it, or "require_tools" of the rules`)
		return
	}
	at.Warn(CodeUnavailableTool, message, `the phase runs without it; remove it, or write "rules": {"require_tools": true} to refuse the cascade without it`)
}

// requires reports whether the phase that a place is in wants all of its tools.
func (k childRules) requires(at place) bool {
	return slices.ContainsFunc(k.phases, func(p located) bool {
		rest, in := strings.CutPrefix(at.Pointer(), p.at.Pointer()+"/")
		return in && !strings.HasPrefix(rest, "on_error/") && p.Rules.RequireTools
	})
}

// leaveOut takes the names out of the tackle that stand for no tool that a model could call.
func (k *checker) leaveOut() {
	for _, p := range k.phases {
		p.Tackle = slices.DeleteFunc(p.Tackle, func(name string) bool {
			return !k.tools.has(name) && k.cascade.Reaches[name] == nil && (name == routeTool || wording.Lacks(name) != "")
		})
	}
}
