package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/doctor"
)

const unconfinedWarning = "Warning: the engine is not fully confined on this system; windlass doctor says what is missing\n"

// runUnconfined runs windlass as on a kernel without Landlock, and demands an exit code.
func (l *lab) runUnconfined(code int, args ...string) *process {
	l.t.Helper()
	p := &process{Cmd: exec.Command(withoutLandlock, append([]string{"windlass"}, args...)...), t: l.t}
	l.begin(p)
	require.Equal(l.t, code, p.wait(), "%s\n%s", p.out.String(), p.err.String())
	return p
}

func TestDoctorSaysWhatHoldsTheEngine(t *testing.T) {
	t.Parallel()
	l := embeddedLab(t)
	require.Contains(t, l.run(0, "doctor").out.String(), "  sandbox                  the kernel confines the engine to its folder and its port\n")
	var h health
	require.NoError(t, json.Unmarshal([]byte(l.run(0, "doctor", "--json").out.String()), &h))
	require.Equal(t, &doctor.Sandbox{Confined: true, Missing: []string{}}, h.ClickHouse.Sandbox)
	l.engineEnds()
}

// TestSystemThatCannotConfine: the engine runs there with one warning, and not at all where
// windlass.json demands a sandbox.
func TestSystemThatCannotConfine(t *testing.T) {
	t.Parallel()
	const missing = "files and programs: the kernel has no Landlock (Linux 5.13 or newer, and landlock in its list of security modules); " +
		"nor TCP connections: the kernel's Landlock is too old (Linux 6.7 or newer)"
	l := embeddedLab(t)
	l.file("ask.json", recorded["ask.json"])
	require.Equal(t, unconfinedWarning, l.runUnconfined(0, "sql", "SELECT 1").err.String())
	require.Empty(t, l.runUnconfined(0, "sql", "SELECT 1").err.String(), "it is said once, by who started the engine")
	require.Contains(t, l.runUnconfined(0, "doctor").out.String(), "incomplete: the system cannot confine "+missing+"\n")
	l.engineEnds()
	require.Contains(t, l.runUnconfined(0, "run", "ask.json", "--model", "plain", "--session", "one").err.String(), unconfinedWarning)
	l.engineEnds()
	shown := l.runUnconfined(0, "sessions", "list").err.String()
	require.Equal(t, 1, strings.Count(shown, unconfinedWarning), "once, however often the command asks: %s", shown)
	l.engineEnds()

	l.file("windlass.json", `{"require_sandbox": true}`)
	const refused = "the engine is not started: require_sandbox in windlass.json asks for one that the system confines, and this system cannot confine " +
		missing + ". Use a newer kernel or a ClickHouse server (WINDLASS_CLICKHOUSE_DSN), or set require_sandbox to false"
	require.Equal(t, "Error: "+refused+"\n", l.runUnconfined(exitStorage, "sql", "SELECT 1").err.String())
	require.Contains(t, l.runUnconfined(exitStorage, "doctor").out.String(), refused)
	run := l.runUnconfined(0, "run", "ask.json", "--model", "plain").err.String()
	require.Contains(t, run, "asks for one that the system confines", "a run goes on without ClickHouse, and says so")
	require.Zero(t, l.engine().PID)
	l.run(0, "sql", "SELECT 1")
	l.engineEnds()
}
