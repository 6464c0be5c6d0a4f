//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestColdEngine asks many questions at once where no engine has ever been: one engine answers them
// all. Killed, it is replaced by the next question, and nothing that was answered is lost.
func TestColdEngine(t *testing.T) {
	t.Parallel()
	l := embeddedLab(t)
	l.env = append(l.env, "WINDLASS_ENGINE_IDLE=20s") // the engine must not end by itself here
	var asked []*process
	for range 10 {
		asked = append(asked, l.start("sql", "--csv", "SELECT 1 AS one"))
	}
	for _, p := range asked {
		require.Equal(t, exitOK, p.wait(), p.err.String())
		require.Equal(t, "one\n1\n", p.out.String())
		require.Contains(t, []string{"", "waiting for another windlass process\n"}, p.err.String())
	}
	first := l.engine().PID
	require.NotZero(t, first)
	require.Equal(t, []string{fmt.Sprint(first)}, l.engines())

	l.run(exitOK, "sql", "--write", "CREATE TABLE notes (a Int8) ENGINE = MergeTree ORDER BY a")
	l.run(exitOK, "sql", "--write", "INSERT INTO notes VALUES (1), (2)")
	p, err := os.FindProcess(first)
	require.NoError(t, err)
	require.NoError(t, p.Kill())
	require.Equal(t, "a\n3\n", l.run(exitOK, "sql", "--csv", "SELECT sum(a) AS a FROM notes").out.String())
	require.NotEqual(t, first, l.engine().PID)
	require.Equal(t, []string{fmt.Sprint(l.engine().PID)}, l.engines())
}

// engines lists the processes of the lab's engines.
func (l *lab) engines() []string {
	var pids []string
	for _, line := range processesWith("__engine " + filepath.Join(l.home, "clickhouse")) {
		var pid int
		_, err := fmt.Sscan(line, &pid)
		require.NoError(l.t, err)
		pids = append(pids, fmt.Sprint(pid))
	}
	return pids
}

// TestStaleEndpoint finds the endpoint of an engine that is long gone. Its process id and its port
// belong to others by now: neither is taken for the engine, nor harmed.
func TestStaleEndpoint(t *testing.T) {
	t.Parallel()
	l := embeddedLab(t)
	innocent := exec.Command("sleep", "8671")
	require.NoError(t, innocent.Start())
	t.Cleanup(func() { _ = innocent.Process.Kill() }) // the test ends either way
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Close() }) // the test ends either way
	dir := filepath.Join(l.home, "clickhouse")
	require.NoError(t, os.MkdirAll(dir, 0o755)) //nolint:gosec // windlass takes the rights of others away
	stale, err := json.Marshal(map[string]any{
		"host": "127.0.0.1", "port": other.Addr().(*net.TCPAddr).Port, "pid": innocent.Process.Pid, "user": "windlass", "password": "stale",
	})
	require.NoError(t, err)
	for _, text := range []string{string(stale), "not JSON", ""} {
		path := filepath.Join(dir, "endpoint.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) //nolint:gosec // as above
		p := l.run(exitOK, "sql", "--csv", "SELECT 1 AS one")
		require.Equal(t, "one\n1\n", p.out.String())
		require.NotEmpty(t, processesWith("sleep 8671"), "the other process lives")
		for file, mode := range map[string]os.FileMode{path: 0o600, dir: 0o700} {
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), file)
		}
		l.engineEnds()
	}
}
