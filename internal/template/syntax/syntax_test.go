package syntax_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/template/syntax"
)

var names = syntax.Names{
	Filters:   []string{"upper", "default", "raw"},
	Functions: []string{"range"},
	Methods:   []string{"split"},
	Tests:     map[string]int{"odd": 0, "eq": 1},
}

// TestErrors: what cannot be read is refused where it stands.
func TestErrors(t *testing.T) {
	t.Parallel()
	const value = "raw must be the last filter of the value that is written"
	for src, want := range map[string]string{
		strings.Repeat("x", 1<<20) + "{{":         "line 1, column 1: the template is longer than 1048576 bytes",
		"{{ 'a\\d' }}":                            `line 1, column 6: there is no escape \d in a string; write \\ for a backslash`,
		"{{ 'a\\'":                                "line 1, column 4: the string is not closed: ' is missing",
		"{{ 'a\\":                                 "line 1, column 4: the string is not closed: ' is missing",
		"{{ 99999999999999999999 }}":              "line 1, column 4: the number 99999999999999999999 is too large",
		"{{ 1e999 }}":                             "line 1, column 4: the number 1e999 is too large",
		"{{ 012 }}":                               "line 1, column 4: the number 012 cannot begin with 0",
		"{{ 1.5x }}":                              "line 1, column 4: 1.5x is not a number",
		"{{ a ! b }}":                             "line 1, column 6: unexpected character '!'",
		"{{ [a) }}":                               "line 1, column 6: unexpected ')'",
		"{{ [a }}":                                `line 1, column 7: ']' expected here, found "}}"`,
		"{{ {'a' 1} }}":                           `line 1, column 9: ':' expected here, found "1"`,
		"{{ a.'b' }}":                             `line 1, column 6: expected a name or an integer after the dot, found "b"`,
		"{{ a[] }}":                               `line 1, column 6: expected a value, found "]"`,
		"{{ in a }}":                              `line 1, column 4: expected a value, found "in"`,
		"{{ 1 + not a }}":                         `line 1, column 8: expected a value, found "not"`,
		"{{ a not odd }}":                         "line 1, column 6: write not in, or is not",
		"{{ a is odd 3 }}":                        "line 1, column 9: the test odd takes 0 arguments, not 1",
		"{{ a is eq }}":                           "line 1, column 9: the test eq takes 1 arguments, not 0",
		"{{ a is odd + 1 }}":                      `line 1, column 13: '}}' expected here, found "+"`,
		"{{ 1 + a is odd + 1 }}":                  `line 1, column 17: '}}' expected here, found "+"`,
		"{{ a in b == c }}":                       `line 1, column 11: '}}' expected here, found "=="`,
		"{{ a | 3 }}":                             `line 1, column 8: the name of a filter is missing, found "3"`,
		"{{ a | raw(1) }}":                        "line 1, column 8: the filter raw takes no arguments",
		"{{ a | raw | upper }}":                   "line 1, column 8: " + value,
		"{{ [a | raw] }}":                         "line 1, column 9: " + value,
		"{% set x = a | raw %}":                   "line 1, column 16: " + value,
		"{{ a if b | raw }}":                      "line 1, column 13: " + value,
		"{{ a | default(x=1) }}":                  "line 1, column 8: the filter default has no argument x",
		"{{ a | default(1, 2, 3) }}":              "line 1, column 8: the filter default takes at most 2 arguments",
		"{{ a.split(sep=',') }}":                  "line 1, column 5: the method split takes no arguments by name",
		"{{ [1](2) }}":                            "line 1, column 7: only macros, functions and methods can be called",
		"{{ range(a=1, a=2) }}":                   "line 1, column 15: the argument a is given twice",
		"{{ range(1 2) }}":                        `line 1, column 12: ')' expected here, found "2"`,
		"{% set true = 1 %}":                      `line 1, column 8: "true" is a constant and cannot be a name`,
		"{% set = 1 %}":                           "line 1, column 8: the name to set is missing: write {% set x = value %}",
		"{% set a.1 = 1 %}":                       "line 1, column 10: the name of a member is missing",
		"{% set a 1 %}":                           `line 1, column 10: expected = after the name, found "1"`,
		"{% for a, b, c in x %}{% endfor %}":      "line 1, column 16: write {% for x in list %} or {% for key, value in object.items() %}",
		"{% for a of x %}{% endfor %}":            "line 1, column 10: write {% for x in list %} or {% for key, value in object.items() %}",
		"{% with 1 %}{% endwith %}":               "line 1, column 9: write {% with name = value %}",
		"{% with a 1 %}{% endwith %}":             "line 1, column 11: write {% with name = value %}",
		"{% macro %}{% endmacro %}":               "line 1, column 10: write {% macro name(a, b=1) %}",
		"{% macro m %}{% endmacro %}":             "line 1, column 12: write {% macro name(a, b=1) %}",
		"{% macro m(1) %}{% endmacro %}":          "line 1, column 12: the name of a parameter is missing",
		"{% macro m(a b) %}{% endmacro %}":        `line 1, column 14: ')' expected here, found "b"`,
		"{% if a b %}{% endif %}":                 `line 1, column 9: unexpected "b" in the tag if`,
		"{% if a %}{% endif b %}":                 `line 1, column 20: unexpected "b" in the tag endif`,
		"{% %}":                                   "line 1, column 4: the name of a tag is missing",
		"{{ " + strings.Repeat("1+", 600) + "1}}": "line 1, column 1005: the expression is too deeply nested",
		"{{\n\n  a\n  b }}":                       `line 4, column 3: '}}' expected here, found "b"`,
		"a\r\nb\rc {{ }}":                         `line 3, column 6: expected a value, found "}}"`,
	} {
		_, err := syntax.Parse(src, &names)
		var e *syntax.Error
		require.ErrorAs(t, err, &e, src)
		require.EqualError(t, err, "template, "+want, src)
	}
}

// TestNesting: what nests is bounded, whatever nests.
func TestNesting(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, src := range []string{
		"{{ " + strings.Repeat("a.split()", 1) + strings.Repeat(".split()", n) + " }}", "{{ a" + strings.Repeat("[1:]", n) + " }}",
		"{{ " + strings.Repeat("not ", n) + "a }}", "{{ a" + strings.Repeat(" | upper", n) + " }}", "{{ a" + strings.Repeat("[a", n) + " }}",
		"{{ a" + strings.Repeat(" if a else a", n) + " }}", "{% set x = a" + strings.Repeat(" if a else a", n) + " %}",
		strings.Repeat("{% set x %}", n), strings.Repeat("{% for x in a %}", n), strings.Repeat("{% with %}", n), "{{ " + strings.Repeat("{'a':", n),
	} {
		_, err := syntax.Parse(src, &names)
		require.Error(t, err)
		require.Regexp(t, "too deeply nested|nest deeper than 60 levels", err.Error())
	}
	_, err := syntax.Parse("{{ a"+strings.Repeat(".b[0]", n)+" }}", &names)
	require.NoError(t, err, "members are one level, however many they are")
}

// TestLargeTemplates: the work of reading grows with the length, whatever is long.
func TestLargeTemplates(t *testing.T) {
	t.Parallel()
	long := func(head, part, tail string) string {
		b := strings.Builder{}
		b.WriteString(head)
		for i := 0; b.Len() < 1<<20-100; i++ {
			fmt.Fprintf(&b, part, i)
		}
		return b.String() + tail
	}
	start := time.Now()
	for _, src := range []string{
		long("", "{%% set a%d = b %%}", ""), long("{{ range(", "a%d=1,", ") }}"), long("{% macro m(", "a%d,", ") %}{% endmacro %}"), long("{{ a", "[%d]", " }}"),
		long("{% if a %}", "{%% elif a%d %%}", "{% endif %}"), long("", "{%% raw %%}%d{%% endraw %%}", ""), long("", "{# %d #}\n", ""), long("{{ [", "%d,\n", "] }}"),
	} {
		_, err := syntax.Parse(src, &names)
		require.NoError(t, err)
	}
	require.Less(t, time.Since(start), 30*time.Second)
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]any{
		"12": int64(12), "1_000": int64(1000), "0x1F": int64(31), "0b101": int64(5), "0o17": int64(15), "0": int64(0),
		"1.5": 1.5, "1e3": 1e3, "1.5e-2": 0.015, "2E+2": 200.0,
		`'a"b'`: `a"b`, `"a'b"`: "a'b", `'it\'s'`: "it's", `"\"\n\t\\n"`: "\"\n\t\\n", `'\x41\u00e9\377'`: "Aé\xff", `'\\'`: `\`, "'a\nb'": "a\nb", "'}}'": "}}",
		"true": true, "True": true, "none": nil, "null": nil, "false": false,
	} {
		tree, err := syntax.Parse("{{ "+src+" }}", &names)
		require.NoError(t, err, src)
		require.Equal(t, want, tree.Body[0].(*syntax.Output).X.(*syntax.Literal).Value, src)
	}
}

// TestPlaces: a node stands where its text does, also behind line breaks within a tag.
func TestPlaces(t *testing.T) {
	t.Parallel()
	tree, err := syntax.Parse("é\n{{\n a.b\n | upper }}{# #}\n{%- if a\n %}x{% endif %}", &names)
	require.NoError(t, err)
	require.Len(t, tree.Body, 4)
	out := tree.Body[1].(*syntax.Output)
	require.Equal(t, syntax.Pos{Line: 2, Col: 1}, out.Pos)
	require.Equal(t, syntax.Pos{Line: 4, Col: 4}, out.X.Place())
	require.Equal(t, syntax.Pos{Line: 3, Col: 2}, out.X.(*syntax.Filter).X.Place())
	require.Equal(t, syntax.Pos{Line: 5, Col: 1}, tree.Body[3].Place())
	require.Equal(t, []string{"a"}, tree.Roots)
}

// FuzzParse: whatever the text is, there is a tree or an error with a place, and never a panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"{{ a.b[0] | default('x') }}", "{% for x in l %}{{ loop.index }}{% else %}{% endfor %}", "{% if a not in l %}{% elif b %}{% endif %}",
		"{% macro m(a, b=1) %}{{ a }}{% endmacro %}{{ m(1, b=2) }}", "{{ l[::2] ~ -1 ** 2 }}", "{%- set x = {'a': 1} -%}", "{% raw -%}{{{%- endraw %}",
		"{{ 1.5e-3 if '\\x41' else 0x1F }}", "{#- a -#}\r\n{%+ with a = (1, 2) +%}{% endwith %}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		tree, err := syntax.Parse(src, &names)
		var e *syntax.Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Col < 1 || e.Line > strings.Count(src, "\n")+strings.Count(src, "\r")+1) {
			t.Fatalf("%q: %v", src, err)
		}
		if (tree == nil) != (err != nil) {
			t.Fatalf("%q: a tree and an error, or neither", src)
		}
	})
}
