package bank

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
	"github.com/windlass-run/windlass/engine/memory"
)

const (
	noteBank = "notes"
	notePath = "/memories/a.md"
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

// store returns the banks as another process has them.
func (b *testBundle) store() *Store { return Open(b.home, b.folder, b.now) }

func (b *testBundle) path(t testing.TB) string {
	t.Helper()
	ref, err := RefOf(noteBank, b.folder)
	require.NoError(t, err)
	return ref.path(b.home)
}

func (b *testBundle) text(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(b.path(t))
	require.NoError(t, err)
	return string(text)
}

func (b *testBundle) history(t testing.TB) *History {
	t.Helper()
	h, err := b.store().Read(noteBank)
	require.NoError(t, err)
	return h
}

// files returns the files that a new process sees.
func (b *testBundle) files(t testing.TB) memory.Files {
	t.Helper()
	h := b.history(t)
	return h.Files(h.Now())
}

// session is a run with a bank. Its calls follow from each other as they do in a run.
type session struct {
	*Store
	id    string
	seen  memory.Seen
	calls int
}

func begin(t testing.TB, s *Store, id string) *session {
	t.Helper()
	start, err := s.Start(t.Context(), noteBank, id)
	require.NoError(t, err)
	return &session{Store: s, id: id, seen: memory.Seen{Start: start.At}}
}

// request returns the next call.
func (s *session) request(c *memory.Command) *memory.Request {
	s.calls++
	args, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	key := echo.MustKey("p/attempt1/turn" + strconv.Itoa(s.calls) + "/tool1")
	return &memory.Request{Bank: noteBank, Session: s.id, Key: key, Hash: echo.TextHash(args), Command: c, Seen: s.seen}
}

func (s *session) try(ctx context.Context, c *memory.Command) (*echo.MemoryCall, error) {
	out, err := s.Call(ctx, s.request(c))
	if err == nil {
		s.seen = s.seen.With(out.Seen)
	}
	return out, err
}

func (s *session) call(t testing.TB, c *memory.Command) *echo.MemoryCall {
	t.Helper()
	out, err := s.try(t.Context(), c)
	require.NoError(t, err)
	return out
}

// does makes a call that succeeds.
func (s *session) does(t testing.TB, c *memory.Command) *echo.MemoryCall {
	t.Helper()
	out := s.call(t, c)
	require.False(t, out.Failed, out.Text)
	return out
}

func view(path string) *memory.Command { return &memory.Command{Command: "view", Path: path} }

func create(path, text string) *memory.Command {
	return &memory.Command{Command: "create", Path: path, FileText: text}
}

func replaces(path, old, text string) *memory.Command {
	return &memory.Command{Command: "str_replace", Path: path, OldStr: old, NewStr: text}
}

func insert(path string, line int, text string) *memory.Command {
	return &memory.Command{Command: "insert", Path: path, InsertLine: &line, InsertText: text}
}

func remove(path string) *memory.Command { return &memory.Command{Command: "delete", Path: path} }

func rename(from, to string) *memory.Command {
	return &memory.Command{Command: "rename", OldPath: from, NewPath: to}
}
