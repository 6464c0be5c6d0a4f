package tool_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/tool"
)

func blocks(t *testing.T, file, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + file)
	require.NoError(t, err)
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	require.NotEmpty(t, out)
	return out
}

func TestToolsOfTheDocumentation(t *testing.T) {
	t.Parallel()
	var all []cascade.Tool
	for _, text := range blocks(t, "tools.md", "json") {
		all = append(all, declared(t, text))
	}
	b := setup(t, tool.Options{Declared: all})
	b.file(t, "f.txt", "a.b\naxb\n-a.b\n")
	require.Equal(t, "2\n", b.ok(t, "count_matches", `{"pattern":"a.b","file":"f.txt"}`))
	require.Contains(t, b.fails(t, "not_allowed", "open_issues", `{"owner":"o","repo":"r"}`), "GITHUB_TOKEN is not set, or not granted")
	for _, d := range all {
		spec, ok := b.reg.Spec(d.ToolID)
		require.True(t, ok)
		var parameters struct{ Required []string }
		require.NoError(t, json.Unmarshal(spec.Parameters, &parameters))
		require.NotEmpty(t, parameters.Required)
	}
	text, err := os.ReadFile("../../docs/tools.md")
	require.NoError(t, err)
	for _, name := range tool.BuiltinNames() {
		require.Contains(t, string(text), "| `"+name+"` |")
	}
}

func TestTemplatesOfTheDocumentation(t *testing.T) {
	t.Parallel()
	for _, src := range blocks(t, "templates.md", "jinja") {
		tmpl, err := template.Parse(src)
		require.NoError(t, err)
		vars := map[string]any{"input": map[string]any{"service": "api"}, "state": map[string]any{}}
		got, warnings, err := tmpl.Render(vars)
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.Contains(t, got, "Nothing has been found so far.")
		vars["state"] = map[string]any{"findings": []any{map[string]any{"title": "slow disk", "severity": "high"}}}
		got, _, err = tmpl.Render(vars)
		require.NoError(t, err)
		require.Contains(t, got, "- 1. slow disk (high)")
	}
	text, err := os.ReadFile("../../docs/templates.md")
	require.NoError(t, err)
	filters := regexp.MustCompile(`(?s)- Filters: (.*?)\n- Tests`).FindStringSubmatch(string(text))
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(filters[1], -1) {
		_, err := template.Parse("{{ x | " + m[1] + " }}")
		require.NoError(t, err, m[1])
	}
	tests := regexp.MustCompile(`(?s)- Tests: (.*?)\n- Functions`).FindStringSubmatch(string(text))
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(tests[1], -1) {
		_, err := template.Parse("{{ x is " + m[1] + " }}")
		_, withArgument := template.Parse("{{ x is " + m[1] + "(3) }}")
		require.True(t, err == nil || withArgument == nil, m[1])
	}
}
