package template_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/template"
)

// TestShellContextsThatEvaluate: quotes do not help where a shell reads a word once more. Every one
// is refused when the template is parsed, at the value's place.
func TestShellContextsThatEvaluate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{`let {{ v }}`, "a value cannot stand in arithmetic"},
		{`let x={{ v }}`, "a value cannot"},
		{`[[ {{ v }} -eq 0 ]]`, "a value cannot be compared by -eq in [[ ]], which evaluates it"},
		{`[[ 0 -lt {{ v }} ]]`, "a value cannot be compared by -lt"},
		{`[[ -v {{ v }} ]]`, "a value cannot be compared by -v in [[ ]]"},
		{`test -v {{ v }}`, "a value cannot be an argument of test with -v"},
		{`[ -v {{ v }} ]`, "a value cannot be an argument of test with -v"},
		{`[ {{ v }} {{ w }} ]`, "a value cannot stand beside another one in test"},
		{`[ {{ v }} = x -a y = y ]`, "a value cannot be an argument of test with -a"},
		{`x={{ v }}; [ -n "$x" "$x" ]`, "a value cannot stand beside another one in test"},
		{`printf -v {{ v }} x`, "a value cannot be the format of printf"},
		{`printf {{ v }}`, "a value cannot be the format of printf"},
		{`a[{{ v }}]=1`, "cannot"},
		{`declare {{ v }}`, "a value cannot be an argument of declare"},
		{`declare -i x={{ v }}`, "a value cannot be an argument of declare"},
		{`typeset {{ v }}=1`, "a value cannot be an argument of typeset"},
		{`local x={{ v }}`, "a value cannot be an argument of local"},
		{`export {{ v }}`, "a value cannot be an argument of export"},
		{`readonly {{ v }}`, "a value cannot be an argument of readonly"},
		{`eval {{ v }}`, "a value cannot be an argument of eval"},
		{`eval echo {{ v }}`, "a value cannot be an argument of eval"},
		{`\eval {{ v }}`, "a value cannot be an argument of eval"},
		{`'ev'al {{ v }}`, "a value cannot be an argument of eval"},
		{`"eval" {{ v }}`, "a value cannot be an argument of eval"},
		{`command eval {{ v }}`, "a value cannot be an argument of eval"},
		{`builtin let {{ v }}`, "a value cannot be an argument of let"},
		{`. {{ v }}`, "a value cannot be an argument of ."},
		{`source {{ v }}`, "a value cannot be an argument of source"},
		{`trap {{ v }} EXIT`, "a value cannot be an argument of trap"},
		{`unset {{ v }}`, "a value cannot be an argument of unset"},
		{`read {{ v }} < f`, "a value cannot be an argument of read"},
		{`mapfile -C {{ v }} a < f`, "a value cannot be an argument of mapfile"},
		{`getopts {{ v }} x`, "a value cannot be an argument of getopts"},
		{`alias x={{ v }}`, "a value cannot be an argument of alias"},
		{`exec {{ v }}`, "be its name"},
		{`{{ v }}`, "the name of the command"},
		{`{{ v }} x`, "the name of the command"},
		{`./{{ v }}`, "the name of the command"},
		{`$cmd {{ v }}`, "whose name is not written out"},
		{`sh -c {{ v }}`, "a value cannot be the program of sh"},
		{`bash -c {{ v }} x`, "a value cannot be the program of bash"},
		{`/bin/sh -c {{ v }}`, "a value cannot be the program of sh"},
		{`bash {{ v }}`, "a value cannot be the program of bash"},
		{`env sh -c {{ v }}`, "a value cannot be the program of sh"},
		{`env A={{ v }} {{ w }}`, "before the command that env starts"},
		{`nohup {{ v }}`, "a value cannot stand before the command that nohup starts"},
		{`timeout 5 {{ v }}`, "a value cannot stand before the command that timeout starts"},
		{`sudo -u x sh -c {{ v }}`, "a value cannot"},
		{`xargs {{ v }} < f`, "a value cannot stand before the command that xargs starts"},
		{`echo {{ v }} | xargs -I{} sh -c "echo {}"`, "cannot have xargs put its input into what sh runs"},
		{`echo {{ v }} | sh`, "have sh read its commands from the input"},
		{`echo {{ v }} | env bash -s`, "have bash read its commands from the input"},
		{`awk {{ v }} f`, "a value cannot be the program of awk"},
		{`awk -f {{ v }} f`, "a value cannot be the program of awk"},
		{`sed -n {{ v }} f`, "a value cannot be the program of sed"},
		{`sed -e s/a/b/ -e {{ v }} f`, "a value cannot be the program of sed"},
		{`perl -e {{ v }}`, "a value cannot be the program of perl"},
		{`python3 -c {{ v }}`, "a value cannot be the program of python3"},
		{`find . -exec {{ v }} \;`, "a value cannot be in a command that find runs"},
		{`find . {{ v }}`, ""},
		{`find . -name x {{ v }}`, "a value cannot stand in the expression of find"},
		{`PATH={{ v }} ls`, "a value cannot be put into the variable PATH"},
		{`LD_PRELOAD={{ v }} ls`, "a value cannot be put into the variable LD_PRELOAD"},
		{`GIT_SSH_COMMAND={{ v }} git pull`, "a value cannot be put into the variable GIT_SSH_COMMAND"},
		{`x={{ v }}; echo $((x + 1))`, "the variable x holds a value, and arithmetic evaluates what is in it"},
		{`x={{ v }}; echo $(( $x + 1 ))`, "a value cannot stand in arithmetic"},
		{`x={{ v }}; ((x > 1))`, "the variable x holds a value, and arithmetic"},
		{`x={{ v }}; y=$x; echo $((y))`, "the variable y holds a value"},
		{`x={{ v }}; eval "$x"`, "a value cannot be an argument of eval"},
		{`x={{ v }}; sh -c "$x"`, "a value cannot be the program of sh"},
		{`x={{ v }}; $x`, "the name of the command"},
		{`x={{ v }}; echo "${!x}"`, "evaluate what is in it"},
		{`x={{ v }}; echo "${x@P}"`, "evaluate what is in it"},
		{`x={{ v }}; [[ $x -eq 0 ]]`, "a value cannot be compared by -eq"},
		{`x={{ v }}; declare "y=$x"`, "a value cannot be an argument of declare"},
		{`for x in {{ v }}; do echo $((x)); done`, "the variable x holds a value"},
		{`echo {{ v }} | { read x; echo $((x)); }`, "the variable x holds a value"},
		{`f() { eval "$1"; }; f {{ v }}`, "a value cannot be an argument of eval"},
		{`set -- {{ v }}; echo $(($1))`, "a value cannot stand in arithmetic"},
		{`eval "$(echo "a")" $(echo {{ v }})`, ""},
		{`eval $(echo {{ v }})`, "a value cannot be an argument of eval"},
		{`{% if v %}eval{% else %}echo{% endif %} {{ v }}`, "a value cannot be an argument of eval"},
		{`{% if v %}echo{% else %}eval{% endif %} {{ v }}`, "a value cannot be an argument of eval"},
		{`{% for x in v %}let {{ x }};{% endfor %}`, "a value cannot"},
		{`echo ) {{ v }}`, "the command cannot be read as text of a shell"},
	} {
		_, err := template.ParseShell(c.src)
		if c.want == "" {
			continue // any answer but running it is right; the next test runs what is allowed
		}
		require.ErrorContains(t, err, c.want, c.src)
		var at *template.SyntaxError
		require.ErrorAs(t, err, &at, c.src)
	}
	_, err := template.ParseShell("echo x\n[[ {{ v }} -eq 0 ]]")
	require.EqualError(t, err, "template, line 2, column 4: a value cannot be compared by -eq in [[ ]], which evaluates it "+
		"(let the command read the value from its input or a file, or make it a number with the filter int)")
}

// allowedContexts are places of values that are not refused. The tests run each with hostile
// values.
var allowedContexts = []string{
	`echo {{ v }}`, `printf '%s' {{ v }} {{ v }}`, `x={{ v }}; echo "$x"`, `x={{ v }} sh -c 'echo "$x"'`, `echo a > {{ v }}`, `cat < {{ v }}`,
	`for f in {{ v }} {{ v }}; do echo "$f"; done`, `case {{ v }} in a) echo a;; *) echo b;; esac`, `case x in {{ v }}) echo a;; esac`,
	`[ {{ v }} = x ]`, `[ -n {{ v }} ]`, `test -f {{ v }}`, `[ {{ v }} -gt 3 ]`, `[ x = {{ v }} ]`, `[ {{ v }} ]`, `echo $(echo {{ v }})`, `(cd {{ v }} && ls)`,
	`x=$(echo {{ v }}); echo "$x"`, `sh -c 'echo "$1"' name {{ v }}`, `sed -n 1p {{ v }}`, `awk '{ print }' {{ v }}`, `grep -e {{ v }} -- {{ v }}`,
	`find {{ v }} -name {{ v }}`, `env A=b ls {{ v }}`, `timeout 5 ls {{ v }}`, `command ls {{ v }}`, `echo {{ v }} | cat`, `echo {{ v }} | xargs -0 echo`, `echo {{ v }} | xargs -0 sh -c 'ls "$@"' sh`,
	`if [ -e {{ v }} ]; then echo yes; fi`, `while [ -e {{ v }} ]; do break; done`, `! ls {{ v }}`, `{ echo {{ v }}; }`, `echo a 2> {{ v }}`, `cd {{ v }}`,
	`f() { echo "$1"; }; f {{ v }}`, `set -- {{ v }}; echo "$1"`, `echo {{ [v, v] }}`, `{% for x in [v, v] %}echo {{ x }};{% endfor %}`,
	`{% if v %}ls -l{% else %}ls{% endif %} {{ v }}`, `echo a{{ v }}b`, `ls --color={{ v }}`, `echo {{ v }} &`, `x={{ v }}; y="$x"; ls "$y"`,
	`find . {{ v }}`, `xargs -0 ls {{ v }} < /dev/null`,
	`[[ {{ v }} == x ]]`, `[[ -n {{ v }} ]]`, `[[ x < {{ v }} ]]`, `diff <(echo {{ v }}) /dev/null`,
}

// TestShellAllowedContextsRunNothing runs every allowed context with values that run a program
// where they are evaluated, in each shell there is.
func TestShellAllowedContextsRunNothing(t *testing.T) {
	t.Parallel()
	canary := filepath.Join(t.TempDir(), "ran")
	touch := "touch${IFS}" + canary
	hostile := []any{
		"a[$(" + touch + ")]", "$(" + touch + ")", "`" + touch + "`", "x[`" + touch + "`]", "; " + touch + ";", "-v", "!", "(", ")", "-exec", "=", "-o",
		"'; " + touch + "; '", "\n" + touch + "\n", "a[$(" + touch + ")]=1", "$((a[$(" + touch + ")]))", "${x:=$(" + touch + ")}", "| " + touch,
		"BASH_ENV=" + canary, "() { :;}; " + touch, "e " + touch, "*", "a b c",
	}
	shells := []string{"/bin/sh"}
	if bash, err := exec.LookPath("bash"); err == nil {
		shells = append(shells, bash)
	}
	for _, src := range allowedContexts {
		tmpl, err := template.ParseShell(src)
		require.NoError(t, err, src)
		for _, v := range hostile {
			command, _, err := tmpl.Render(map[string]any{"v": v})
			require.NoError(t, err, src)
			for _, sh := range shells {
				cmd := exec.Command(sh, "-c", command)
				cmd.Dir = t.TempDir()
				out, _ := cmd.CombinedOutput() // most of these fail, as they should
				_, err := os.Stat(canary)
				require.ErrorIs(t, err, os.ErrNotExist, "%s ran %s\n%s", sh, command, out)
			}
		}
	}
}

// TestShellContextsAtRendering: what the tags decide is checked on the very command.
func TestShellContextsAtRendering(t *testing.T) {
	t.Parallel()
	tmpl, err := template.ParseShell(`{{ head | raw }} {{ v }}`)
	require.NoError(t, err)
	text, _, err := tmpl.Render(map[string]any{"head": "ls -l", "v": "x"})
	require.NoError(t, err)
	require.Equal(t, `ls -l 'x'`, text)
	_, _, err = tmpl.Render(map[string]any{"head": "eval", "v": "x"})
	require.EqualError(t, err, "template, line 1, column 1: a value cannot be an argument of eval, which evaluates it")
	_, _, err = tmpl.Render(map[string]any{"head": "echo $(( 1 +", "v": "x"})
	require.ErrorContains(t, err, "the command cannot be read as text of a shell")

	tmpl, err = template.ParseShell(`ls {{ flags }} {{ v }}`) // an empty list leaves the command's name
	require.NoError(t, err)
	_, _, err = tmpl.Render(map[string]any{"flags": []any{}, "v": "x"})
	require.NoError(t, err)
	tmpl, err = template.ParseShell(`{% if a %}{% else %}env{% endif %} ls {{ v }}`)
	require.NoError(t, err)
	_, _, err = tmpl.Render(map[string]any{"a": true, "v": "x"})
	require.NoError(t, err)
	tmpl, err = template.ParseShell(`echo {{ v }}`)
	require.NoError(t, err)
	_, _, err = tmpl.Render(map[string]any{"v": strings.Repeat("x", 1<<20)})
	require.NoError(t, err, "the length of values is not that of the command")
}

// TestShellNumbersStandAnywhere: there is nothing in a number for a shell to evaluate.
func TestShellNumbersStandAnywhere(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`sed -n {{ v | int }}p f`:      `sed -n '3'p f`,
		`timeout {{ v | int }} ls`:     `timeout '3' ls`,
		`[[ {{ v | int }} -eq 0 ]]`:    `[[ '3' -eq 0 ]]`,
		`declare -i x={{ v | float }}`: `declare -i x='3'`,
	} {
		tmpl, err := template.ParseShell(src)
		require.NoError(t, err, src)
		for _, v := range []any{3.0, "3"} {
			text, _, err := tmpl.Render(map[string]any{"v": v})
			require.NoError(t, err)
			require.Equal(t, want, text)
		}
	}
	tmpl, err := template.ParseShell(`[[ {{ v | int("x[$(id)]") }} -eq 0 ]]`)
	require.NoError(t, err)
	_, _, err = tmpl.Render(map[string]any{"v": "no number"})
	require.ErrorContains(t, err, "a value cannot be compared by -eq")
}
