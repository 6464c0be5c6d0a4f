//go:build unix

package attack

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// bombs is about small texts that stand for much work: each ends with an error, or with what it is, in bounded memory.
func bombs() group {
	return group{
		name: "bombs",
		mutant: mutant{"the bound on what a template writes", []lab.Edit{{
			File: "internal/template/value/limits.go",
			Old:  "if r.work > maxWork || r.work < 0 {",
			New:  "if r.work < 0 {",
		}}},
		attempts: func(*testing.T, string) []attempt {
			rows := of(fileBombs)
			for _, name := range sortedKeys(templateBombs) {
				rows = append(rows, templateBomb(name, templateBombs[name]).attempt())
			}
			for _, name := range sortedKeys(schemaBombs) {
				rows = append(rows, schemaBomb(name, schemaBombs[name]).attempt())
			}
			return append(append(rows, of(toolBombs)...), of(inputBombs)...)
		},
	}
}

// fails demands that the command did not succeed. That it keeps to its memory is demanded of every attempt.
func fails(w *lab.World, o *lab.Outcome) error {
	if o.Code == exitOK {
		return errorf("it was taken: %q", clip(o.Out))
	}
	return bounded(w, o)
}

func bounded(w *lab.World, o *lab.Outcome) error { return within(140<<10)(w, o) }

func bombFile(name, file string, text func() string, want check) command {
	return command{name: "file: " + name, prepare: func(w *lab.World) { w.File(file, text()) }, args: []string{"validate", file}, want: []check{want}}
}

// nested returns open n times, middle, and close n times.
func nested(open, middle, closing string, n int) func() string {
	return func() string { return strings.Repeat(open, n) + middle + strings.Repeat(closing, n) }
}

func constant(s string) func() string { return func() string { return s } }

// laughs is the alias bomb of YAML: each level names the one before nine times.
func laughs(levels int) string {
	var b strings.Builder
	b.WriteString("cascade_id: c\na0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return b.String()
}

// merges is the same with merge keys.
func merges(levels int) string {
	var b strings.Builder
	b.WriteString("cascade_id: c\nm0: &m0 {a: 1}\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&b, "m%d: &m%d {<<: [%s], b%d: *m%d, c%d: *m%d}\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*m%d, ", i-1), 9), ", "), i, i-1, i, i-1)
	}
	return b.String()
}

var fileBombs = []command{
	bombFile("deep lists of JSON", "c.json", nested("[", "", "]", 1_500_000), fails),
	bombFile("deep objects of JSON", "c.json", nested(`{"a":`, "1", "}", 500_000), fails),
	bombFile("deep and cut", "c.json", constant(strings.Repeat("[", 3<<20)), fails),
	bombFile("deep in a member", "c.json", func() string { return `{"cascade_id": "c", "phases": ` + nested("[", "", "]", 100_000)() + "}" }, fails),
	bombFile("a huge file", "c.json", func() string { return strings.Repeat(" ", 64<<20) }, fails),
	bombFile("a huge text", "c.json", func() string { return `{"cascade_id": "` + strings.Repeat("a", 40<<20) + `"}` }, fails),
	bombFile("a million keys", "c.json", func() string {
		var b strings.Builder
		b.WriteString(`{"cascade_id": "c"`)
		for i := range 200_000 {
			fmt.Fprintf(&b, `,"k%d":1`, i)
		}
		return b.String() + "}"
	}, fails),
	bombFile("the same key again", "c.json", func() string { return "{" + strings.TrimSuffix(strings.Repeat(`"a":1,`, 400_000), ",") + "}" }, fails),
	bombFile("a huge number", "c.json", func() string { return `{"cascade_id": "c", "phases": ` + strings.Repeat("9", 3<<20) + "}" }, fails),
	bombFile("a huge exponent", "c.json", constant(`{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x", "temperature": 1e999999999, "max_output_tokens": 1e999999999}]}`), fails),
	bombFile("deep lists of YAML", "c.yaml", nested("[", "", "]", 1_000_000), fails),
	bombFile("deep blocks of YAML", "c.yaml", func() string {
		var b strings.Builder
		for i := range 3000 {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}, fails),
	bombFile("deep sequences of YAML", "c.yaml", constant(strings.Repeat("- ", 1_000_000)+"a"), fails),
	bombFile("aliases", "c.yaml", constant(laughs(12)), fails),
	bombFile("many levels of aliases", "c.yaml", constant(laughs(100)), fails),
	bombFile("merge keys", "c.yaml", constant(merges(20)), fails),
	bombFile("an alias to itself", "c.yaml", constant("a: &a [*a]\ncascade_id: c\n"), fails),
	bombFile("a merge of itself", "c.yaml", constant("a: &a\n  <<: *a\ncascade_id: c\n"), fails),
	bombFile("tags", "c.yaml", constant("cascade_id: !!binary "+strings.Repeat("QUFB", 1<<18)+"\nphases: !!python/object:os.system x\n"), fails),
	bombFile("many documents", "c.yaml", constant(strings.Repeat("---\na: 1\n", 300_000)), fails),
	bombFile("anchors without end", "c.yaml", constant("a: "+strings.Repeat("&a ", 500_000)), fails),
	bombFile("no text", "c.json", constant(strings.Repeat("\x00", 1<<20)), fails),
	bombFile("no UTF-8", "c.json", constant("{\"cascade_id\": \"\xff\xfe\xc0\xaf\"}"), fails),
	bombFile("UTF-16", "c.json", constant("\xff\xfe{\x00}\x00"), fails),
	bombFile("many phases", "c.json", func() string {
		var b strings.Builder
		b.WriteString(`{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x"}`)
		for i := range 20_000 {
			fmt.Fprintf(&b, `,{"name": "p%d", "instructions": "x", "context": {"from": "all"}}`, i)
		}
		return b.String() + "]}"
	}, bounded),
	bombFile("phases in phases", "c.json", func() string {
		return `{"cascade_id": "c", "phases": [` + nested(`{"name": "p", "instructions": "x", "on_error": `, `"p"`, "}", 20_000)() + "]}"
	}, bounded),
}

// templateBombs are templates that would write, or compute, without an end.
var templateBombs = map[string]string{
	"range":                   "{% for i in range(1000000000) %}x{% endfor %}",
	"ranges in ranges":        "{% for i in range(10000) %}{% for j in range(10000) %}{% for k in range(10000) %}x{% endfor %}{% endfor %}{% endfor %}",
	"empty ranges":            "{% for i in range(100000) %}{% for j in range(100000) %}{% for k in range(100000) %}{% endfor %}{% endfor %}{% endfor %}",
	"a list of a range":       "{{ range(1000000000) | list | length }}",
	"a range beyond integers": "{% for i in range(0, 9223372036854775807) %}{% endfor %}",
	"a step of nothing":       "{% for i in range(0, 10, 0) %}x{% endfor %}",
	"a text times":            "{{ 'a' * 1000000000 }}",
	"a list times":            "{{ [1] * 1000000000 }}",
	"a power":                 "{{ 10 ** 1000000000 }}",
	"a doubled text":          "{% set x = 'aaaaaaaaaa' %}" + strings.Repeat("{% set x = x ~ x %}", 60) + "{{ x }}",
	"a doubled list":          "{% set x = [1, 2] %}" + strings.Repeat("{% set x = x + x %}", 60) + "{{ x | length }}",
	"a nested list":           "{% set x = [1, 2] %}" + strings.Repeat("{% set x = [x, x, x, x, x, x, x, x] %}", 30) + "{{ x }}",
	"a nested list as JSON":   "{% set x = [1, 2] %}" + strings.Repeat("{% set x = [x, x, x, x, x, x, x, x] %}", 30) + "{{ x | tojson }}",
	"a nested list compared":  "{% set x = [1, 2] %}{% set y = [1, 2] %}" + strings.Repeat("{% set x = [x, x, x, x, x, x, x, x] %}{% set y = [y, y, y, y, y, y, y, y] %}", 20) + "{{ x == y }}",
	"center":                  "{{ 'a' | center(1000000000) }}",
	"indent":                  "{{ 'a\nb' | indent(1000000000) }}",
	"replace":                 "{{ ('a' * 1000) | replace('a', 'bbbbbbbbbb' * 100000) }}",
	"replace of nothing":      "{% set x = 'aaaaaaaaaa' %}" + strings.Repeat("{% set x = x | replace('', x) %}", 12) + "{{ x }}",
	"replace again":           "{% set x = 'aaaaaaaaaa' %}" + strings.Repeat("{% set x = x | replace('a', x) %}", 8) + "{{ x }}",
	"join":                    "{% set x = 'aaaaaaaaaa' %}" + strings.Repeat("{% set x = x ~ x %}", 18) + "{{ range(1000) | join(x) }}",
	"batch":                   "{{ range(100000) | batch(1000000, 'x') | list | length }}",
	"slice":                   "{{ range(10) | slice(1000000000) | list | length }}",
	"format":                  "{{ '%1000000000d' | format(1) }}",
	"round":                   "{{ 1.5 | round(1000000000) }}",
	"wordwrap":                "{{ ('a ' * 100000) | wordwrap(1) }}",
	"JSON with an indent":     "{{ {'a': [1, 2]} | tojson(indent=1000000000) }}",
	"deep parentheses":        "{{ " + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000) + " }}",
	"deep lists":              "{{ " + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + " }}",
	"deep conditions":         strings.Repeat("{% if 1 %}", 50_000) + strings.Repeat("{% endif %}", 50_000),
	"a chain of filters":      "{{ 'a'" + strings.Repeat(" | upper", 200_000) + " }}",
	"a chain of members":      "{{ input" + strings.Repeat(".a", 200_000) + " }}",
	"a chain of not":          "{{ " + strings.Repeat("not ", 200_000) + "1 }}",
	"a chain of minus":        "{{ " + strings.Repeat("-", 300_000) + "1 }}",
	"a chain of sums":         "{{ 1" + strings.Repeat(" + 1", 300_000) + " }}",
	"tags without an end":     strings.Repeat("{{", 300_000),
	"comments without an end": strings.Repeat("{# ", 300_000),
	"a macro of itself":       "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
	"an include":              "{% include '../outside/secret.txt' %}",
	"an import":               "{% import '../outside/secret.txt' as x %}{{ x }}",
	"a class":                 "{{ ''.__class__.__mro__[1].__subclasses__() }}",
	"globals":                 "{{ self._TemplateReference__context }}{{ cycler.__init__.__globals__ }}",
	"the environment":         "{{ env.OPENAI_API_KEY }}",
	"a do":                    "{% set x = [] %}{% for i in range(1000) %}{% do x.append(x) %}{% endfor %}{{ x }}",
}

func templateBomb(name, text string) command {
	return command{
		name: "template: " + name,
		prepare: func(w *lab.World) {
			w.JSON("c.json", map[string]any{"cascade_id": "c", "phases": []any{map[string]any{"name": "p", "instructions": text}}})
			w.File("c.script.json", `{"default": [{"text": "done"}]}`)
		},
		args: []string{"run", "c.json", "--offline", "--no-clickhouse", "-q"}, want: []check{fails},
	}
}

// schemaBombs are schemas of the input, to be checked against a value.
var schemaBombs = map[string][2]string{
	"a reference to itself":      {`{"type": "object", "properties": {"v": {"$ref": "#"}}, "$ref": "#"}`, `{"v": 1}`},
	"references in a circle":     {`{"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`, `{"v": 1}`},
	"a reference to a file":      {`{"type": "object", "properties": {"v": {"$ref": "file://{outside}/secret.txt"}}}`, `{"v": 1}`},
	"a reference to a network":   {`{"type": "object", "properties": {"v": {"$ref": "http://127.0.0.1:9/x"}}}`, `{"v": 1}`},
	"a dynamic reference":        {`{"$dynamicAnchor": "a", "type": "object", "properties": {"v": {"$dynamicRef": "#a"}}, "allOf": [{"$dynamicRef": "#a"}]}`, `{"v": 1}`},
	"a pattern":                  {`{"type": "object", "properties": {"v": {"type": "string", "pattern": "((a{100}){100}){100}"}}}`, `{"v": "a"}`},
	"a pattern of repetitions":   {`{"type": "object", "properties": {"v": {"type": "string", "pattern": "(((((a{10}){10}){10}){10}){10}){10}"}}}`, `{"v": "a"}`},
	"a lookahead":                {`{"type": "object", "properties": {"v": {"type": "string", "pattern": "(?=a)b"}}}`, `{"v": "a"}`},
	"a multiple of next to none": {`{"type": "object", "properties": {"v": {"multipleOf": 1e-999999999}}}`, `{"v": 1}`},
	"a huge bound":               {`{"type": "object", "properties": {"v": {"minimum": 1e999999999}}}`, `{"v": 1}`},
	"a huge length":              {`{"type": "object", "properties": {"v": {"minLength": 1e999999999}}}`, `{"v": "1"}`},
	"a media type":               {`{"type": "object", "properties": {"v": {"contentEncoding": "base64", "contentMediaType": "application/json", "format": "regex"}}, "additionalProperties": {"$ref": "../outside/secret.txt"}}`, `{"v": "e30="}`},
}

func schemaBomb(name string, s [2]string) command {
	return command{
		name: "schema: " + name,
		prepare: func(w *lab.World) {
			w.File("c.json", `{"cascade_id": "c", "inputs_schema": `+in(w, s[0])+`, "phases": [{"name": "p", "instructions": "x"}]}`)
			w.File("c.script.json", `{"default": [{"text": "done"}]}`)
			w.File("input.json", s[1])
		},
		args: []string{"run", "c.json", "--offline", "--no-clickhouse", "-q", "--input-file", "input.json"}, want: []check{fails},
	}
}

func sparse(name string, size int64) func(w *lab.World) {
	return func(w *lab.World) {
		w.File(name, "x\n")
		w.Must(os.Truncate(w.Path(name), size))
	}
}

func toolBomb(name, tool string, args map[string]any, prepare func(*lab.World), want ...check) calls {
	return calls{name: "tool: " + name, prepare: prepare, calls: []lab.Call{{Tool: tool, Args: args}}, want: append(want, bounded)}
}

func lines(w *lab.World) { w.File("a.txt", strings.Repeat(strings.Repeat("a", 1000)+"\n", 5000)) }

var toolBombs = []calls{
	toolBomb("read a file of a terabyte", "read_file", map[string]any{"path": "a.txt"}, sparse("a.txt", 1<<40)),
	toolBomb("read far into a file", "read_file", map[string]any{"path": "a.txt", "offset": 2_000_000_000}, lines),
	toolBomb("read one line of 40 MiB", "read_file", map[string]any{"path": "a.txt"}, func(w *lab.World) { w.File("a.txt", strings.Repeat("a", 40<<20)) }),
	toolBomb("read more lines than there may be", "read_file", map[string]any{"path": "a.txt", "limit": 1_000_000_000}, lines, refused("")),
	toolBomb("read from a huge number", "read_file", map[string]any{"path": "a.txt", "offset": 1e300}, lines, refused("")),
	toolBomb("search a file of a terabyte", "search_files", map[string]any{"pattern": "."}, sparse("a.txt", 1<<40)),
	toolBomb("search with repetitions", "search_files", map[string]any{"pattern": "((a{100}){100}){100}"}, lines, refused("regular expression")),
	toolBomb("search with more repetitions", "search_files", map[string]any{"pattern": "(a?){1000}(a?){1000}a{1000}$"}, func(w *lab.World) { w.File("a.txt", strings.Repeat("a", 20_000)) }),
	toolBomb("search with nested stars", "search_files", map[string]any{"pattern": "(((a*)*)*)*b"}, lines),
	toolBomb("search for nothing", "search_files", map[string]any{"pattern": "", "max_results": 200, "context": 10}, lines),
	toolBomb("search with a deep pattern", "search_files", map[string]any{"pattern": strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000)}, lines, refused("")),
	toolBomb("a glob of braces", "list_files", map[string]any{"pattern": strings.Repeat("{a,", 2000) + strings.Repeat("}", 2000)}, lines),
	toolBomb("a glob of stars", "list_files", map[string]any{"pattern": strings.Repeat("**/", 20_000) + "x"}, lines),
	toolBomb("a glob that is cut", "list_files", map[string]any{"pattern": "{a,{b,[c"}, lines, refused("not a glob")),
	toolBomb("a glob of a range that goes back", "list_files", map[string]any{"pattern": "[z-a]"}, lines, refused("not a glob")),
	toolBomb("a list of many files", "list_files", map[string]any{"path": "."}, func(w *lab.World) {
		for i := range 20_000 {
			w.Must(os.WriteFile(w.Path(fmt.Sprintf("%0200d", i)), nil, 0o600))
		}
	}),
	toolBomb("write more than may be", "write_file", map[string]any{"path": "a.txt", "content": strings.Repeat("a", 5<<20)}, nil, refused("more than 4 MiB")),
	toolBomb("a deep value of state", "set_state", map[string]any{"key": "a", "value": deepValue(5000)}, nil),
}

func deepValue(n int) any {
	var v any = 1
	for range n {
		v = []any{v}
	}
	return v
}

func inputBomb(name, file string, text func() string) command {
	return command{
		name: "input: " + name,
		prepare: func(w *lab.World) {
			w.File("c.json", `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x"}]}`)
			w.File("c.script.json", `{"default": [{"text": "done"}]}`)
			w.File(file, text())
		},
		args: []string{"run", "c.json", "--offline", "--no-clickhouse", "-q", "--input-file", file}, want: []check{fails},
	}
}

var inputBombs = []command{
	inputBomb("deep JSON", "i.json", func() string { return `{"v": ` + nested("[", "", "]", 1_500_000)() + "}" }),
	inputBomb("aliases", "i.yaml", constant(laughs(12))),
	inputBomb("merge keys", "i.yaml", constant(merges(20))),
	inputBomb("no object", "i.json", constant("[1]")),
	inputBomb("two values", "i.json", constant("{} {}")),
	inputBomb("huge", "i.json", func() string { return `{"v": "` + strings.Repeat("a", 40<<20) + `"}` }),
}
