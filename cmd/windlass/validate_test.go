package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/commandline/checkflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/schema"
)

// commandLine runs one command line and returns its exit code and what it wrote.
func commandLine(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

const (
	soundCascade   = `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "hello {{ input.x }}"}]}`
	warningCascade = `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "x", "rules": {"max_attempts": 3}}]}`
	brokenCascade  = "{\n  \"cascade_id\": \"x\",\n  \"phases\": [{\"name\": \"a\", \"instructions\": \"{{ oops\", \"tackle\": [\"read_flie\"]}]\n}\n"
)

// contextCascade has mistakes in what it says about context: names of tools are those of the real
// registry.
const contextCascade = `{"cascade_id": "x", "auto_context": {"intra_phase": {"exclude_tools": ["raed_file", "write_file"]}},
 "token_budget": {"max_total": 9000},
 "phases": [{"name": "a", "instructions": "x", "intra_context": {"guard": {"compact_percent": 70}}, "tackle": ["read_file"]}]}`

func TestValidateCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	sound, warns, broken := file("sound.json", soundCascade), file("warns.json", warningCascade), file("broken.json", brokenCascade)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "t"), 0o700))
	tool := file("t/t.tool.json", `{"tool_id": "t", "type": "shell", "command": " "}`)
	beside := file("t/beside.json", soundCascade)
	scripted := file("x.script.json", "{\n \"phasse\": {}}")
	missing, empty := filepath.Join(dir, "missing.json"), t.TempDir()
	tests := []struct {
		name, stdin string
		args        []string
		code        int
		out, errs   string // errs is only contained
	}{
		{"sound", "", []string{sound}, exitOK, "1 file, 0 errors, 0 warnings\n", ""},
		{"warning", "", []string{warns}, exitOK, "1 file, 0 errors, 1 warning\n", warns + `:1:77: warning: phase "a" has 3 attempts`},
		{"errors", "", []string{broken}, exitInvalid, "1 file, 2 errors, 0 warnings\n", broken + `:3:66: error: the tackle of phase "a" names "read_flie"`},
		{"several", "", []string{sound, warns, broken}, exitInvalid, "3 files, 2 errors, 1 warning\n", `hint: did you mean "read_file"?`},
		{"standard input", soundCascade, []string{"-"}, exitOK, "1 file, 0 errors, 0 warnings\n", ""},
		{"YAML on standard input", "cascade_id: x\n", []string{"-"}, exitInvalid, "1 file, 1 error, 0 warnings\n", `<stdin>:1:1: error: the cascade has no "phases"`},
		{"missing file", "", []string{missing}, exitUsage, "", "Error: there is no file " + missing + "\nTry: "},
		{"missing file among others", "", []string{missing, broken}, exitUsage, "1 file, 2 errors, 0 warnings\n", "Error: there is no file " + missing},
		{"two missing files", "", []string{missing, missing + "x"}, exitUsage, "", "Error: there is no file " + missing + "\nTry: check the path; " +
			"windlass validate FILE... reads JSON and YAML\nError: there is no file " + missing + "x\n"},
		{"a tool file", "", []string{tool}, exitInvalid, "1 file, 1 error, 0 warnings\n", tool + `:1:46: error: tool "t" is of type shell and needs a "command"`},
		{"a tool file again", "", []string{beside, tool, tool}, exitInvalid, "3 files, 1 error, 0 warnings\n", ""},
		{"a script", "", []string{scripted}, exitInvalid, "1 file, 1 error, 0 warnings\n", scripted + ":2:2: error: "},
		{"an empty folder", "", []string{empty}, exitUsage, "", "Error: there are no cascades in " + empty + `: no JSON or YAML file below it has "cascade_id" or "phases"`},
		{"an empty folder among others", "", []string{empty, sound}, exitUsage, sound + ": ok\n1 file, 0 errors, 0 warnings\n", "Error: there are no cascades in " + empty},
		{"context settings", contextCascade, []string{"-"}, exitInvalid, "1 file, 3 errors, 1 warning\n", `<stdin>:3:95: error: "intra_context.guard" of phase "a": ` +
			`"warn_percent" is 80 by default and "compact_percent" is 70: the warning has to come before the guard acts [conflicting_settings]`},
		{"no file", "", nil, exitUsage, "", "Error: validate needs at least one cascade file\nTry: windlass validate --help"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := commandLine(t, tt.stdin, append([]string{"validate"}, tt.args...)...)
			require.Equal(t, tt.code, code, errs)
			require.Equal(t, tt.out, out)
			require.Contains(t, errs, tt.errs)
			if tt.errs == "" && tt.code == exitOK {
				require.Empty(t, errs)
			}
			require.NotContains(t, errs, "\x1b")
		})
	}
}

// TestValidateFolder: what counts as a cascade below a folder, a line for each, and a total.
func TestValidateFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/sound.json": soundCascade, "a/warns.json": warningCascade, "b.yaml": "cascade_id: x\n", "c.yml": "phases: [\n", "d.txt": brokenCascade,
		"broken.json": brokenCascade, "t.tool.json": `{"tool_id": "t", "type": "shell", "command": "true"}`, "x.script.json": "{}", "data.json": `{"a": 1}`,
		"list.json": `[{"phases": 1}]`, "tests/x.test.json": `{"windlass_test": 2, "expect": {"phases": []}}`, ".git/x.json": brokenCascade, "node_modules/x.json": brokenCascade,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	code, out, errs := commandLine(t, "", "validate", dir)
	require.Equal(t, exitInvalid, code, errs)
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	require.Equal(t, in("a/sound.json")+": ok\n"+in("a/warns.json")+": 0 errors, 1 warning\n"+in("b.yaml")+": 1 error, 0 warnings\n"+
		in("broken.json")+": 2 errors, 0 warnings\n"+in("c.yml")+": 1 error, 0 warnings\n"+in("t.tool.json")+": ok\n"+in("x.script.json")+": ok\n"+
		"7 files, 4 errors, 1 warning\n", out)
	require.Contains(t, errs, "read_flie")

	code, out, errs = commandLine(t, "", "validate", "--json", dir)
	require.Equal(t, exitInvalid, code)
	require.Empty(t, errs)
	var report struct {
		Files            []checkflags.File
		Errors, Warnings int
		Diagnostics      cascade.Diagnostics
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, checkflags.File{File: in("broken.json"), Errors: 2}, report.Files[3])
	require.Equal(t, []int{7, 4, 1, 5}, []int{len(report.Files), report.Errors, report.Warnings, len(report.Diagnostics)})
}

// TestValidateKnowsTheRightsOfRuns: what is refused depends on them.
func TestValidateKnowsTheRightsOfRuns(t *testing.T) {
	t.Parallel()
	const text = `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "x", "tackle": ["run_command", "sql_query"]}]}`
	_, _, errs := commandLine(t, text, "validate", "-")
	require.Contains(t, errs, `<stdin>:1:78: warning: the tackle of phase "a" names "run_command", but every call of it is refused [refused_tool]`)
	require.Contains(t, errs, `= hint: run with --allow-commands, or list the commands in "trusted_commands" of windlass.json`)
	_, _, errs = commandLine(t, text, "validate", "--allow-commands", "-")
	require.Empty(t, errs)
	_, _, errs = commandLine(t, text, "validate", "--allow-commands", "--no-clickhouse", "-")
	require.Contains(t, errs, `names "sql_query", but every call of it is refused [refused_tool]`)
}

// TestDiagnosticText holds what a person sees.
func TestDiagnosticText(t *testing.T) {
	t.Parallel()
	_, _, errs := commandLine(t, brokenCascade, "validate", "-")
	require.Contains(t, errs, `<stdin>:3:66: error: the tackle of phase "a" names "read_flie", which is neither a tool nor a cascade [unknown_tool]
    3 |   "phases": [{"name": "a", "instructions": "{{ oops", "tackle": ["read_flie"]}]
      |                                                                  ^^^^^^^^^^^
      = hint: did you mean "read_file"?
`)
	require.Contains(t, errs, "[invalid_template]\n    3 |")
}

func TestValidateJSON(t *testing.T) {
	t.Parallel()
	code, out, errs := commandLine(t, brokenCascade, "validate", "--json", "-")
	require.Equal(t, exitInvalid, code)
	require.Empty(t, errs)
	var found cascade.Diagnostics
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found, 2)
	require.Equal(t, cascade.CodeUnknownTool, found[1].Code)
	require.Equal(t, [3]int{3, 66, 77}, [3]int{found[1].Line, found[1].Col, found[1].EndCol})
	require.Contains(t, found[1].Source, "read_flie")

	code, out, _ = commandLine(t, soundCascade, "validate", "--json", "-")
	require.Equal(t, exitOK, code)
	require.Equal(t, "[]\n", out)
}

func TestHostileTextIsNotPrintedRaw(t *testing.T) {
	t.Parallel()
	_, _, errs := commandLine(t, "{\"cascade_id\": \"x\", \"phases\": [{\"name\": \"a\", \"tool\": \"\\u001b[31mred\"}]}", "validate", "-")
	require.Contains(t, errs, "unknown_tool")
	require.NotContains(t, errs, "\x1b")
}

func TestLoadCascade(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	con := &console{in: strings.NewReader(warningCascade), out: &out, err: &errs}
	c, err := loadCascade(t.Context(), con, "-")
	require.NoError(t, err)
	require.Equal(t, "x", c.CascadeID)
	require.Contains(t, errs.String(), "warning: ")

	con = &console{in: strings.NewReader(brokenCascade), out: &out, err: &errs}
	_, err = loadCascade(t.Context(), con, "-")
	var ee *exit.Error
	require.ErrorAs(t, err, &ee)
	require.Equal(t, exitInvalid, ee.Code)
	require.True(t, ee.Silent)
	require.Contains(t, errs.String(), "Error: standard input is not a valid cascade: 2 errors\n")
	require.Empty(t, out.String())

	_, err = loadCascade(t.Context(), con, filepath.Join(t.TempDir(), "none.json"))
	require.ErrorAs(t, err, &ee)
	require.Equal(t, exitUsage, ee.Code)
}

func TestSchemaCommand(t *testing.T) {
	t.Parallel()
	code, out, _ := commandLine(t, "", "schema")
	require.Equal(t, exitOK, code)
	require.Equal(t, string(schema.CascadeJSON()), out)

	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	require.NoError(t, os.WriteFile(path, schema.CascadeJSON()[:200], 0o600))
	link := filepath.Join(dir, "link.json")
	require.NoError(t, os.Symlink(path, link))
	code, out, errs := commandLine(t, "", "schema", "--output", link)
	require.Equal(t, exitOK, code, errs)
	require.Empty(t, out)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(schema.CascadeJSON()), string(data))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "no temporary file is left behind")

	code, _, errs = commandLine(t, "", "schema", "-o", filepath.Join(dir, "none", "s.json"))
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "Error: write the schema: ")
	require.Contains(t, errs, "Try: ")
	code, _, errs = commandLine(t, "", "schema", "extra")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "takes no arguments")
}
