package cascade

import (
	"fmt"
	"slices"
	"strings"
)

// lacking are the tools that windlass knows and cannot offer, with what they would need. A name may
// end with *.
var lacking = []struct{ name, needs string }{
	{"say", "a service that speaks"},
	{"rabbitize_*", "the browser service rabbitize"},
	{"gradio_*", "a Gradio server"},
	{"huggingface_*", "a Gradio server"},
	{"brave_web_search", "the key of a search service"},
}

// laterTools are those of later versions.
var laterTools = []string{
	"show_ui", "create_artifact", "list_artifacts", "get_artifact",
	"sql_search", "sql_rag_search", "smart_sql_run", "list_sql_connections", "create_chart", "create_plotly", "create_vega_lite", "run_code", "linux_shell",
	"rag_*", "research_*",
}

func matchesTool(pattern, name string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return name == pattern || open && strings.HasPrefix(name, prefix)
}

func isLaterTool(name string) bool {
	return slices.ContainsFunc(laterTools, func(pattern string) bool { return matchesTool(pattern, name) })
}

// lacks returns what a tool needs that is not there, "" for any other.
func lacks(name string) string {
	for _, t := range lacking {
		if matchesTool(t.name, name) {
			return t.needs
		}
	}
	return ""
}

// checkUnavailable says that the model of a phase is not offered a tool.
func (k childRules) checkUnavailable(at place, name, from string) {
	message := fmt.Sprintf("%s names %q, which windlass knows but cannot offer: it needs %s", from, name, lacks(name))
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
			return !k.tools.has(name) && k.cascade.Reaches[name] == nil && (name == routeTool || lacks(name) != "")
		})
	}
}
