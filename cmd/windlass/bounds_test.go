//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// seen runs a command line in this process and returns what a person sees.
func seen(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

// TestNoCommandWaitsForAPipe: every command that opens a file that a person names refuses what is
// no file.
func TestNoCommandWaitsForAPipe(t *testing.T) {
	home := t.TempDir()
	t.Setenv("WINDLASS_HOME", home)
	dir := t.TempDir()
	pipe := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		return path
	}
	sound := filepath.Join(dir, "sound.json")
	require.NoError(t, os.WriteFile(sound, []byte(`{"cascade_id": "x", "phases": [{"name": "p", "instructions": "x"}]}`), 0o600))
	eyes := filepath.Join(dir, "eyes.json")
	require.NoError(t, os.WriteFile(eyes, []byte(`{"cascade_id": "x", "inputs_schema": {"type": "object", "properties": {"a": {"type": "string", "format": "file"}}}, "phases": [{"name": "p", "instructions": "x"}]}`), 0o600))
	file, script, tool, test := pipe("c.json"), pipe("c.script.json"), pipe("t.tool.json"), pipe("a.test.json")
	pipe("windlass.json")
	for _, args := range [][]string{
		{"validate", file},
		{"validate", script},
		{"validate", tool},
		{"validate", "/dev/zero"},
		{"run", file, "--offline"},
		{"run", sound, "--offline", "--no-clickhouse", "--input-file", file},
		{"run", eyes, "--offline", "--no-clickhouse", "--input", "a=@" + file},
		{"run", eyes, "--offline", "--no-clickhouse", "--input", "a=@/dev/zero"},
		{"test", "run", test},
		{"simulate", file},
		{"simulate", sound, "--policy", "@" + file},
	} {
		code, out, errs := seen(t, "", args...)
		require.NotEqual(t, exitOK, code, "%v", args)
		require.Contains(t, out+errs, ", not a file: it may never end", "%v", args)
	}
	t.Chdir(dir)
	code, _, errs := seen(t, "", "cost")
	require.NotEqual(t, exitOK, code)
	require.Contains(t, errs, "windlass.json is a named pipe, not a file: it may never end")
}

// TestValidateIsLinear: a hundred thousand of anything end in a verdict.
func TestValidateIsLinear(t *testing.T) {
	t.Parallel()
	repeat := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	const phase = `{"name": "p", "instructions": "x"}`
	for name, c := range map[string]struct{ text, want string }{
		"allOf": {
			`{"cascade_id": "x", "inputs_schema": {"type": "object", "allOf": [` + repeat(100_000, "{}") + `]}, "phases": [` + phase + `]}`,
			"the schema has too many subschemas: counted 100001, at most 5000 are checked",
		},
		"tools":  {`{"cascade_id": "x", "tools": [` + repeat(100_000, `{"tool_id": "t", "type": "shell", "description": "d", "command": "true"}`) + `], "phases": [` + phase + `]}`, "two tools are called"},
		"phases": {`{"cascade_id": "x", "phases": [` + repeat(100_000, phase) + `]}`, "p"},
	} {
		code, _, errs := seen(t, c.text, "validate", "-")
		require.Equal(t, exitInvalid, code, name)
		require.Contains(t, errs, c.want, name)
	}
}

func TestDoctorWarnsOfTrustInRunners(t *testing.T) {
	t.Setenv("WINDLASS_HOME", t.TempDir())
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "windlass.json"), []byte(`{"clickhouse_dsn": "clickhouse://127.0.0.1:1/x", "trusted_commands": ["git log *", "wc -l *"]}`), 0o600))
	t.Chdir(dir)
	_, _, errs := seen(t, "", "doctor")
	require.Contains(t, errs, `Warning: trusted_commands has "git log *": git can run other programs, or write files, for its arguments; write the whole command out, without *`)
	require.NotContains(t, errs, "wc -l")
}
