//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

const hangingTool = `{"cascade_id": "hang", "tools": [{"tool_id": "hang", "type": "shell", "inputs_schema": {"marker": "a file"}, "command": "COMMAND"}],
	"phases": [{"name": "one", "tool": "hang", "inputs": {"marker": "{{ session.work_dir }}/marker"}}, {"name": "two", "instructions": "never"}]}`

// hangingCascade is a cascade with a tool that hangs once its marker is there, and then ignores a SIGTERM
// when it is stubborn.
func hangingCascade(stubborn bool, command string) string {
	if command = "touch {{ marker }}; " + command; stubborn {
		command = "trap '' TERM; " + command
	}
	return strings.Replace(hangingTool, "COMMAND", command, 1)
}

// TestInterrupt ends runs with Ctrl-C while they wait: exit 130, a whole record, everything
// delivered, nothing left.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dsn := clickhousetest.DSN(t, clickhousetest.Open(t))
	// What is started here does not ignore a signal that is caught here, also under nohup.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	tests := map[string]struct {
		cascade, model string
		signal         os.Signal
		gone           string
	}{
		"model":         {recorded["ask.json"], "hangs", os.Interrupt, ""},
		"midway":        {recorded["ask.json"], "hangs-midway", os.Interrupt, ""},
		"tool":          {hangingCascade(false, "sleep 8661"), "plain", os.Interrupt, "sleep 8661"},
		"stubborn tool": {hangingCascade(true, "sleep 8662; sleep 8662"), "plain", os.Interrupt, "sleep 8662"},
		"terminated":    {recorded["ask.json"], "hangs", syscall.SIGTERM, ""},
		"hung up":       {recorded["ask.json"], "hangs", syscall.SIGHUP, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, dsn)
			l.file("it.json", tt.cascade)
			id := "interrupt-" + strings.ReplaceAll(name, " ", "-")
			p := l.start("run", "it.json", "--model", tt.model, "--session", id)
			l.awaitHanging(id)
			require.NoError(t, p.Process.Signal(tt.signal))
			require.Equal(t, exitInterrupted, p.wait(), p.err.String())
			require.Empty(t, p.out.String())
			require.Contains(t, p.err.String(), "\nStopping: what is under way is recorded. Press Ctrl-C again to quit at once.\n")
			require.Contains(t, p.err.String(), "\nInterrupted in ")
			require.Contains(t, p.err.String(), "Error: interrupted\nTry: windlass resume "+id)
			l.endsInterrupted(id)
			if tt.gone != "" {
				require.Empty(t, processesWith(tt.gone))
			}
		})
	}
}

// awaitHanging waits until a run waits for its model or its tool.
func (l *lab) awaitHanging(id string) {
	l.t.Helper()
	until(l.t, "the run hangs", func() bool {
		_, err := os.Stat(filepath.Join(l.home, "sessions", id, "work", "marker"))
		return err == nil || len(l.provider.Requests()) > 0
	})
}

// endsInterrupted demands that a journal is whole, ends as interrupted, and is in ClickHouse.
func (l *lab) endsInterrupted(id string) {
	l.t.Helper()
	lines := journalOf(l.t, l.home, id)
	var last struct {
		NodeType echo.NodeType `json:"node_type"`
		Data     struct{ Status, Reason string }
	}
	require.NoError(l.t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	require.Equal(l.t, echo.NodeRunEnd, last.NodeType)
	require.Equal(l.t, "interrupted", last.Data.Status)
	require.Equal(l.t, "interrupted", last.Data.Reason)
	require.Len(l.t, rowsBy(l.t, l, id), len(lines))
}

// TestNohup: a run that was told to ignore the end of its terminal goes on.
func TestNohup(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("it.json", recorded["ask.json"])
	p := &process{Cmd: exec.Command("/bin/sh", "-c", "trap '' HUP; exec windlass run it.json --model hangs --session nohup --no-clickhouse"), t: t}
	l.begin(p)
	l.awaitHanging("nohup")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, p.wait())
	require.Contains(t, p.err.String(), "\nInterrupted in ", "the interrupt was the first signal")
}

// TestInterruptBeforeTheEngineAnswers has its rows delivered all the same.
func TestInterruptBeforeTheEngineAnswers(t *testing.T) {
	t.Parallel()
	l := embeddedLab(t)
	l.file("it.json", recorded["ask.json"])
	p := l.start("run", "it.json", "--model", "hangs", "--session", "early")
	l.awaitHanging("early")
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, p.wait(), p.err.String())
	require.NotContains(t, p.err.String(), "Warning")
	l.endsInterrupted("early")
	l.engineEnds()
}

// TestSecondInterrupt quits at once, although a tool does not want to end. What was synced stays. On a machine that is busy the run
// may have ended before the second interrupt comes: then another one is interrupted.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("it.json", hangingCascade(true, "sleep 8671; sleep 8671"))
	atOnce := false
	for n := 0; n < 20 && !atOnce; n++ {
		session := fmt.Sprintf("twice%d", n)
		p := l.start("run", "it.json", "--model", "plain", "--session", session)
		l.awaitHanging(session)
		require.NoError(t, p.Process.Signal(os.Interrupt))
		until(t, "the first interrupt is seen", func() bool { return strings.Contains(p.err.String(), "Press Ctrl-C again") })
		_ = p.Process.Signal(os.Interrupt) // it may have ended
		require.Equal(t, exitInterrupted, p.wait())
		require.NotEmpty(t, journalOf(t, l.home, session))
		atOnce = !strings.Contains(p.err.String(), "Interrupted in ")
	}
	require.True(t, atOnce, "nothing is waited for")
	if runtime.GOOS == "linux" { // elsewhere such processes cannot be found
		until(t, "the tool is killed", func() bool { return len(processesWith("sleep 8671")) == 0 })
	}
}
