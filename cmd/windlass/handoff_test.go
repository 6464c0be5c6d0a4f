//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/handoff"
)

const twoSteps = `{"cascade_id": "steps", "phases": [
	{"name": "plan", "instructions": "Make a plan.", "model": "plain"},
	{"name": "work", "instructions": "Do it.", "model": "hangs"},
	{"name": "report", "instructions": "Say what was done.", "model": "plain"}]}`

// TestHandoffOfAnInterruptedRun: what is recorded at the interrupt, what the command says of the
// journal, and what it says of the rows in ClickHouse are one, with the state of the repository
// that the run works in.
func TestHandoffOfAnInterruptedRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("steps.json", twoSteps)
	l.file("notes.md", "old\n")
	for _, args := range [][]string{
		{"init", "-q", "-b", "trunk"}, {"add", "notes.md"}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "-m", "first"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = l.dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	l.file("notes.md", "new and longer\n")
	p := l.start("run", "steps.json", "--session", "handed")
	until(t, "the second phase asks", func() bool { return len(l.provider.Requests()) > 1 })
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, p.wait(), p.err.String())

	fromJournal := l.run(exitOK, "sessions", "handoff", "hand", "--json").out.String()
	var h echo.Handoff
	require.NoError(t, json.Unmarshal([]byte(fromJournal), &h))
	require.Equal(t, echo.StatusInterrupted, h.Status)
	require.Equal(t, "work", h.Phase)
	require.Equal(t, []echo.HandoffItem{{Source: "phase plan", Text: "An answer in plain words."}}, h.Done)
	require.Equal(t, []echo.HandoffItem{{Source: "phase work", Text: "was interrupted"}, {Source: "phase report", Text: "has not begun"}}, h.Remaining)
	require.Equal(t, "trunk", h.Workspace.Branch)
	require.Contains(t, h.Workspace.Files, echo.FileChange{Path: "notes.md", Change: "modified"})
	require.Equal(t, compactText(t, fromJournal), string(lastHandoff(t, l, "handed")))

	text := l.run(exitOK, "sessions", "handoff", "handed").out.String()
	require.Equal(t, handoff.Markdown(&h), text)
	require.Contains(t, text, "- modified notes.md\n")
	require.NoError(t, os.Remove(filepath.Join(config.SessionDir(l.home, "handed"), journal.File)))
	require.Equal(t, fromJournal, l.run(exitOK, "sessions", "handoff", "handed", "--json").out.String(), "from ClickHouse")
}

// lastHandoff returns the newest handoff of a journal as it is recorded.
func lastHandoff(t *testing.T, l *lab, id string) (data json.RawMessage) {
	t.Helper()
	rec, err := journal.Read(filepath.Join(config.SessionDir(l.home, id), journal.File))
	require.NoError(t, err)
	for _, e := range rec.Entries {
		if e.NodeType == echo.NodeHandoff {
			data = e.Data
		}
	}
	return data
}

func compactText(t *testing.T, text string) string {
	t.Helper()
	var h echo.Handoff
	require.NoError(t, json.Unmarshal([]byte(text), &h))
	b, err := json.Marshal(&h)
	require.NoError(t, err)
	return string(b)
}

// TestHandoffOfAKilledRun: nothing was recorded at its end, and it is told where it stood.
func TestHandoffOfAKilledRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("steps.json", twoSteps)
	p := l.start("run", "steps.json", "--session", "killed", "--no-clickhouse")
	until(t, "the second phase asks", func() bool { return len(l.provider.Requests()) > 1 })
	require.NoError(t, p.Process.Kill())
	_ = p.Wait()
	text := l.run(exitOK, "sessions", "handoff", "killed").out.String()
	require.Contains(t, text, "- phase: work (attempt 1, turn 1), under way\n")
	require.Contains(t, text, "## Done\n\n- phase plan: An answer in plain words.\n")
	require.Contains(t, text, "## Remaining\n\n- phase work: is under way\n- phase report: has not begun\n")
	p = l.run(exitUsage, "sessions", "handoff", "nobody", "--json")
	require.Contains(t, p.err.String(), `no session "nobody" on this machine`)
	require.Equal(t, "Error: windlass sessions handoff takes one session id, got []\nTry: windlass sessions handoff --help\n", l.run(exitUsage, "sessions", "handoff").err.String())
}
