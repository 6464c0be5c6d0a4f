package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
)

var at = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func lineOf(target string) audit.Line {
	return audit.Line{At: at, By: "ann", Via: "http", What: audit.Answer, Target: target, Session: "s"}
}

// TestDo: each change and each refusal is one line with its outcome; the file is its owner's alone.
func TestDo(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	require.NoError(t, audit.Do(t.Context(), home, lineOf("w1"), func() error { return nil }))
	refused := failure.New(failure.AlreadyAnswered, errors.New("bob was faster with hunter2"), "")
	require.ErrorIs(t, audit.Do(t.Context(), home, lineOf("w2"), func() error { return refused }), refused)
	require.NoError(t, audit.Add(t.Context(), home, lineOf("w3").Ended(failure.Newf("not_granted", "no"))))
	text, err := os.ReadFile(audit.Path(home))
	require.NoError(t, err)
	const want = `{"at":"2026-11-24T12:00:00Z","by":"ann","via":"http","what":"answer","target":"%s","session":"s","outcome":"%s"%s}` + "\n"
	require.Equal(t, fmt.Sprintf(want, "w1", "done", "")+fmt.Sprintf(want, "w2", "refused", `,"reason":"already_answered"`)+
		fmt.Sprintf(want, "w3", "refused", `,"reason":"not_granted"`), string(text))
	info, err := os.Stat(audit.Path(home))
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
}

// TestNoPlaceForTheLine: what could not be audited is not done.
func TestNoPlaceForTheLine(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(home, "elsewhere"), audit.Path(home)))
	err := audit.Do(t.Context(), home, lineOf("w"), func() error { t.Error("it was done"); return nil })
	require.True(t, failure.Is(err, failure.StorageFailed))
	require.EqualError(t, err, "keep the audit of this change: "+audit.Path(home)+" is a link or something else that is no file")
	require.Error(t, audit.Add(t.Context(), home, lineOf("w").Ended(nil)))
	require.NoFileExists(t, filepath.Join(home, "elsewhere"))
}

// TestRead: a line that was cut off harms no other, and the newest lines are returned.
func TestRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	lines, damaged, err := audit.Read(home, 5)
	require.NoError(t, err)
	require.Empty(t, lines)
	require.Zero(t, damaged)
	require.NoError(t, os.WriteFile(audit.Path(home), []byte(`{"at":"2026`), 0o600))
	for _, id := range []string{"w1", "w2", strings.Repeat("x", 1<<20)} {
		require.NoError(t, audit.Do(t.Context(), home, lineOf(id), func() error { return nil }))
	}
	lines, damaged, err = audit.Read(home, 2)
	require.NoError(t, err)
	require.Equal(t, 1, damaged)
	require.Len(t, lines, 2)
	require.Equal(t, "w2", lines[0].Target)
	require.Len(t, lines[1].Target, 512)
	require.NoError(t, os.WriteFile(audit.Path(home), []byte(strings.Repeat("y", 200<<10)+"\n{}\nnull\n"), 0o600))
	_, damaged, err = audit.Read(home, 2)
	require.NoError(t, err)
	require.Equal(t, 3, damaged)
}

// TestAtOnce: changes of many at once are each a whole line.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := audit.Do(t.Context(), home, lineOf(fmt.Sprint("w", i)), func() error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	lines, damaged, err := audit.Read(home, 100)
	require.NoError(t, err)
	require.Zero(t, damaged)
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l.Target] = true
	}
	require.Len(t, seen, 20)
}
