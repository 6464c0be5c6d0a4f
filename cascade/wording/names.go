package wording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/suggestion"
)

// Meant asks for the name that is close to what was written; it is empty when none is.
func Meant(name string, names []string) string {
	if near := suggestion.For(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// KnownNames lists names for a hint, as many as one reads.
func KnownNames(intro string, names []string) string {
	const limit = 12
	if len(names) == 0 {
		return ""
	}
	if len(names) > limit {
		return fmt.Sprintf("%s%s and %d more", intro, quoteList(names[:limit]), len(names)-limit)
	}
	return intro + quoteList(names)
}

func quoteList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, ", ")
}

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

// IsLaterTool reports whether a tool is one of those.
func IsLaterTool(name string) bool {
	return slices.ContainsFunc(laterTools, func(pattern string) bool { return matchesTool(pattern, name) })
}

// Lacks returns what a tool needs that is not there, "" for any other.
func Lacks(name string) string {
	for _, t := range lacking {
		if matchesTool(t.name, name) {
			return t.needs
		}
	}
	return ""
}
