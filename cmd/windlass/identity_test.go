package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/archive"
)

// The journal of one session in the folder of another is refused by everything that would read or
// continue it, and ClickHouse gets nothing of it.
func TestJournalOfAnotherSession(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", recorded["ask.json"])
	l.run(exitOK, "run", "ask.json", "--model", "plain", "-q", "--session", "first")
	copied := filepath.Dir(archive.JournalPath(l.home, "second"))
	require.NoError(t, os.Mkdir(copied, 0o700))
	text, err := os.ReadFile(archive.JournalPath(l.home, "first"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(archive.JournalPath(l.home, "second"), text, 0o600))

	want := "journal " + archive.JournalPath(l.home, "second") + ` is damaged at line 1: its folder is named "second", and its header says session "first": ` +
		`a session cannot be copied or renamed by its folder; rename the folder to "first", or remove it and fork that session` + "\n"
	for _, args := range [][]string{
		{"verify", "second"},
		{"resume", "second"},
		{"resume", "second", "--fork", "1"},
		{"replay", "second", "--list"},
		{"context", "stats", "second"},
		{"sessions", "handoff", "second"},
		{"simulate", "second"},
		{"ship", "second"},
	} {
		require.Contains(t, l.run(exitStorage, args...).err.String(), "Error: "+want, args)
	}
	require.Contains(t, l.run(exitStorage, "ship").err.String(), "Error: "+want)
	list := l.run(exitOK, "sessions", "list")
	require.Contains(t, list.err.String(), "Problem with session second: "+want)
	require.Regexp(t, `(?m)^second +damaged `, list.out.String())
	require.Contains(t, l.run(exitOK, "sql", "--csv", "SELECT countIf(session_id != 'first') AS n FROM unified_logs").out.String(), "\n0\n")
	left, err := os.ReadFile(archive.JournalPath(l.home, "second"))
	require.NoError(t, err)
	require.Equal(t, string(text), string(left))

	// A copy of the file may be simulated wherever it is.
	l.run(exitOK, "simulate", archive.JournalPath(l.home, "second"))
	require.NoError(t, os.RemoveAll(copied))
}

// Links in the place of a session's folder or journal are refused by all commands alike.
func TestLinkedSessions(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", recorded["ask.json"])
	l.run(exitOK, "run", "ask.json", "--model", "plain", "-q", "--session", "first")
	folder := filepath.Dir(filepath.Dir(archive.JournalPath(l.home, "first")))
	moved := filepath.Join(l.dir, "moved")
	require.NoError(t, os.Rename(filepath.Join(folder, "first"), moved))
	require.NoError(t, os.Symlink(moved, filepath.Join(folder, "first")))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "loop"), 0o700))
	require.NoError(t, os.Symlink("journal.jsonl", archive.JournalPath(l.home, "loop")))
	const why = ": it is a link, and a session is a folder of its own with a file as its journal: put what it leads to in its place, " +
		"or set WINDLASS_HOME to the folder of those sessions\n"
	for id, link := range map[string]string{"first": filepath.Join(folder, "first"), "loop": archive.JournalPath(l.home, "loop")} {
		want := "open journal: open " + link + why
		for _, args := range [][]string{{"verify", id}, {"resume", id}, {"context", "stats", id}, {"sessions", "handoff", id}, {"ship", id}} {
			require.Contains(t, l.run(exitStorage, args...).err.String(), want, args)
		}
		list := l.run(exitOK, "sessions", "list")
		require.Contains(t, list.err.String(), "Problem with session "+id+": "+want)
	}
	require.NoError(t, os.Remove(filepath.Join(folder, "first")))
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "loop")))
}
