//go:build unix

package attack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// shell is about the values in the commands of declared tools: whatever a value holds, it is one word; where that cannot
// be had the cascade is refused.
func shell() group {
	return group{
		name: "shell",
		mutant: mutant{"the escaping of quotes in values", []lab.Edit{{
			File: "internal/template/quote/quote.go",
			Old:  `w := "'" + strings.ReplaceAll(s, "'", ` + "`'\\''`" + `) + "'"`,
			New:  `w := "'" + s + "'"`,
		}}},
		attempts: func(*testing.T, string) []attempt {
			var out []attempt
			for _, c := range contexts {
				for _, v := range hostileValues {
					out = append(out, c.with(v).attempt())
				}
			}
			for _, line := range refusedContexts {
				out = append(out, refusedContext(line).attempt())
			}
			return append(out, of(otherShell)...)
		},
	}
}

// shellPlace is a place where a value may stand in a command that prints it.
type shellPlace struct {
	name, line string
	prints     func(v string) string
}

var contexts = []shellPlace{
	{"a word", "printf '<%s>' {{ v }}", func(v string) string { return "<" + v + ">" }},
	{"joined", "printf '<%s>' --file={{ v }}.txt", func(v string) string { return "<--file=" + v + ".txt>" }},
	{"an assignment", `x={{ v }}; printf '<%s>' "$x"`, func(v string) string { return "<" + v + ">" }},
	{"in a substitution", "printf '<%s>' $(printf x){{ v }}", func(v string) string { return "<x" + v + ">" }},
	{"in an if", "if true; then printf '<%s>' {{ v }}; fi", func(v string) string { return "<" + v + ">" }},
	{"a list", "printf '<%s>' {{ [v, v] }}", func(v string) string { return "<" + v + "><" + v + ">" }},
	{"joined in the template", "printf '<%s>' {{ v ~ ' ' ~ v }}", func(v string) string { return "<" + v + " " + v + ">" }},
	{"behind a pipe", "true | printf '<%s>' {{ v }}", func(v string) string { return "<" + v + ">" }},
}

// value is what a model gives for an argument. {marker} is the file that only a program of the attacker makes.
type value struct{ name, text string }

var hostileValues = []value{
	{"a quote", "'; touch {marker}; '"},
	{"a quote and a comment", "'; touch {marker} #"},
	{"two quotes", "''; touch {marker}; ''"},
	{"an escaped quote", `\'; touch {marker}; \'`},
	{"a backslash at the end", `touch {marker} \`},
	{"the way out of the way out", `'\''; touch {marker}; '\''`},
	{"double quotes", `"; touch {marker}; "`},
	{"a substitution", "$(touch {marker})"},
	{"backquotes", "`touch {marker}`"},
	{"a substitution behind a quote", "'$(touch {marker})'"},
	{"an expansion", "${IFS}$(touch${IFS}{marker})"},
	{"arithmetic", "$((1+1))"},
	{"a line", "x\ntouch {marker}\n"},
	{"a carriage return", "x\r\ntouch {marker}\r"},
	{"and", "&& touch {marker}"},
	{"or", "|| touch {marker}"},
	{"a pipe", "| touch {marker}"},
	{"background", "& touch {marker} &"},
	{"a redirection", "> {marker}"},
	{"a redirection of input", "< {outside}/secret.txt"},
	{"a here-document", "<<E\n$(touch {marker})\nE"},
	{"a process substitution", ">(touch {marker})"},
	{"a glob", "*"},
	{"the home", "~"},
	{"braces", "{a,b}$(touch {marker})"},
	{"history", "!touch {marker}"},
	{"a function", "x() { touch {marker}; }; x"},
	{"an assignment", "PATH=/nowhere"},
	{"quotes of Unicode", "’; touch {marker}; ‘"},
	{"a form feed", "\f; touch {marker}\v"},
	{"a tag", "{{ 'x' }}{% raw %}"},
	{"long", strings.Repeat("'; touch {marker}; ", 300)},
}

// with puts a value into the context.
func (c shellPlace) with(v value) command {
	return command{
		name: "value: " + v.name + ": " + c.name,
		prepare: func(w *lab.World) {
			w.JSON("c.json", map[string]any{
				"cascade_id": "c", "inputs_schema": map[string]any{"v": "a value"},
				"tools":  []any{map[string]any{"tool_id": "show", "type": "shell", "command": c.line, "inputs_schema": map[string]any{"v": "a value"}}},
				"phases": []any{map[string]any{"name": "p", "tool": "show", "inputs": map[string]any{"v": "{{ input.v }}"}}},
			})
			w.JSON("input.json", map[string]any{"v": in(w, v.text)})
		},
		args: []string{"run", "c.json", "--input-file", "input.json", "--no-clickhouse", "-q"},
		want: []check{func(w *lab.World, o *lab.Outcome) error {
			want := c.prints(in(w, v.text))
			if got := strings.TrimSuffix(o.Out, "\n"); o.Code != exitOK || got != strings.TrimSuffix(want, "\n") {
				return fmt.Errorf("the command printed %q, not %q (exit %d, %s)", clip(got), clip(want), o.Code, clip(o.Err))
			}
			return nil
		}},
	}
}

// refusedContexts are commands in which no value can be quoted for certain.
var refusedContexts = []string{
	`echo '{{ v }}'`, `echo "{{ v }}"`, `echo "x {{ v }} y"`, "echo `{{ v }}`", `echo $(({{ v }}))`, `echo $[{{ v }}]`, `echo $'{{ v }}'`,
	`echo "$({{ v }})"`, "cat <<E\n{{ v }}\nE", "cat <<'E'\n{{ v }}\nE", "cat <<-E\n{{ v }}\nE", `cat <<< "{{ v }}"`, `# {{ v }}`, `echo x # {{ v }}`, `echo ${x:-{{ v }}}`,
	`echo "${x:-{{ v }}}"`, `echo \{{ v }}`, `echo ${{ v }}`, `cat <{{ v }}`, `(( {{ v }} ))`, `echo 'it' "'{{ v }}'"`, `echo "\"{{ v }}\""`,
	`echo '{% if v %}a{% endif %}'`, `echo {% if v %}'{% endif %}{{ v }}`, "echo `date` {{ v }}", `echo $'\'' {{ v }}`, `echo ${x#"'"} {{ v }}`,
}

func refusedContext(line string) command {
	return command{
		name:    "context: " + line,
		prepare: func(w *lab.World) { w.JSON("c.json", declaring(line)) },
		args:    []string{"validate", "c.json"},
		want:    []check{exits(exitInvalid, "")},
	}
}

// declaring is a cascade with one shell tool.
func declaring(line string) map[string]any {
	return map[string]any{
		"cascade_id": "c",
		"tools":      []any{map[string]any{"tool_id": "show", "type": "shell", "command": line, "inputs_schema": map[string]any{"v": "a value"}}},
		"phases":     []any{map[string]any{"name": "p", "instructions": "x", "tackle": []string{"show"}}},
	}
}

var otherShell = []calls{
	{
		name: "NUL in a value", tools: declaring("printf '<%s>' {{ v }}")["tools"].([]any),
		calls: []lab.Call{{Tool: "show", Args: map[string]any{"v": "a\x00; touch {marker}"}}}, want: []check{refused("NUL")},
	},
	{
		name: "a name that the template does not have", tools: declaring("printf '<%s>' {{ v }}")["tools"].([]any),
		calls: []lab.Call{{Tool: "show", Args: map[string]any{"v": "x", "$(touch {marker})": "y"}}}, want: []check{refused("")},
	},
	{
		name: "an object for a text", tools: declaring("printf '<%s>' {{ v }}")["tools"].([]any),
		calls: []lab.Call{{Tool: "show", Args: map[string]any{"v": map[string]any{"a'; touch {marker}; '": "b"}}}}, want: []check{refused("")},
	},
	{
		name: "env of the cascade's command", tools: declaring("env; printf '<%s>' {{ v }}")["tools"].([]any),
		calls: []lab.Call{{Tool: "show", Args: map[string]any{"v": "x"}}}, want: []check{lacks("OPENAI_API_KEY")},
	},
}

// encoded returns a value as JSON.
func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the tests' own values can be encoded
	}
	return string(data)
}
