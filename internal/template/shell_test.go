package template_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/template"
)

// printed runs a command and returns its output, which the command ends each word of with a NUL.
func printed(t *testing.T, command string) []string {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", command).CombinedOutput()
	require.NoError(t, err, "%s\n%s", command, out)
	words := strings.Split(string(out), "\x00")
	return words[:len(words)-1]
}

func hostile() []string {
	return []string{
		"", " ", "plain", "two words", "'", `"`, `'"'"'`, `\`, `\'`, `a\`, "$HOME", "$(echo pwned)", "`echo pwned`", "${x:-y}",
		"; echo pwned", "&& echo pwned", "| cat", "> /dev/null", "*", "?", "[a-z]*", "~", "~root", "!!", "#", "# not a comment",
		"\n", "a\nb", "\t", "-n", "--help", "{a,b}", "é漢字🎉", "\xff\xfe", "$'a\\'b'", "a=b", "<<EOF", "\r\n", "'; echo pwned; '",
	}
}

func TestShellQuotingAgainstARealShell(t *testing.T) {
	t.Parallel()
	templates := map[string]func(s string) []string{
		`printf '%s\0' {{ v }}`:                                  func(s string) []string { return []string{s} },
		`printf '%s\0' --x={{ v }}.y`:                            func(s string) []string { return []string{"--x=" + s + ".y"} },
		`printf '%s\0' {{ v ~ "'" ~ v }}`:                        func(s string) []string { return []string{s + "'" + s} },
		`x={{ v }}; printf '%s\0' "$x"`:                          func(s string) []string { return []string{s} },
		`{% set w = "<" ~ v %}printf '%s\0' {{ w }} end`:         func(s string) []string { return []string{"<" + s, "end"} },
		`printf '%s\0'{% for x in [v, v] %} {{ x }}{% endfor %}`: func(s string) []string { return []string{s, s} },
		`printf '%s\0' {{ [v, "-", v] }}`:                        func(s string) []string { return []string{s, "-", s} },
		`printf '%s\0' {{ v if true else "no" }}{{ v }}`:         func(s string) []string { return []string{s + s} },
		`printf '%s\0' "a # b" 'c' {{ v }} # it's a comment`:     func(s string) []string { return []string{"a # b", "c", s} },
		`printf '%s\0' "${UNSET-x}" {{ v }}`:                     func(s string) []string { return []string{"x", s} },
		`printf '%s\0' \' {{ v }}`:                               func(s string) []string { return []string{"'", s} },
		`printf '%s\0' ${UNSET-} {{ v | default("d") }}`:         func(s string) []string { return []string{s} },
	}
	for src, want := range templates {
		tmpl, err := template.ParseShell(src)
		require.NoError(t, err, src)
		for _, s := range hostile() {
			command, _, err := tmpl.Render(map[string]any{"v": s})
			require.NoError(t, err)
			require.Equal(t, want(s), printed(t, command), "template %s, value %q", src, s)
		}
	}
}

func TestShellQuotingOfRandomStrings(t *testing.T) {
	t.Parallel()
	const alphabet = "ab '\"\\$`!*?#~;&|<>(){}[]\n\t=-é\x01\x7f\xc3"
	rng := rand.New(rand.NewPCG(1, 2)) // reproducible on purpose
	tmpl, err := template.ParseShell(`printf '%s\0' {{ words }} x{{ first }}y`)
	require.NoError(t, err)
	for range 150 {
		words := make([]any, 1+rng.IntN(20))
		want := make([]string, len(words))
		for i := range words {
			b := make([]byte, rng.IntN(12))
			for j := range b {
				b[j] = alphabet[rng.IntN(len(alphabet))]
			}
			words[i], want[i] = string(b), string(b)
		}
		command, _, err := tmpl.Render(map[string]any{"words": words, "first": words[0]})
		require.NoError(t, err)
		require.Equal(t, append(want, "x"+want[0]+"y"), printed(t, command), command)
	}
}

func TestShellRawAndOtherValues(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`ls {{ flags | raw }}`:            `ls -l -a`,
		`ls {{ flags }}`:                  `ls '-l -a'`,
		`x {{ n }} {{ b }} {{ o }}`:       `x '2' 'true' '{"k":"it'\''s"}'`,
		`x {{ none }}`:                    `x 'null'`,
		`x {{ [] }}.`:                     `x .`,
		`x "{{ flags | raw }}"`:           `x "-l -a"`,
		`x {{ flags | upper | raw }} 'y'`: `x -L -A 'y'`,
	} {
		tmpl, err := template.ParseShell(src)
		require.NoError(t, err, src)
		got, _, err := tmpl.Render(map[string]any{"flags": "-l -a", "n": 2.0, "b": true, "o": map[string]any{"k": "it's"}})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestShellRefusesPlacesWhereQuotingCannotWork(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`echo '{{ v }}'`:                          "inside single quotes",
		`echo "{{ v }}"`:                          "inside double quotes",
		`echo "$(cat {{ v }})"`:                   "inside double quotes",
		`echo "$(echo "x")" {{ v }}`:              "after $(... inside double quotes",
		"echo `cat {{ v }}`":                      "`...`",
		`echo ${{ v }}`:                           `cannot follow '$'`,
		`echo ${x:-{{ v }}}`:                      "inside ${...}",
		`echo "${x:-"a"}" {{ v }}`:                "${...} with quotes",
		`echo "${x:-{{ v }}}"`:                    "inside ${...}",
		`echo ${x:-"a"} {{ v }}`:                  "${...} with quotes",
		`echo \{{ v }}`:                           "a backslash's reach",
		`echo $(( 1 + {{ v }} ))`:                 "((...))",
		"cat <<EOF\n{{ v }}\nEOF":                 "a here-document",
		`cat <{{ "" }}<EOF`:                       `cannot follow '<'`,
		`echo $'a' {{ v }}`:                       "$'...'",
		"echo x # {{ v }}":                        "inside a comment",
		`echo {{ v }}#'`:                          `cannot follow a tag`,
		`echo ({{ v }}(`:                          `cannot follow a tag`,
		`echo {% if v %}'a{% endif %}{{ v }}`:     "inside single quotes",
		`{% for x in v %}"{% endfor %}{{ v }}`:    "inside double quotes",
		`{% set x %}a{% endset %}`:                "not allowed in a command",
		`{% macro m() %}a{% endmacro %}{{ m() }}`: "not allowed in a command",
		`{{ v | raw | upper }}`:                   "must be the last filter",
		"echo \x00 {{ v }}":                       "NUL",
	} {
		_, err := template.ParseShell(src)
		require.ErrorContains(t, err, want, src)
	}
	tmpl, err := template.ParseShell(`echo {{ v }}`)
	require.NoError(t, err)
	_, _, err = tmpl.Render(map[string]any{"v": "a\x00b"})
	require.EqualError(t, err, "template, line 1, column 9: a value with a NUL character cannot be put into a command")
}
