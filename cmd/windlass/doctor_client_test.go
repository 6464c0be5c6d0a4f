//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
)

// TestClientLineOfDoctor runs the line that doctor shows for other clients, in a shell with a program
// in the place of ClickHouse's client, and connects with what that is given: it may read, and no more.
// A real client, where there is one, has to answer to the same line.
func TestClientLineOfDoctor(t *testing.T) {
	t.Parallel()
	l := embeddedLab(t)
	l.env = append(l.env, "WINDLASS_ENGINE_IDLE=1m")
	shown := l.onTerminal(80, 24, exitOK, nil, "doctor", "--no-pager")
	var h struct {
		ClickHouse struct {
			Client string `json:"client"`
		} `json:"clickhouse"`
	}
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "doctor", "--json").out.String()), &h))
	line := h.ClickHouse.Client
	require.Contains(t, shown, "\r\nOther clients reach ClickHouse with:\r\n"+line+"\r\n", "in one piece, to be copied")
	require.NotEmpty(t, l.engine().Password)
	require.NotContains(t, line+shown, l.engine().Password)

	bin := filepath.Join(l.dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "clickhouse"), []byte("#!/bin/sh\nprintf '%s\\n' \"$CLICKHOUSE_PASSWORD\" \"$@\"\n"), 0o700))
	sh := exec.Command("sh", "-c", line)
	sh.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := sh.Output()
	require.NoError(t, err)
	given := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	require.Equal(t, l.engine().Password, given[0])
	flags := map[string]string{}
	require.Equal(t, "client", given[1])
	for i := 2; i+1 < len(given); i += 2 {
		flags[given[i]] = given[i+1]
	}
	conn, err := driver.Open(&driver.Options{
		Addr:     []string{flags["--host"] + ":" + flags["--port"]},
		Auth:     driver.Auth{Database: flags["--database"], Username: flags["--user"], Password: given[0]},
		Settings: driver.Settings{"readonly": flags["--readonly"]},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	var n uint64
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM sessions").Scan(&n))
	require.ErrorContains(t, conn.Exec(t.Context(), "DROP TABLE unified_logs"), "readonly")

	if _, err := exec.LookPath("clickhouse"); err == nil {
		answer, err := exec.Command("sh", "-c", line+" --query 'SELECT 40 + 2'").CombinedOutput()
		require.NoError(t, err, string(answer))
		require.Equal(t, "42\n", string(answer))
	}
}
