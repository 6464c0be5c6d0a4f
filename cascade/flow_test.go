package cascade

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Routes are written as "a>b,c" (hand-offs), "a?b" (routing), "a!b" (on_error), "a!>b" (an inline
// phase that hands off to b), and "a!." (an inline phase without a route).
func TestFlow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, routes string
		want         []string
	}{
		{"file order", "a b c", nil},
		{"file order, on_error", "a!c b c", nil},
		{"all reached", "a>b b>c c", nil},
		{"one left out", "a>c b c", []string{"unreachable_phase b"}},
		{"reached by on_error only", "a>c!b b c", nil},
		{"reached by routing only", "a?b b", nil},
		{"reached by a phase in place", "a>c!>b b c", nil},
		{"reached from the unreachable only", "a>d b>c c d", []string{"unreachable_phase b", "unreachable_phase c"}},
		{"a phase in place makes it no file order", "a!>c b c", []string{"unreachable_phase b"}},
		{"a loop with a way out", "a>b b>a,c c", nil},
		{"a loop with a way out by routing", "a?a,b b", nil},
		{"a loop with a way out on errors", "a>b!c b>a c", nil},
		{"a loop with a way out in place", "a>b!. b>a", nil},
		{"a loop of one", "a>a", []string{"endless_route a"}},
		{"a loop of routing", "a?b b?a", []string{"endless_route a"}},
		{"a way into a loop", "a>b b>c c>b", []string{"endless_route b"}},
		{"a loop reached by on_error", "a>d!b b>b d", []string{"endless_route b"}},
		{"a loop that an error cannot leave", "a>b!b b>a", []string{"endless_route a"}},
		{"two loops", "a>b,d b>c c>b d>d", []string{"endless_route b", "endless_route d"}},
		{"an unreachable loop", "a>c b>b c", []string{"unreachable_phase b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, found, err := Parse("x.json", []byte(routesJSON(tt.routes)), testKnown())
			require.NoError(t, err, show(found))
			var got []string
			for _, d := range found {
				require.Equal(t, SeverityWarning, d.Severity)
				got = append(got, fmt.Sprintf("%s %s", d.Code, strings.Trim(d.Source[d.Col-d.SourceCol:d.EndCol-d.SourceCol], `"`)))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func routesJSON(routes string) string {
	var phases []string
	for _, r := range strings.Fields(routes) {
		route, onError, hasOnError := strings.Cut(r, "!")
		name, targets, _ := strings.Cut(strings.ReplaceAll(route, "?", ">"), ">")
		p := fmt.Sprintf(`{"name": %q`, name)
		var quoted, labelled []string
		for i, target := range strings.FieldsFunc(targets, func(r rune) bool { return r == ',' }) {
			quoted = append(quoted, fmt.Sprintf("%q", target))
			labelled = append(labelled, fmt.Sprintf("\"l%d\": %q", i, target))
		}
		switch {
		case strings.Contains(route, "?"):
			p += `, "tool": "read_file", "routing": {` + strings.Join(labelled, ", ") + `}`
		case len(quoted) > 0:
			p += `, "instructions": "x", "handoffs": [` + strings.Join(quoted, ", ") + `]`
		default:
			p += `, "instructions": "x"`
		}
		switch {
		case onError == ".":
			p += `, "on_error": {"instructions": "y"}`
		case strings.HasPrefix(onError, ">"):
			p += fmt.Sprintf(`, "on_error": {"instructions": "y", "handoffs": %q}`, onError[1:])
		case hasOnError:
			p += fmt.Sprintf(`, "on_error": %q`, onError)
		}
		phases = append(phases, p+"}")
	}
	return `{"cascade_id": "x", "phases": [` + strings.Join(phases, ",\n") + `]}`
}

// An element that has failed has an object in its place, whatever the others are.
func TestOutputsOfACollectedList(t *testing.T) {
	t.Parallel()
	_, found, err := Parse("collected.yaml", []byte(`{cascade_id: c, phases: [
		{name: each, instructions: "Take {{ item }}.", for_each: {items: [1, 2], on_error: collect}},
		{name: end, instructions: "{{ outputs.each[0] }} {{ outputs.each[1].error | default('') }} {{ outputs.each[1].item }}"}]}`), testKnown())
	require.NoError(t, err, show(found))
	require.Empty(t, found)
}
