package memofile

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/config"
)

// testBundle is a home and a project folder.
type testBundle struct {
	home, folder string
	ticks        atomic.Int64
}

func setup(t testing.TB) *testBundle {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return &testBundle{home: t.TempDir(), folder: folder}
}

// now is a clock of which each reading is a second later.
func (b *testBundle) now() time.Time {
	return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(time.Duration(b.ticks.Add(1)) * time.Second)
}

// store returns the memos as another process has them.
func (b *testBundle) store() *Store { return Open(b.home, b.folder, b.now) }

func (b *testBundle) path() string {
	return filepath.Join(config.MemosDir(b.home), projectOf(b.folder)+suffix)
}

func (b *testBundle) text(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(b.path())
	require.NoError(t, err)
	return string(text)
}

func (b *testBundle) history(t testing.TB) *History {
	t.Helper()
	h, err := b.store().Read(memo.Project)
	require.NoError(t, err)
	return h
}

// texts returns the texts of the memos of the project, in the order in which they were saved.
func (b *testBundle) texts(t testing.TB) (out []string) {
	t.Helper()
	for _, m := range b.history(t).Now() {
		out = append(out, m.Text)
	}
	return out
}

// session is a run with memos. Its calls follow from each other as they do in a run.
type session struct {
	*Store
	id    string
	seen  memo.Seen
	calls int
}

func begin(t testing.TB, s *Store, id string) *session {
	t.Helper()
	start, err := s.Start(t.Context(), id)
	require.NoError(t, err)
	return &session{Store: s, id: id, seen: memo.Seen{Start: map[string]uint64{memo.Project: start.At, memo.Global: start.Global}}}
}

func (s *session) try(ctx context.Context, tool string, args any) (*echo.MemoCall, error) {
	s.calls++
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	c, err := memo.Read(tool, text)
	if err != nil {
		return nil, err
	}
	out, err := s.Call(ctx, &memo.Request{
		Session: s.id, Key: echo.MustKey("p/attempt1/turn" + strconv.Itoa(s.calls) + "/tool1"), Hash: echo.TextHash(text), Command: c, Seen: s.seen,
	})
	if err == nil {
		s.seen = s.seen.With(out.Seen)
	}
	return out, err
}

// does makes a call that succeeds.
func (s *session) does(t testing.TB, tool string, args any) *echo.MemoCall {
	t.Helper()
	out, err := s.try(t.Context(), tool, args)
	require.NoError(t, err)
	require.False(t, out.Failed, out.Text)
	return out
}

// saves saves a memo and returns its id.
func (s *session) saves(t testing.TB, text string, tags ...string) string {
	t.Helper()
	return s.does(t, memo.ToolSave, save(text, tags...)).Wrote[0].Memo
}

type args map[string]any

func save(text string, tags ...string) args {
	if len(tags) == 0 {
		return args{"text": text}
	}
	return args{"text": text, "tags": tags}
}

func edit(id, text string) args { return args{"id": id, "text": text} }
func drop(id string) args       { return args{"id": id} }
