//go:build unix

package main

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

// stamped is what a file says of itself and of when it was changed.
type stamped struct {
	content string
	changed time.Time
}

// filesBelow returns the files and folders below a folder.
func filesBelow(t *testing.T, dir string) map[string]stamped {
	t.Helper()
	files := map[string]stamped{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := stamped{changed: info.ModTime()}
		if !d.IsDir() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			file.content = string(content)
		}
		files[path] = file
		return nil
	}))
	return files
}

// Journals of other versions, with a lock file and without one, are refused by every command that
// reads journals, each with its version, who reads it, and what to do; nothing in their folders is
// changed. Other sessions go on as ever.
func TestJournalsOfOtherVersions(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	const (
		old   = ", and this windlass reads version 3: the last windlass that reads it was built from commit d265381: use that build for it, or begin the session again"
		newer = ", and this windlass reads version 3: a newer windlass wrote it: use that one for it"
	)
	l.run(exitOK, "run", "cascades/ask.json", "--model", "plain", "--no-clickhouse", "-q", "--session", "sound")
	sound, err := os.ReadFile(archive.JournalPath(l.home, "sound"))
	require.NoError(t, err)
	folder := config.SessionsDir(l.home)
	versions := map[string]string{"one": "version 1" + old, "two": "version 2" + old, "four": "version 4" + newer}
	for id := range versions {
		text := strings.Replace(string(sound), `{"windlass_journal":3,"rules":7`, `{"windlass_journal":`+map[string]string{"one": "1", "two": "2", "four": "4"}[id], 1)
		require.NotEqual(t, string(sound), text)
		require.NoError(t, os.Mkdir(filepath.Join(folder, id), 0o700))
		require.NoError(t, os.WriteFile(archive.JournalPath(l.home, id), []byte(text), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "two", "lock"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "two", "shipped.json"), []byte(`{"shipped":[]}`), 0o600))
	before := map[string]map[string]stamped{}
	for id := range versions {
		before[id] = filesBelow(t, filepath.Join(folder, id))
	}
	for id, want := range versions {
		want = "journal " + archive.JournalPath(l.home, id) + " has format " + want
		for _, args := range [][]string{
			{"verify", id},
			{"resume", id},
			{"resume", id, "--fork", "1"},
			{"replay", id},
			{"replay", id, "--list"},
			{"simulate", id},
			{"simulate", archive.JournalPath(l.home, id)},
			{"test", "freeze", id, "--name", "x"},
			{"sessions", "show", id},
			{"sessions", "show", id, "--json"},
			{"sessions", "handoff", id},
			{"context", "show", id},
			{"context", "diff", id, "1", "2"},
			{"context", "why", id, "80"},
			{"context", "stats", id},
			{"context", "select", id, "--for", "x"},
			{"ship", id},
		} {
			require.Equal(t, "Error: "+want+"\n", l.run(exitStorage, args...).err.String(), args)
		}
		p := l.run(exitUsage, "run", "cascades/ask.json", "--model", "plain", "--no-clickhouse", "-q", "--session", id)
		require.Contains(t, p.err.String(), "Error: the session exists already: "+want)
	}
	first := "3 journals cannot be read, the first: journal " + archive.JournalPath(l.home, "four") + " has format " + versions["four"] + "\n"
	require.Equal(t, "Error: "+first, l.run(exitStorage, "ship").err.String())
	require.Equal(t, "Error: "+first, l.run(exitStorage, "ship", "--again").err.String())
	list := l.run(exitOK, "sessions", "list")
	for id, want := range versions {
		require.Contains(t, list.err.String(), "Problem with session "+id+": journal "+archive.JournalPath(l.home, id)+" has format "+want)
		require.Regexp(t, "(?m)^"+id+" +other_version +0ms ", list.out.String())
	}
	require.Regexp(t, "(?m)^sound +ask +completed ", list.out.String())
	l.run(exitOK, "run", "cascades/ask.json", "--model", "plain", "-q", "--session", "next") // which looks for what others have left behind
	require.Equal(t, "Warning: "+first, l.run(exitOK, "doctor").err.String())

	s := l.serve("--root", "cascades")
	for id, want := range versions {
		for _, path := range []string{"", "/events", "/handoff", "/context/1"} {
			detail, _ := s.refused(503, failure.StorageFailed, http.MethodGet, "/api/sessions/"+id+path, nil)
			require.Contains(t, detail, want, path)
		}
		detail, try := s.refused(503, failure.StorageFailed, http.MethodPost, "/api/sessions/"+id+"/resume", nil)
		require.Contains(t, detail, want)
		require.Equal(t, "POST /api/runs begins a new run", try)
	}
	require.Equal(t, []string{"next", "sound"}, idsOf(t, s, 2))
	s.stop(exitOK)
	for id, was := range before {
		require.Equal(t, was, filesBelow(t, filepath.Join(folder, id)))
	}
}

// A session that was begun under rules that this engine does not have can be looked at, and is not
// run again.
func TestSessionsOfOtherRules(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.run(exitOK, "run", "cascades/ask.json", "--model", "plain", "--no-clickhouse", "-q", "--session", "sound")
	rec, err := journal.Read(archive.JournalPath(l.home, "sound"))
	require.NoError(t, err)
	require.Equal(t, engine.Rules, rec.Header.Rules)
	rec.Header.Rules = engine.Rules + 1
	writeJournal(t, l.home, "ended", rec, -1, nil)
	rec.Entries = rec.Entries[:len(rec.Entries)-2]
	writeJournal(t, l.home, "cut", rec, -1, nil)
	want := engine.CheckRules(engine.Rules + 1).Error()
	for _, args := range [][]string{
		{"verify", "ended"}, {"replay", "ended"}, {"replay", "ended", "--events"}, {"test", "freeze", "ended", "--name", "x"}, {"resume", "cut"}, {"resume", "cut", "--fork", "3"}, {"verify", "cut"},
	} {
		require.Contains(t, l.run(exitStorage, args...).err.String(), want, args)
	}
	require.NoDirExists(t, filepath.Join(l.dir, "tests"))
	l.run(exitOK, "replay", "ended", "--list")
	l.run(exitOK, "sessions", "handoff", "cut")
	list := l.run(exitOK, "sessions", "list").out.String()
	require.Regexp(t, "(?m)^ended +ask +completed ", list)
	require.Regexp(t, "(?m)^cut +ask +killed  ", list, "it is not resumable")

	s := l.serve("--root", "cascades", "--no-clickhouse")
	require.Equal(t, "completed", s.get("ended").Status)
	require.False(t, s.get("cut").Resumable)
	detail, _ := s.refused(409, failure.NotResumable, http.MethodPost, "/api/sessions/cut/resume", nil)
	require.Contains(t, detail, want)
	s.stop(exitOK)
}

// A fork is a run under the rules of its parent, whose entries it has.
func TestForkKeepsTheRules(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", recorded["ask.json"])
	l.run(exitOK, "run", "ask.json", "--model", "plain", "--no-clickhouse", "-q", "--session", "parent")
	l.run(exitOK, "resume", "parent", "--fork", "3", "--session", "fork", "-q")
	rec, err := journal.Read(archive.JournalPath(l.home, "fork"))
	require.NoError(t, err)
	require.Equal(t, engine.Rules, rec.Header.Rules)
	require.Equal(t, "parent", rec.Header.Parent)
}
