//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/simulate"
)

// A reader that goes away ends no run: its record is whole, its exit code its own, and standard
// error says once that the output is dropped.
func TestReadersThatGoAwayEndNoRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("few.json", fewPhases)
	l.file("few.script.json", fewAnswers)
	l.file("ask.json", recorded["ask.json"])
	l.file("windlass.json", recorded["windlass.json"])
	for i, tt := range []struct {
		file     string
		flags    []string
		out, err bool // which streams nobody reads
		code     int
	}{
		{"few.json", []string{"--offline", "--events"}, true, false, exitOK},
		{"few.json", []string{"--offline", "--events", "--quiet"}, true, false, exitOK},
		{"few.json", []string{"--offline", "--json"}, true, false, exitOK},
		{"few.json", []string{"--offline"}, true, false, exitOK},
		{"few.json", []string{"--offline"}, false, true, exitOK},
		{"few.json", []string{"--events", "--offline"}, true, true, exitOK},
		{"ask.json", []string{"--model", "html", "--events"}, true, true, exitProvider},
		{"ask.json", []string{"--model", "html"}, false, true, exitProvider},
	} {
		id := fmt.Sprintf("unread-%d", i)
		p := &process{Cmd: exec.Command("windlass", append([]string{"run", tt.file, "--no-clickhouse", "--session", id}, tt.flags...)...), t: t}
		p.Dir, p.Env, p.Stdout, p.Stderr = l.dir, l.env, &p.out, &p.err
		if tt.out {
			p.Stdout = unread(t)
		}
		if tt.err {
			p.Stderr = unread(t)
		}
		require.NoError(t, p.Start())
		require.Equal(t, tt.code, p.wait(), "%v: %s", tt, p.err.String())
		rec, err := journal.Read(filepath.Join(l.home, "sessions", id, journal.File))
		require.NoError(t, err)
		require.True(t, record.EndOf(rec.Entries).Whole)
		if !tt.err {
			require.Equal(t, 1, strings.Count(p.err.String(), "The reader of standard output has gone away: the rest of the output is dropped.\n"), p.err.String())
		}
	}
}

// unread returns the writing end of a pipe that nobody reads any more.
func unread(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestOutputThatIsNoFile: a device or a pipe is not replaced by a file. The pipe is the test's own, so that a check that fails harms
// nothing else.
func TestOutputThatIsNoFile(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	pipe, link := filepath.Join(l.dir, "pipe"), filepath.Join(l.dir, "link")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(pipe, link))
	require.Equal(t, "Error: write the schema: "+pipe+" is not a file, and would be replaced by one\nTry: check that the folder exists and can be written\n", l.run(exitFailed, "schema", "--output", link).err.String())
	_, err := simulate.CreateFile(link)
	require.EqualError(t, err, pipe+" is not a file, and would be replaced by one")
	info, err := os.Lstat(pipe)
	require.NoError(t, err)
	require.Equal(t, os.ModeNamedPipe, info.Mode().Type())
}
