package template_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/template"
)

func vars() map[string]any {
	return map[string]any{
		"input": map[string]any{
			"service": "api", "count": 3, "ratio": 0.5, "whole": 2.0, "big": json.Number("123456789012345678901234567890"),
			"tags": []any{"b", "a", "C"}, "nested": map[string]any{"z": nil, "a": []any{true, "x\"y"}}, "empty": "",
			"people": []any{
				map[string]any{"name": "Ann", "age": 40, "city": "Bern"},
				map[string]any{"name": "Bo", "age": 30, "city": "Chur"},
				map[string]any{"name": "Cy", "age": 30, "city": "Bern"},
			},
			"items": "a member of that name",
		},
		"state": map[string]any{"done": true, "n": 1}, "outputs": map[string]any{"research": "found <it>"},
		"turn": 2, "raw": json.RawMessage(`{"k":[1.50,2]}`), "typed": struct {
			A int `json:"a"`
		}{7},
	}
}

func render(t *testing.T, src string) (string, []string, error) {
	t.Helper()
	tmpl, err := template.Parse(src)
	require.NoError(t, err, src)
	return tmpl.Render(vars())
}

func TestRender(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"no tags } { %":           "no tags } { %",
		"{{ input.service }}!\n":  "api!\n",
		"{{\n  input.service\n}}": "api",
		"{{ input['service'] }}{{ input.tags[0] }}{{ input.tags[-1] }}": "apibC",
		"{{ outputs.research }}": "found <it>",
		"{{ input.count }} {{ input.ratio }} {{ input.whole }} {{ input.big }}":                                            "3 0.5 2 123456789012345678901234567890",
		"{{ true }} {{ none }} {{ input.nested }}":                                                                         `true null {"a":[true,"x\"y"],"z":null}`,
		"{{ raw }} {{ typed.a }} {{ typed }}":                                                                              `{"k":[1.5,2]} 7 {"a":7}`,
		"{{ input.tags | tojson }} {{ input.tags | tojson(indent=2) }}":                                                    "[\"b\",\"a\",\"C\"] [\n  \"b\",\n  \"a\",\n  \"C\"\n]",
		"{{ input.tags | join(', ') }}{{ '\\n' }}":                                                                         "b, a, C\n",
		"{{ input.tags | sort | join }} {{ input.tags | length }} {{ 'héé' | length }}":                                    "abC 3 3",
		"{{ ' x ' | trim }}{{ 'aB' | lower }}{{ 'aB' | upper }}{{ 'hello world' | title }}":                                "xabABHello World",
		"{{ 'hello big world' | truncate(12) }}|{{ 'hello big world' | truncate(9, true, '.') }}":                          "hello...|hello bi.",
		"{{ input.nope | default('x') }}{{ input.a.b.c | default('y') }}{{ nope | d(input.service) }}":                     "xyapi",
		"{{ input.empty | default('z') }}|{{ input.empty | default('z', true) }}":                                          "|z",
		"{{ input.nope is defined }} {{ input.service is defined }} {{ nope.x is undefined }}":                             "false true true",
		"{% if input.count > 2 and not input.empty %}yes{% elif turn %}x{% else %}no{% endif %}":                           "yes",
		"{% for x in input.tags %}{{ loop.index }}/{{ loop.length }}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}": "1/3b,2/3a,3/3C",
		"{% for k, v in input.nested.items() %}{{ k }}={{ v }};{% else %}none{% endfor %}":                                 `a=[true,"x\"y"];z=null;`,
		"{% for x in [] %}a{% else %}none{% endfor %}":                                                                     "none",
		"{{ range(9223372036854775800, 9223372036854775807, 5) | list }}":                                                  "[9223372036854775800,9223372036854775805]",
		"{{ range(-9223372036854775800, -9223372036854775807, -5) | list }}":                                               "[-9223372036854775800,-9223372036854775805]",
		"{% for x in range(10) if x is odd %}{{ x }}{% endfor %}":                                                          "13579",
		"{% set x = 1 %}{% for i in range(3) %}{% set x = 5 %}{% endfor %}{{ x }}":                                         "1",
		"{% set n = namespace(sum=0) %}{% for i in range(4) %}{% set n.sum = n.sum + i %}{% endfor %}{{ n.sum }}":          "6",
		"{% set x %}a{{ turn }}{% endset %}{{ x | upper }}":                                                                "A2",
		"{% macro hi(name, mark='!') %}hi {{ name }}{{ mark }}{% endmacro %}{{ hi('a') }} {{ hi('b', mark='?') }}":         "hi a! hi b?",
		"{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}":                                                                  "3",
		"{% raw %}{{ not.a.tag }}{% endraw %}{# nothing #}":                                                                "{{ not.a.tag }}",
		"a {{- ' b ' -}} c {%- if true %} d{% endif %}":                                                                    "a b c d",
		"{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 1 + 2 * 3 }}":                                "3 -4 2 3.5 1024 7",
		"{{ 'a' + 'b' ~ 1 }} {{ 'ab' * 3 }} {{ [1] + [2] }}":                                                               "ab1 ababab [1,2]",
		"{{ 'a' in 'abc' }} {{ 'b' in input.tags }} {{ 'z' not in input.nested }}":                                         "true true false",
		"{{ 'api' in input.tags | default([]) }} {{ ('b' in input.tags) | string }}":                                       "false true",
		"{{ 'yes' if input.service == 'api' else 'no' }}{{ 'x' if false }}":                                                "yes",
		"{{ input.people | map(attribute='name') | join(',') }} {{ input.tags | map('upper') | join }}":                    "Ann,Bo,Cy BAC",
		"{{ input.people | selectattr('age', 'eq', 30) | map(attribute='name') | join(',') }}":                             "Bo,Cy",
		"{{ input.people | sum('age') }} {{ input.people | max(attribute='age') | tojson }}":                               `100 {"age":40,"city":"Bern","name":"Ann"}`,
		"{% for city, list in input.people | groupby('city') %}{{ city }}:{{ list | length }} {% endfor %}":                "Bern:2 Chur:1 ",
		"{{ input.items }} {{ [3,1,2] | sort(reverse=true) }} {{ [1,1,2] | unique }} {{ 'abc' | reverse }}":                "a member of that name [3,2,1] [1,2] cba",
		"{{ '12' | int + 1 }} {{ 'x' | int(0) }} {{ '1.5' | float }} {{ 2.567 | round(1) }} {{ -3 | abs }}":                "13 0 1.5 2.6 3",
		"{{ 'abcdef'[1:3] }} {{ [1,2,3][::-1] }} {{ 'a,b'.split(',') }} {{ 'abc'.startswith('a') }}":                       `bc [3,2,1] ["a","b"] true`,
		"{{ '{\"a\": [1]}' | fromjson }} {{ {'a': 1, 'b': [2]} }}":                                                         `{"a":[1]} {"a":1,"b":[2]}`,
		"{{ 'a\nb' | indent(2) }} {{ 'a b  c' | wordcount }} {{ 'x y' | urlencode }}":                                      "a\n  b 3 x%20y",
	} {
		got, warnings, err := render(t, src)
		require.NoError(t, err, src)
		require.Empty(t, warnings, src)
		require.Equal(t, want, got, src)
	}
}

// TestBinding: operators, tests and filters bind as in Jinja.
func TestBinding(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"{{ 1 + 2 * 3 ** 2 - 4 // 3 }} {{ 'a' + 'b' ~ 1 + 'c' }}":                 "18 ab1c",
		"{{ 2 ** 3 ** 2 }} {{ -1 | abs }} {{ -2 ** 2 }}":                          "64 1 4",
		"{{ not 1 == 2 and 3 in [3] or nope }}":                                   "true",
		"{{ not 'a' in ['b'] | map('upper') }} {{ 'B' in ['b'] | map('upper') }}": "true true",
		"{{ true and 'B' in ['b'] | map('upper') | join }}":                       "true",
		"{{ 3 in [1] + [3] }} {{ (4 is divisibleby 2) | string ~ '!' }}":          "true true!",
		"{{ 4 is divisibleby 2 | int }} {{ nope is defined | string | length }}":  "1 5",
		"{{ 2 + 1 is odd }} {{ not 2 is odd }} {{ 2 is not odd and 3 is odd }}":   "true true true",
		"{{ 'x' if 1 is even else 'y' if 1 is even else 'z' }}":                   "z",
		"{% set x = 1 if false else 2 if false else 3 %}{{ x }}":                  "3",
		"{{ [[1, 2], [3]].0.1 }}{{ (1, 2,)[1] }}{{ {'a': {'b': 3}}.a['b'] }}":     "223",
		"{{ 'a\\\\' ~ '}}' }}": `a\}}`,
	} {
		got, _, err := render(t, src)
		require.NoError(t, err, src)
		require.Equal(t, want, got, src)
	}
}

func TestMissingVariables(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"{{ input.servce }}":                                       `input.servce|did you mean "input.service"?`,
		"{{ inputs.service }}":                                     `inputs|did you mean "input"?`,
		"{{ input.service.name }}":                                 `input.service.name|input.service is a string`,
		"{{ input.nested.q.r }}":                                   `input.nested.q|`,
		"{{ input['x y'] }}":                                       `input["x y"]|`,
		"{{ input.tags[7] }}":                                      `input.tags[7]|input.tags is a list of 3`,
		"{% for x in input.people %}{{ x.nam }}{% endfor %}":       `x.nam|did you mean "x.name"?`,
		"{% if input.nope %}{% endif %}":                           `input.nope|`,
		"{% if nope == 1 %}{% endif %}":                            `nope|`,
		"{% for x in nope %}{% endfor %}":                          `nope|`,
		"{{ nope | upper }}":                                       `nope|`,
		"{{ 'a' | replace('a', nope) }}":                           `nope|`,
		"{{ [nope] | length }}":                                    `nope|`,
		"{{ {'a': nope} }}":                                        `nope|`,
		"{{ input[nope] }}":                                        `nope|`,
		"{{ 'a' ~ nope }}":                                         `nope|`,
		"{% set x = nope %}{{ x | default('') }}":                  `nope|`,
		"{% macro m(a) %}{% endmacro %}{{ m(nope) }}":              `nope|`,
		"{{ nope | default(nope2) }}":                              `nope2|`,
		"{% set s = state %}{{ s.gone }}":                          `s.gone|`,
		"{{ 'a' if nope else 'b' }}":                               `nope|`,
		"{{ not nope }}{{ -nope }}":                                `nope|`,
		"{% with a = nope %}{% endwith %}":                         `nope|`,
		"{{ nope.get('a') }}":                                      `nope|`,
		"{{ input.people | map(attribute='x') | list }}{{ nope }}": `-`,
		"{% for state in [input] %}{{ state.gone }}{% endfor %}":   `state.gone|`,
		"{{ (nope) }}{{ nope[1:2] }}":                              `nope|`,
		"{{ true and nope }}{{ nope is odd }}{{ nope in [1] }}":    `nope|`,
	} {
		text, _, err := render(t, src)
		require.Error(t, err, src)
		require.Empty(t, text)
		if want == "-" {
			require.ErrorContains(t, err, `filter map: an item has no member "x"`)
			continue
		}
		name, hint, _ := strings.Cut(want, "|")
		var missing *template.MissingError
		require.ErrorAs(t, err, &missing, src)
		require.Equal(t, name, missing.Name, src)
		require.Contains(t, missing.Hint, hint, src)
	}
	_, _, err := render(t, "ab\n  {{ input.servce }}")
	require.EqualError(t, err, `template, line 2, column 6: variable "input.servce" is missing (did you mean "input.service"?)`)
}

func TestStateAndOutputsAreSoft(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"[{{ state.gone }}]":                         "[]|state.gone",
		"[{{ outputs.gone.deep | upper }}]":          "[]|outputs.gone",
		"[{{ outputs['reserch'] }}]":                 "[]|outputs.reserch",
		"{% if state.gone %}a{% else %}b{% endif %}": "b|state.gone",
		"{% for x in state.list %}a{% endfor %}":     "|state.list",
		"{{ state.gone ~ state.gone }}":              "|state.gone",
		"{{ state.gone | length }}":                  "0|state.gone",
		"{{ state.gone | default('q') }}":            "q|",
		"{{ state.gone is defined }}":                "false|",
	} {
		text, warnings, err := render(t, src)
		require.NoError(t, err, src)
		out, name, _ := strings.Cut(want, "|")
		require.Equal(t, out, text, src)
		if name == "" {
			require.Empty(t, warnings, src)
			continue
		}
		require.Len(t, warnings, 1, src)
		require.Contains(t, warnings[0], name+" is missing and rendered as empty", src)
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"{{ a":                                   `template, line 1, column 1: the tag is not closed: }} is missing`,
		"x\n {{ a b }}":                          `template, line 2, column 7: '}}' expected here, found "b"`,
		"{% if a %}x":                            `template, line 1, column 1: the tag is not closed: elif or else or endif is missing`,
		"{% endif %}":                            `template, line 1, column 4: "endif" without the tag it belongs to`,
		"{% iff a %}":                            `template, line 1, column 4: there is no tag "iff" (did you mean "if"?)`,
		"{% include 'x' %}":                      `template, line 1, column 4: the tag "include" is not allowed: a template cannot read other files (write the text in place, or pass it in as a variable)`,
		"{% extends 'x' %}":                      `template, line 1, column 4: the tag "extends" is not allowed: a template cannot read other files (write the text in place, or pass it in as a variable)`,
		"{% from 'x' import y %}":                `template, line 1, column 4: the tag "from" is not allowed: a template cannot read other files (write the text in place, or pass it in as a variable)`,
		"{{ a | lenght }}":                       `template, line 1, column 8: there is no filter "lenght" (did you mean "length"?)`,
		"{{ a is defnied }}":                     `template, line 1, column 9: there is no test "defnied" (did you mean "defined"?)`,
		"{{ rnge(3) }}":                          `template, line 1, column 4: there is no function or macro "rnge" (did you mean "range"?)`,
		"{{ a.itmes() }}":                        `template, line 1, column 5: there is no method "itmes" (did you mean "items"?)`,
		"{{ a.Execute() }}":                      `template, line 1, column 5: there is no method "Execute" (there is capitalize, endswith, get, items, join, keys, lower, lstrip and 9 more)`,
		"{{ 'a }}":                               `template, line 1, column 4: the string is not closed: ' is missing`,
		"{{ a ? b }}":                            `template, line 1, column 6: unexpected character '?'`,
		"{# x":                                   `template, line 1, column 1: the comment is not closed: #} is missing`,
		"{% for in x %}{% endfor %}":             `template, line 1, column 8: a loop variable is missing: write {% for x in list %}`,
		"{{ (a }}":                               `template, line 1, column 7: ')' expected here, found "}}"`,
		"{{ a) }}":                               `template, line 1, column 5: unexpected ')'`,
		"{% raw %}x":                             `template, line 1, column 1: the tag raw is not closed: {% endraw %} is missing`,
		"{{ }}":                                  `template, line 1, column 4: expected a value, found "}}"`,
		strings.Repeat("{% if a %}", 100):        `template, line 1, column 601: tags nest deeper than 60 levels`,
		"{{ " + strings.Repeat("(", 100) + " }}": `template, line 1, column 64: brackets nest deeper than 60 levels`,
	} {
		_, err := template.Parse(src)
		var syntax *template.SyntaxError
		require.ErrorAs(t, err, &syntax, src)
		require.EqualError(t, err, want, src)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, src := range []string{
		"{% for i in range(1000000000) %}{% endfor %}",
		"{% for i in range(9223372036854775800, 9223372036854775807, 100) %}{% endfor %}{{ 'a' * 10000000 }}",
		"{% for a in range(50000) %}{% for b in range(50000) %}{% endfor %}{% endfor %}",
		"{{ 'a' * 1000000000000 }}",
		"{% set s = 'x' * 4000000 %}{{ s | replace('', s) }}",
		"{% for i in range(100000) %}{{ 'x' * 100 }}{% endfor %}",
		"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
		"{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
		"{% set n = namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}",
		"{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
		"{% set n = namespace(x=[1]) %}{% for i in range(300) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x | tojson }}",
		"{% set s = 'x' * 4000000 %}{% for i in range(1000) %}{% set t = s | upper %}{% endfor %}",
		"{% set s = range(90000) | list %}{% for i in range(1000) %}{% set t = s | sort %}{% endfor %}",
	} {
		_, _, err := render(t, src)
		require.ErrorIs(t, err, template.ErrLimit, src)
		var re *template.RenderError
		require.ErrorAs(t, err, &re, src)
	}
	require.Less(t, time.Since(start), 30*time.Second)
}

func TestRenderErrorsNameTheOperation(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"{{ 1 + 'a' }}":                           "template, line 1, column 4: cannot add a number and a string; join texts with ~",
		"{{ 1 / 0 }}":                             "template, line 1, column 4: division by zero",
		"{{ 1 < 'a' }}":                           "template, line 1, column 4: cannot compare a number with a string",
		"{{ 'x' | int }}":                         `template, line 1, column 10: filter int: "x" is not an integer; give a default: int(0)`,
		"{{ 5 | join(',') }}":                     "template, line 1, column 8: filter join: cannot loop over a number",
		"{{ 'a' | trim('a', 'b') }}":              "template, line 1, column 10: filter trim: it takes at most 1 arguments, not 2",
		"{{ 'a' | trim(x=1) }}":                   "template, line 1, column 10: filter trim: there is no argument x",
		"{{ [] | first }}":                        "template, line 1, column 9: filter first: the list is empty",
		"{% for a, b in [1] %}{% endfor %}":       "template, line 1, column 1: cannot take 2 names from a number; for an object write .items()",
		"{% macro m(a) %}{% endmacro %}{{ m() }}": "template, line 1, column 34: the macro m needs the argument a",
		"{% macro m(a) %}{% endmacro %}{{ m }}":   "template, line 1, column 34: a macro or a namespace is not a value: call the macro, or name one member",
	} {
		_, _, err := render(t, src)
		require.EqualError(t, err, want, src)
	}
}

// hostileValue has methods that a template must not reach, and an encoding that panics.
type hostileValue struct{}

func (hostileValue) Secret() string               { return "secret" }
func (hostileValue) MarshalJSON() ([]byte, error) { panic("boom") }

func TestValuesOfOtherTypes(t *testing.T) {
	t.Parallel()
	tmpl, err := template.Parse("{{ v.Secret }}")
	require.NoError(t, err)
	_, _, err = tmpl.Render(map[string]any{"v": hostileValue{}})
	require.EqualError(t, err, "template, line 1, column 1: the template cannot be rendered: boom")
	_, _, err = tmpl.Render(map[string]any{"v": struct{ Secret func() }{}})
	require.Error(t, err)
	tmpl, err = template.Parse("{{ a }} {{ b }} {{ c }} {{ d }}")
	require.NoError(t, err)
	got, _, err := tmpl.Render(map[string]any{"a": math.NaN(), "b": []string{"x"}, "c": errors.New("e"), "d": time.Duration(5)})
	require.NoError(t, err)
	require.Equal(t, `null ["x"] {} 5`, got)
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		"plain":                nil,
		"{{ input.a }}{{ b }}": {"b", "input"},
		"{% for input in state.x %}{{ input.a }}{% endfor %}":        {"state"},
		"{% for input in input.x %}{% endfor %}":                     {"input"},
		"{% set x = turn %}{{ x }}":                                  {"turn"},
		"{{ y | default(input.z) }}":                                 {"input", "y"},
		"{% macro m(a) %}{{ a }}{{ q }}{% endmacro %}{{ m(1) }}":     {"q"},
		"{% for x in l %}{{ loop.index }}{% endfor %}":               {"l"},
		"{{ 'input.x' }}{# input #}{% raw %}{{ input }}{% endraw %}": nil,
		"{% if a is defined %}{% endif %}":                           {"a"},
	} {
		tmpl, err := template.Parse(src)
		require.NoError(t, err)
		require.Empty(t, cmpStrings(want, tmpl.References()), src)
	}
	tmpl, err := template.Parse("{{ input.a }}")
	require.NoError(t, err)
	require.True(t, tmpl.Uses("input"))
	require.False(t, tmpl.Uses("a"))
}

func cmpStrings(a, b []string) string {
	if strings.Join(a, ",") == strings.Join(b, ",") {
		return ""
	}
	return strings.Join(a, ",") + " != " + strings.Join(b, ",")
}

func TestURL(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"https://h.example/a/{{ v }}?q={{ v }}":            "https://h.example/a/a%2Fb%3Fc%26%C3%A9%20..?q=a%2Fb%3Fc%26%C3%A9%20..",
		"https://h.example?x={{ l }}":                      "https://h.example?x=1,a%2Cb",
		"{{ base | raw }}/v1/{{ v }}":                      "http://x/v1/a%2Fb%3Fc%26%C3%A9%20..",
		"https://{{ host | raw }}/{{ 1 }}":                 "https://evil/1",
		"https://h.example/{% if v %}a/{{ 1 }}{% endif %}": "https://h.example/a/1",
	} {
		tmpl, err := template.ParseMode(template.ModeURL, src)
		require.NoError(t, err, src)
		got, _, err := tmpl.Render(map[string]any{"v": "a/b?c&é ..", "l": []any{1, "a,b"}, "base": "http://x", "host": "evil"})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, src := range []string{
		"{{ v }}", "https://{{ v }}/x", "https://a{{ v }}", "https://a.example:{{ v }}/", "{{ v }}://x/", "https://a{% if v %}/{% endif %}{{ v }}",
	} {
		_, err := template.ParseMode(template.ModeURL, src)
		require.ErrorContains(t, err, "host", src)
	}
}

func TestJSONDocuments(t *testing.T) {
	t.Parallel()
	hostile := "a\"b\\c\n{{ x }}</é"
	for _, src := range []string{
		`{"a": {{ v }}, "b": "x{{ v }}y", "c": [{{ l }}, {{ l | length }}]}`,
		`{"a": "\"{{ v }}", {% if v %}"d": {{ v }},{% endif %} "z": "{{ l }}"}`,
	} {
		tmpl, err := template.ParseMode(template.ModeJSON, src)
		require.NoError(t, err, src)
		got, _, err := tmpl.Render(map[string]any{"v": hostile, "l": []any{"q\"", 1}})
		require.NoError(t, err)
		var doc map[string]any
		require.NoError(t, json.Unmarshal([]byte(got), &doc), got)
		if strings.HasPrefix(src, `{"a": {{`) {
			require.Equal(t, hostile, doc["a"])
			require.Equal(t, "x"+hostile+"y", doc["b"])
		} else {
			require.Equal(t, `"`+hostile, doc["a"])
			require.Equal(t, `["q\"",1]`, doc["z"])
		}
	}
	for src, want := range map[string]string{
		`{"a": "\{{ v }}"}`:             "after a backslash",
		`{% if v %}"{% endif %}{{ v }}`: "opens or closes a JSON string",
	} {
		_, err := template.ParseMode(template.ModeJSON, src)
		require.ErrorContains(t, err, want, src)
	}
}

func TestConcurrentRendering(t *testing.T) {
	t.Parallel()
	tmpl, err := template.Parse("{% set x = v %}{% for i in range(50) %}{{ i }}{% endfor %}{{ x }}")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				got, _, err := tmpl.Render(map[string]any{"v": i})
				if err != nil || !strings.HasSuffix(got, string(rune('0'+i))) {
					t.Errorf("render %d: %q, %v", i, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"{{ a.b[0] | default('x') }}", "{% for x in l %}{{ loop.index }}{% else %}{% endfor %}", "{% if a in l | list %}{% endif %}",
		"{% macro m(a, b=1) %}{{ a }}{% endmacro %}{{ m(1) }}", "{{ l[::2] ~ -1 ** 2 }}", "{%- set x = {'a': 1} -%}", "{% raw %}{{{% endraw %}",
		"echo '{{ a }}' \"$(x)\" ${y}", "https://x/{{ a }}", `{"a": "{{ a }}"}`, "{{ l | groupby('x') | map('upper') }}",
	} {
		f.Add(s, "v'\"$(x)`")
	}
	modes := []template.Mode{template.ModeText, template.ModeShell, template.ModeURL, template.ModeForm, template.ModeJSON}
	f.Fuzz(func(t *testing.T, src, value string) {
		for _, m := range modes {
			tmpl, err := template.ParseMode(m, src)
			if err != nil {
				var syntax *template.SyntaxError
				if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Col < 1 || strings.Contains(err.Error(), "cannot be read:") {
					t.Fatalf("%q: %v", src, err)
				}
				continue
			}
			v := map[string]any{"a": value, "l": []any{value, 1, map[string]any{"x": value}}, "state": map[string]any{}}
			_, _, err = tmpl.Render(v)
			if err != nil && strings.Contains(err.Error(), "cannot be rendered") {
				t.Fatalf("%q: %v", src, err)
			}
		}
	})
}

func BenchmarkRenderSmall(b *testing.B) {
	tmpl, err := template.Parse("Find out why {{ input.service }} fails in {{ input.region }}. Turn {{ turn }}.")
	require.NoError(b, err)
	v := map[string]any{"input": map[string]any{"service": "api", "region": "eu"}, "turn": 3}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := tmpl.Render(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenderLoop(b *testing.B) {
	tmpl, err := template.Parse("{% for p in people if p.age > 20 %}{{ loop.index }}. {{ p.name | upper }}{% if not loop.last %}, {% endif %}" +
		"{% endfor %} {{ people | map(attribute='age') | sum + 1 }} {{ people | tojson }}")
	require.NoError(b, err)
	people := make([]any, 50)
	for i := range people {
		people[i] = map[string]any{"name": "Ann", "age": int64(i)}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := tmpl.Render(map[string]any{"people": people}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenderCommand(b *testing.B) {
	tmpl, err := template.ParseShell("grep -n -- {{ pattern }} {{ files }} | head -n {{ n | int }}")
	require.NoError(b, err)
	v := map[string]any{"pattern": "it's", "files": []any{"a b", "c"}, "n": 5}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := tmpl.Render(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseSmall(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := template.Parse("Find out why {{ input.service }} fails in {{ input.region }}. Turn {{ turn }}."); err != nil {
			b.Fatal(err)
		}
	}
}

// TestHintsAreSound: what a hint proposes can be written there.
func TestHintsAreSound(t *testing.T) {
	t.Parallel()
	vars := map[string]any{"input": map[string]any{"first name": 1, "service": 2, "list": []any{1}}}
	for src, want := range map[string][2]string{ // under rules 2, and 1
		`{% macro total() %}{% endmacro %}{{ totl }}`:           {"(there is input)", `(did you mean "total"?)`},
		`{{ input["first nam"] }}`:                              {"(there is input.list, input.service)", `(did you mean "input.first name"?)`},
		`{% set ns = namespace(count=1) %}{{ nss }}`:            {"(there is input)", `(did you mean "ns"?)`},
		`{% set ns = namespace(count=1) %}{{ ns.coun }}`:        {`(did you mean "ns.count"?)`, `(did you mean "ns.count"?)`},
		`{{ (input).servce }}`:                                  {`(did you mean "input.service"?)`, `(did you mean "input.service"?)`},
		`{{ (input | items | first).servce }}`:                  {"((expression) is a list of 2)", "((expression) is a list of 2)"},
		`{{ ({"service": 1} | default({})).servce }}`:           {`(did you mean ".service"?)`, `(did you mean "(expression).service"?)`},
		`{% set x = 1 %}{% for i in [1] %}{{ xx }}{% endfor %}`: {`(did you mean "x"?)`, `(did you mean "x"?)`},
		`{{ input.list[3] }}`:                                   {"(input.list is a list of 1)", "(input.list is a list of 1)"},
	} {
		tmpl, err := template.Parse(src)
		require.NoError(t, err, src)
		_, _, err = tmpl.Render(vars)
		require.ErrorContains(t, err, want[0], src)
		_, _, err = tmpl.RenderRules1(vars)
		require.ErrorContains(t, err, want[1], src)
	}
}
