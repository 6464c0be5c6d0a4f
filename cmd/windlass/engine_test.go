package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// embeddedLab returns a lab with an engine of its own, which does not stay long.
func embeddedLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, "")
	l.env = append(l.env, "WINDLASS_ENGINE_IDLE=1s")
	t.Cleanup(func() { // no engine may be left in a folder that goes away, and a killed one is not gone at once
		l.killEngine()
		until(t, "the engine has ended", func() bool { return len(processesWith(l.home+"/")) == 0 })
	})
	return l
}

type endpoint struct {
	PID      int    `json:"pid"`
	Password string `json:"password"`
}

// engine returns where the lab's engine runs; the zero value when none does.
func (l *lab) engine() endpoint {
	var e endpoint
	b, err := os.ReadFile(filepath.Join(l.home, "clickhouse", "endpoint.json"))
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		return endpoint{}
	}
	return e
}

// engineEnds waits until the engine has gone by itself, process and endpoint.
func (l *lab) engineEnds() {
	l.t.Helper()
	pid := l.engine().PID
	until(l.t, "the engine ends when it is idle", func() bool {
		return l.engine().PID == 0 && (pid == 0 || !alive(pid))
	})
}

func alive(pid int) bool {
	for _, line := range processesWith("__engine") {
		if strings.HasPrefix(line, fmt.Sprintf("%d ", pid)) {
			return true
		}
	}
	return false
}

// TestRunsShareOneEngine begins several runs at once where no engine is: they start one together. A
// killed run leaves none behind, and the next engine has what the first one stored.
func TestRunsShareOneEngine(t *testing.T) {
	t.Parallel()
	l := embeddedLab(t)
	l.file("ask.json", recorded["ask.json"])
	var started []*process
	for i := range 4 {
		started = append(started, l.start("run", "ask.json", "--model", "plain", "--session", fmt.Sprintf("together-%d", i)))
	}
	killed := l.start("run", "ask.json", "--model", "hangs", "--session", "killed")
	pids := map[int]bool{}
	for _, p := range started {
		require.Equal(t, exitOK, p.wait(), p.err.String())
		require.NotContains(t, p.err.String(), "Warning")
		if e := l.engine(); e.PID != 0 {
			pids[e.PID] = true
		}
	}
	require.Len(t, pids, 1)
	require.Len(t, processesWith("__engine "+filepath.Join(l.home, "clickhouse")), 1)
	until(t, "the killed run waits for the model", func() bool { return len(l.provider.Requests()) == 5 })
	require.NoError(t, killed.Process.Kill())
	require.Equal(t, -1, killed.wait())
	l.engineEnds()

	found := l.run(exitOK, "sql", "--csv", "SELECT session_id, status FROM sessions WHERE session_id LIKE 'together-%' ORDER BY session_id")
	require.Equal(t, "session_id,status\ntogether-0,completed\ntogether-1,completed\ntogether-2,completed\ntogether-3,completed\n", found.out.String())
	require.NotContains(t, pids, l.engine().PID, "a new engine was started")
	l.engineEnds()
}
