//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

const crashedAsk = `{"cascade_id": "ask", "phases": [{"name": "one", "instructions": "Say something."}, {"name": "two", "instructions": "Say more."}]}`

// diskFullText is what a run says that has no room for a journal: on the way, for its first line, or
// for what a commit log has of a run before it.
const diskFullText = `Error: .*: file too large\nTry: (free space, or set WINDLASS_HOME to a folder on another disk(; the journal holds everything up to here)?|set WINDLASS_HOME to a folder on a disk with room that you may write to)\n`

// TestDiskFull gives runs less and less room for their journal. Each says what is wrong, leaves a
// journal that can be read, or none, and goes on once there is room. The room is limited by the
// shell, in blocks of 512 or 1024 bytes.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("ask.json", crashedAsk)
	for blocks := 8; blocks >= 0; blocks-- {
		id := fmt.Sprintf("full-%d", blocks)
		path := filepath.Join(l.home, "sessions", id, journal.File)
		p := &process{t: t, Cmd: exec.Command("/bin/sh", "-c", fmt.Sprintf("ulimit -f %d; exec windlass run ask.json --model plain --session %s", blocks, id))}
		l.begin(p)
		code := p.wait()
		next := []string{"resume", id}
		if _, err := os.Stat(path); err == nil {
			rec, err := journal.Read(path)
			require.NoError(t, err)
			require.False(t, rec.Torn, "what did not get through whole is cut off")
		} else {
			require.ErrorIs(t, err, os.ErrNotExist)
			next = []string{"run", "ask.json", "--model", "plain", "--session", id}
		}
		if code == exitOK {
			require.Greater(t, blocks, 4, "the journal is larger than that")
			continue
		}
		require.Equal(t, exitStorage, code, "%d blocks: %s", blocks, p.err.String())
		require.Regexp(t, diskFullText, p.err.String())
		done := l.run(exitOK, next...)
		require.Equal(t, "An answer in plain words.\n", done.out.String())
		l.run(exitOK, "verify", id)
		l.requireDelivered(id)
	}
}

// requireDelivered demands that every entry of a session is in ClickHouse once.
func (l *lab) requireDelivered(id string) {
	l.t.Helper()
	n := number(uint64(len(l.recorded(id))))
	rows := l.ask("SELECT count() AS n, uniqExact(seq) AS numbers, max(seq) AS last FROM logs WHERE session_id = '" + id + "'")
	require.Equal(l.t, []map[string]any{{"n": n, "numbers": n, "last": n}}, rows)
}

// TestResumeCutJournal cuts the journal of a session that is in ClickHouse already at bytes of its
// lines. What is rebuilt takes the place of the rows that were there.
func TestResumeCutJournal(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("ask.json", crashedAsk)
	l.run(exitOK, "run", "ask.json", "--model", "plain", "--session", "cut")
	path := filepath.Join(l.home, "sessions", "cut", journal.File)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	calls := 0
	for at := len(lines) - 2; at > 0; at-- { // the last one is what is behind the last newline: nothing
		if !bytes.Contains(lines[at], []byte(`"node_type":"model_call"`)) && !bytes.Contains(lines[at], []byte(`"node_type":"run_end"`)) {
			continue
		}
		before, line := bytes.Join(lines[:at], nil), lines[at]
		for _, cut := range []int{0, 1, len(line) / 2, len(line) - 1} {
			require.NoError(t, os.WriteFile(path, append(bytes.Clone(before), line[:cut]...), 0o600))
			require.Equal(t, "An answer in plain words.\n", l.run(exitOK, "resume", "cut").out.String())
			l.run(exitOK, "verify", "cut")
			l.requireDelivered("cut")
			calls++
		}
	}
	require.Equal(t, 12, calls)
}
