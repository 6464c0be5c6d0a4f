package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// deadLog puts a commit log of a dead process into the folder of a store.
func deadLog(t *testing.T, s *Store, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(s.folder, 0o700))
	path := filepath.Join(s.folder, "0123456789abcdef-1.log")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// cutSession makes a session of which the journal has the first lines only, and returns all of them.
func cutSession(t *testing.T, s *Store, kept int) (path string, lines []string) {
	t.Helper()
	lines = written(t, "one", "two", "three")
	dir := filepath.Join(s.sessions, "s1")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	path = filepath.Join(dir, File)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:kept], "")), 0o600))
	return path, lines
}

// What continues a journal is restored, from however many logs and in whatever order; what does not
// is passed over.
func TestRecoverRestores(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		log  func(lines []string) string
		tail string                      // that is in the journal after its first two lines
		want int                         // lines in the end
		lost func(lines []string) string // that is kept beside the journal; nil: nothing
		logs int                         // that stay
	}{
		"whole":        {log: func(l []string) string { return strings.Join(l, "") }, want: 4},
		"what is gone": {log: func(l []string) string { return l[2] + l[3] }, want: 4},
		"reordered":    {log: func(l []string) string { return l[3] + l[2] }, want: 4},
		"twice":        {log: func(l []string) string { return l[2] + l[3] + l[2] + l[3] }, want: 4},
		"changed before": {
			log: func(l []string) string { return strings.Replace(l[2], "two", "owt", 1) + l[2] }, want: 3,
			lost: func(l []string) string { return strings.Replace(l[2], "two", "owt", 1) },
		},
		"a hole":       {log: func(l []string) string { return l[3] + l[3] }, want: 2, lost: func(l []string) string { return l[3] }},
		"zeros":        {log: func(l []string) string { return l[2] + strings.Repeat("\x00", 999) + "\n" + l[3] + "\x00\x00" }, want: 4},
		"zeros before": {log: func(l []string) string { return l[2] + "\x00" + l[3] }, want: 3},
		"torn":         {log: func(l []string) string { return l[2] + l[3][:20] }, want: 3},
		"garbage":      {log: func(l []string) string { return "}{\n\n[]\n" + l[2] + l[3] }, want: 4, logs: 1},
		"damage between": {
			log: func(l []string) string { return "X" + l[2][1:] + l[3] }, want: 2, logs: 1,
			lost: func(l []string) string { return l[3] },
		},
		"empty":         {log: func([]string) string { return "" }, want: 2},
		"a torn end":    {log: func(l []string) string { return l[2] }, tail: `{"session_id`, want: 3},
		"another end":   {log: func(l []string) string { return l[2] }, tail: `{"other`, want: 3, lost: func([]string) string { return `{"other` }},
		"a lost sector": {log: func(l []string) string { return l[2] }, tail: lostSector, want: 3, lost: func([]string) string { return lostSector }},
		"lost only": {
			log: func(l []string) string { return l[1] + l[3] }, tail: "\x00\x00\n" + `{"a":1}`, want: 2,
			lost: func(l []string) string { return "\x00\x00\n" + `{"a":1}` + l[3] },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storeOf(t, t.TempDir())
			path, lines := cutSession(t, s, 2)
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			require.NoError(t, err)
			_, err = f.WriteString(tc.tail)
			require.NoError(t, errors.Join(err, f.Close()))
			deadLog(t, s, tc.log(lines))
			for range 2 {
				require.NoError(t, s.Recover(context.Background()))
				require.Len(t, logsOf(t, s), tc.logs)
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, strings.Join(lines[:tc.want], ""), string(text))
			lost, err := os.ReadFile(fmt.Sprintf(lostFile, path, len(lines[0]+lines[1])))
			if tc.lost == nil {
				require.ErrorIs(t, err, os.ErrNotExist)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.lost(lines), string(lost))
		})
	}
}

// lostSector is the end of a journal of which the disk did not get a part.
const lostSector = `{"ses` + "\x00\x00\x00" + `}` + "\n{}\n"

// What is kept of a journal is kept once, and nothing else is overwritten.
func TestLostEndsAreKeptOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sessionFolder(t), File)
	keep := func(text string) {
		require.NoError(t, os.WriteFile(path, []byte("x"+text), 0o600))
		require.NoError(t, maker{on: osFiles{}}.setAside(lost{path: path, from: 1, tail: int64(len(text)), rest: []byte("!")}))
	}
	for _, text := range []string{"one", "two", "one", "on", "two", strings.Repeat("x", copyBlock)} {
		keep(text)
	}
	for name, want := range map[string]string{"": "one", "-2": "two", "-3": "on", "-4": strings.Repeat("x", copyBlock)} {
		text, err := os.ReadFile(fmt.Sprintf(lostFile, path, 1) + name)
		require.NoError(t, err)
		require.Equal(t, want+"!", string(text))
	}
	names, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, names, 5)
}

// What is set aside is durable before the journal loses it: without that it is an error, and no half
// of it stays.
func TestLostEndsAreDurable(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"sync", "sync folder"} {
		path := filepath.Join(sessionFolder(t), File)
		require.NoError(t, os.WriteFile(path, []byte("xend"), 0o600))
		on := faulty{osFiles{}, func(op, _ string) error {
			if op == operation {
				return syscall.EIO
			}
			return nil
		}}
		require.ErrorIs(t, maker{on: on}.setAside(lost{path: path, from: 1, tail: 3}), syscall.EIO, operation)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "xend", string(text))
	}
}

// What a log says of sessions that are not there, or of other places, makes nothing.
func TestRecoverStaysBelowTheSessions(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := storeOf(t, root)
	path, lines := cutSession(t, s, 2)
	require.NoError(t, os.Rename(filepath.Dir(path), filepath.Join(root, "s1")))
	require.NoError(t, os.Symlink(filepath.Join(root, "s1"), filepath.Join(s.sessions, "s1")))
	forged := ""
	for _, id := range []string{"../s1", "..", "", "s2", "/etc", `s1\u0000`, "s1/../../s1"} {
		forged += strings.Replace(lines[2], `"session_id":"s1"`, `"session_id":"`+id+`"`, 1)
	}
	deadLog(t, s, lines[2]+forged)
	require.NoError(t, s.Recover(context.Background()))
	require.Len(t, logsOf(t, s), 1, "the session may be put in its place again")
	require.NoError(t, os.Remove(filepath.Join(s.sessions, "s1")))
	require.NoError(t, s.Recover(context.Background()))
	requireNoLogs(t, s)
	text, err := os.ReadFile(filepath.Join(root, "s1", File))
	require.NoError(t, err)
	require.Equal(t, strings.Join(lines[:2], ""), string(text))
	names, err := os.ReadDir(s.sessions)
	require.NoError(t, err)
	require.Empty(t, names)
}

// What a log has for a session that cannot be restored now stays, for when it can be; other logs do
// not stay for it.
func TestRecoverKeepsWhatMayBeNeeded(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, s *Store, path string, lines []string){
		"damaged": func(t *testing.T, _ *Store, path string, lines []string) {
			t.Helper()
			require.NoError(t, os.WriteFile(path, []byte(lines[0]+strings.Replace(lines[1], "one", "eno", 1)), 0o600))
		},
		"a damaged header": func(t *testing.T, _ *Store, path string, lines []string) {
			t.Helper()
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(lines[0], "test", "tset", 1)), 0o600))
		},
		"no header": func(t *testing.T, _ *Store, path string, _ []string) {
			t.Helper()
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		},
		"of a newer version": func(t *testing.T, _ *Store, path string, lines []string) {
			t.Helper()
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(lines[0], ":3", ":4", 1)), 0o600))
		},
		"a folder": func(t *testing.T, _ *Store, path string, _ []string) {
			t.Helper()
			require.NoError(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		},
		"no folder": func(t *testing.T, _ *Store, path string, _ []string) {
			t.Helper()
			require.NoError(t, errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600)))
		},
		"away": func(t *testing.T, _ *Store, path string, _ []string) { t.Helper(); require.NoError(t, os.Remove(path)) },
		"on a disk that is not there": func(t *testing.T, s *Store, _ string, _ []string) {
			t.Helper()
			require.NoError(t, os.RemoveAll(s.sessions))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storeOf(t, t.TempDir())
			path, lines := cutSession(t, s, 2)
			needed := deadLog(t, s, lines[2])
			other := filepath.Join(s.folder, "fedcba9876543210-1.log")
			require.NoError(t, os.WriteFile(other, []byte(strings.ReplaceAll(lines[2], "s1", "s2")), 0o600))
			spoil(t, s, path, lines)
			require.NoError(t, s.Recover(context.Background()))
			require.FileExists(t, needed)
			if name != "on a disk that is not there" {
				require.NoFileExists(t, other)
			}
			require.NoError(t, os.RemoveAll(filepath.Dir(path)))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(lines[0]+lines[1]), 0o600))
			require.NoError(t, s.Recover(context.Background()))
			requireNoLogs(t, s)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, strings.Join(lines[:3], ""), string(text))
		})
	}
}

// A session that is in use when others are restored is restored before it is opened.
func TestRecoverRestoresLater(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	path, lines := cutSession(t, s, 2)
	deadLog(t, s, lines[2])
	lock, err := acquire(filepath.Dir(path))
	require.NoError(t, err)
	_, log := begun(t, s, "s2", "one")
	require.NoError(t, log.Close(context.Background()))
	require.Len(t, logsOf(t, s), 2)
	_, _, err = s.Open(t.Context(), "s1")
	require.EqualError(t, err, "lock session s1: the session is in use by another process")
	require.NoError(t, lock.Close())
	j, rec, err := s.Open(t.Context(), "s1")
	require.NoError(t, err)
	require.Len(t, rec.Entries, 2)
	require.NoError(t, j.Close(context.Background()))
	require.NoError(t, s.Close())
	requireNoLogs(t, s)
}

// A process may end, and remove its logs, while another recovers.
func TestRecoverWhileAProcessEnds(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	path, lines := cutSession(t, s, 2)
	log := deadLog(t, s, lines[2])
	s.on = faulty{osFiles{}, func(operation, path string) error {
		if operation == "remove" && path == log {
			return os.Remove(log)
		}
		return nil
	}}
	require.NoError(t, s.Recover(context.Background()))
	requireNoLogs(t, s)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Join(lines[:3], ""), string(text))
}

// A journal that was changed is not recovered over: its damage is for people to look at.
func TestRecoverKeepsDamage(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	path, lines := cutSession(t, s, 2)
	damaged := lines[0] + strings.Replace(lines[1], "one", "eno", 1) + lines[2]
	require.NoError(t, os.WriteFile(path, []byte(damaged), 0o600))
	deadLog(t, s, lines[1])
	require.NoError(t, s.Recover(context.Background()))
	require.Len(t, logsOf(t, s), 1, "it has the line that is damaged")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, damaged, string(text))
	_, _, err = s.Open(t.Context(), "s1")
	require.True(t, IsUnreadable(err), err)
}

// A log that others can have written is refused, and so is what is no file.
func TestRecoverRefusesPlantedLogs(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"writable": func(p string) error { return os.Chmod(p, 0o666) }, //nolint:gosec // what is tested
		"a link":   func(p string) error { return errors.Join(os.Rename(p, p+"x"), os.Symlink(p+"x", p)) },
		"a folder": func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storeOf(t, t.TempDir())
			path, lines := cutSession(t, s, 2)
			log := deadLog(t, s, lines[2])
			require.NoError(t, plant(log))
			require.ErrorContains(t, s.Recover(context.Background()), "read commit log "+log)
			_, err := s.Create(t.Context(), headerOf("s2"))
			require.ErrorContains(t, err, log)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, strings.Join(lines[:2], ""), string(text))
		})
	}
}

// A recovery that is interrupted says so, and leaves the log.
func TestRecoverEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	_, lines := cutSession(t, s, 2)
	deadLog(t, s, lines[2])
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, s.Recover(ctx), context.Canceled)
	require.Len(t, logsOf(t, s), 1)
}

// Whatever is in a commit log, and whatever a power failure left of a journal: what was sound in the
// journal stays, and it goes on with lines of its own only.
func FuzzRecover(f *testing.F) {
	const head = `{"windlass_journal":3,"rules":1,"session_id":"s1"}` + "\n"
	whole := withSums(head + keyed(1) + "\n" + keyed(2) + "\n" + keyed(3) + "\n")
	for _, cut := range []int{0, len(whole) / 2, len(whole) - 3, len(whole)} {
		f.Add(whole[:cut], whole)
		f.Add(whole[:cut]+"\x00\x00\n", "\x00"+whole+"\x00\x00")
		f.Add(whole[:cut]+strings.Repeat("\x00", 100), strings.ReplaceAll(whole, "s1", "s2")+whole)
		f.Add(whole, whole[:cut])
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, journal, log string) {
		s := NewStore(filepath.Join(root, "sessions"), filepath.Join(root, "commit"))
		require.NoError(t, os.RemoveAll(filepath.Join(s.sessions, "s1")))
		path := filepath.Join(s.sessions, "s1", File)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(journal), 0o600))
		deadLog(t, s, log)
		before, err := soundEnd(path, 0)
		require.NoError(t, err)
		require.NoError(t, s.Recover(context.Background()))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if before == nil || before.damaged {
			require.Equal(t, journal, string(text))
			return
		}
		requireNoLogs(t, s)
		require.Equal(t, journal[:before.size], string(text[:before.size]))
		requireAllOf(t, path, before, journal, log)
		for line := range strings.Lines(string(text[before.size:])) {
			require.True(t, strings.Contains(log, line) || strings.HasPrefix(journal[before.size:], line), line)
		}
		rec, err := Read(path)
		require.NoError(t, err)
		require.GreaterOrEqual(t, uint64(len(rec.Entries)), before.seq)
	})
}

// requireAllOf demands that what a journal and a commit log had is in the journal, or beside it.
func requireAllOf(t *testing.T, path string, before *journalEnd, journal, log string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	kept, err := os.ReadFile(fmt.Sprintf(lostFile, path, before.size))
	require.True(t, err == nil || errors.Is(err, os.ErrNotExist), err)
	tail := journal[before.size:]
	require.True(t, strings.HasPrefix(string(text[before.size:]), tail) || strings.HasPrefix(string(kept), tail), "%q", tail)
	for line := range strings.Lines(log) {
		var of struct {
			SessionID string `json:"session_id"`
			Seq       uint64 `json:"seq"`
		}
		if strings.HasSuffix(line, "\n") && !strings.Contains(line, "\x00") && json.Unmarshal([]byte(line), &of) == nil && of.SessionID == "s1" && of.Seq > before.seq {
			require.True(t, strings.Contains(string(text), line) || strings.Contains(string(kept), line), line)
		}
	}
}
