package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
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
		tail string // that is in the journal after its first two lines
		want int    // lines in the end
	}{
		"whole":         {func(l []string) string { return strings.Join(l, "") }, "", 4},
		"what is gone":  {func(l []string) string { return l[2] + l[3] }, "", 4},
		"reordered":     {func(l []string) string { return l[3] + l[2] }, "", 4},
		"twice":         {func(l []string) string { return l[2] + l[3] + l[2] + l[3] }, "", 4},
		"a hole":        {func(l []string) string { return l[3] }, "", 2},
		"zeros":         {func(l []string) string { return l[2] + strings.Repeat("\x00", 999) + "\n" + l[3] + "\x00\x00" }, "", 4},
		"zeros before":  {func(l []string) string { return l[2] + "\x00" + l[3] }, "", 3},
		"torn":          {func(l []string) string { return l[2] + l[3][:20] }, "", 3},
		"garbage":       {func(l []string) string { return "}{\n\n[]\n" + l[2] + l[3] }, "", 4},
		"empty":         {func([]string) string { return "" }, "", 2},
		"a torn end":    {func(l []string) string { return l[2] }, `{"session_id`, 3},
		"a lost sector": {func(l []string) string { return l[2] }, `{"ses` + "\x00\x00\x00" + `}` + "\n{}\n", 3},
		"lost only":     {func([]string) string { return `{"session_id":"s1","seq":1}` + "\n" }, "\x00\x00\n", 2},
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
			require.NoError(t, s.Recover(context.Background()))
			requireNoLogs(t, s)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, strings.Join(lines[:tc.want], ""), string(text))
		})
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
	requireNoLogs(t, s)
	text, err := os.ReadFile(filepath.Join(root, "s1", File))
	require.NoError(t, err)
	require.Equal(t, strings.Join(lines[:2], ""), string(text))
	names, err := os.ReadDir(s.sessions)
	require.NoError(t, err)
	require.Len(t, names, 1, "the link")
}

// A journal that was changed is not recovered over: its damage is for people to look at.
func TestRecoverKeepsDamage(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	path, lines := cutSession(t, s, 2)
	damaged := lines[0] + strings.Replace(lines[1], "one", "eno", 1) + lines[2]
	require.NoError(t, os.WriteFile(path, []byte(damaged), 0o600))
	deadLog(t, s, strings.Join(lines, ""))
	require.NoError(t, s.Recover(context.Background()))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, damaged, string(text))
	_, _, err = s.Open("s1")
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
			_, err := s.Create(headerOf("s2"))
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
		path, _ := cutSession(t, s, 0)
		require.NoError(t, os.WriteFile(path, []byte(journal), 0o600))
		deadLog(t, s, log)
		before, err := soundEnd(path)
		require.NoError(t, err)
		require.NoError(t, s.Recover(context.Background()))
		requireNoLogs(t, s)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if before == nil || before.damaged {
			require.Equal(t, journal, string(text))
			return
		}
		require.Equal(t, journal[:before.size], string(text[:before.size]))
		for line := range strings.Lines(string(text[before.size:])) {
			require.True(t, strings.Contains(log, line) || strings.HasPrefix(journal[before.size:], line), line)
		}
		rec, err := Read(path)
		require.NoError(t, err)
		require.GreaterOrEqual(t, uint64(len(rec.Entries)), before.seq)
	})
}
