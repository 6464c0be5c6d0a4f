package bank

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
	"github.com/windlass-run/windlass/internal/ledger/ledgertest"
)

// act is a step of a run, which can be made again.
type act func(ctx context.Context, s *session) (wrote []echo.MemoryVersion, err error)

func does(c *memory.Command) act {
	return func(ctx context.Context, s *session) ([]echo.MemoryVersion, error) {
		out, err := s.try(ctx, c)
		switch {
		case err != nil:
			return nil, err
		case out.Failed:
			return nil, fmt.Errorf("%+v: %s", c, out.Text)
		}
		return out.Wrote, nil
	}
}

func forgets(path string) act {
	return func(ctx context.Context, s *session) ([]echo.MemoryVersion, error) {
		_, err := s.Forget(ctx, noteBank, "ann", path)
		if failure.Is(err, failure.InvalidRequest) { // it was forgotten before the process died
			err = nil
		}
		return nil, err
	}
}

// remembers is the end of a visit.
func remembers(visit int, texts ...string) act {
	return func(ctx context.Context, s *session) ([]echo.MemoryVersion, error) {
		out, err := s.Remember(ctx, remembering(s.id, visit, texts...))
		if err != nil {
			return nil, err
		}
		return out.Wrote, nil
	}
}

func recalls(hashes ...string) act {
	return func(ctx context.Context, s *session) ([]echo.MemoryVersion, error) {
		q := &memory.Search{Bank: noteBank, Session: s.id, Key: echo.MustKey("p/attempt1/turn1/tool1"), Seen: s.seen}
		q.Choose = func(*memory.Holdings) (told []echo.MemoryVersion) {
			for _, h := range hashes {
				told = append(told, echo.MemoryVersion{Version: h})
			}
			return told
		}
		return nil, s.Search(ctx, q)
	}
}

func starts(id string) act {
	return func(ctx context.Context, s *session) ([]echo.MemoryVersion, error) {
		_, err := s.Start(ctx, noteBank, id)
		return nil, err
	}
}

func imports(text string) act {
	return func(ctx context.Context, s *session) ([]echo.MemoryVersion, error) {
		_, err := s.Import(ctx, noteBank, "ann", "x", strings.NewReader(text))
		return nil, err
	}
}

// acts are all ways in which a bank is written.
func acts(t testing.TB) []act {
	t.Helper()
	other := setup(t)
	s := begin(t, other.store(), "elsewhere")
	s.does(t, create("/memories/elsewhere", "1"))
	s.does(t, insert("/memories/elsewhere", 0, "0"))
	var export strings.Builder
	require.NoError(t, s.Export(noteBank, &export))
	long := strings.Repeat("long ", 300)
	return []act{
		starts("s"), does(create(notePath, "one\n"+long)), does(view(notePath)), does(replaces(notePath, "one", "two")), does(view(notePath)), does(view(notePath)),
		does(view(notePath)), does(view(notePath)), does(view(notePath)),
		does(create("/memories/d/b", long+"b")), does(rename("/memories/d", "/memories/e")), starts("t"), remembers(1, "first", long), does(view("/memories/e/b")), remembers(2, "first", "second"), recalls("0123456789abcdef"), does(view("/memories/e/b")), imports(export.String()),
		forgets("/memories/e/b"), does(create("/memories/f", long)), does(insert(notePath, 0, "zero")), does(remove(notePath)),
	}
}

// play goes on with acts at one of them, and returns at which it ended, and why. What was written is added to wrote.
func play(ctx context.Context, s *session, list []act, from int, wrote map[string]bool) (int, error) {
	for i := from; i < len(list); i++ {
		s.calls = i
		versions, err := list[i](ctx, s)
		if err != nil {
			return i, err
		}
		for _, v := range versions {
			wrote[v.Version] = true
		}
	}
	return len(list), nil
}

// written returns what entries have written, but for times and ids.
func written(h *History) (out []string) {
	for _, e := range h.Entries {
		for _, v := range e.Versions {
			out = append(out, fmt.Sprintf("%s %s %v %q %s", e.Command, v.Path, v.Gone, v.From, v.Hash))
		}
		for i := range e.Texts {
			out = append(out, fmt.Sprintf("%s %s %s", e.Command, e.By.Key, e.Texts[i].Hash))
		}
	}
	return out
}

func on(b *testBundle, d *ledgertest.Dying) *Store {
	s := b.store()
	s.on = d
	return s
}

// requireKept demands that a bank has each version once that somebody was told of.
func requireKept(t *testing.T, h *History, wrote map[string]bool, place int) {
	t.Helper()
	times := map[string]int{}
	for _, e := range h.Entries {
		for _, v := range e.Versions {
			times[v.ID]++
			require.Equal(t, 1, times[v.ID], "place %d", place)
		}
		for i := range e.Texts {
			hash := string(e.Texts[i].Hash)
			times[hash]++
			require.Equal(t, 1, times[hash], "place %d", place)
		}
	}
	for id := range wrote {
		require.Contains(t, times, id, "place %d", place)
	}
}

// A process dies at each place of each operation on a bank, with the machine or without. All that it was told that it has
// written is there, no half version, and the same calls made again come to the same bank.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	list := acts(t)
	b := setup(t)
	d := ledgertest.New(t, b.path(t), 0)
	_, err := play(t.Context(), &session{Store: on(b, d), id: "s"}, list, 0, map[string]bool{})
	require.NoError(t, err)
	want := written(b.history(t))
	require.Greater(t, d.Places, 200)
	t.Log(d.Places, "places")
	for way, name := range []string{"process", "machine", "machine again", "process, then machine"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for place := 1; place <= d.Places; place += min(1+2*way, 3) {
				killedAt(t, list, place, way, want)
			}
		})
	}
}

func killedAt(t *testing.T, list []act, place, way int, want []string) {
	t.Helper()
	b := setup(t)
	random := rand.New(rand.NewPCG(uint64(way), uint64(place))) //nolint:gosec // it is to be the same again
	wrote := map[string]bool{}
	d := ledgertest.New(t, b.path(t), place)
	s := &session{Store: on(b, d), id: "s"}
	at, err := play(t.Context(), s, list, 0, wrote)
	if place > d.Places { // times have digits at their ends, or not: a line may be written in other parts
		return
	}
	require.Error(t, err)
	require.True(t, d.Dead)
	for again := range way {
		if again > 0 || way < 3 {
			d.PowerOff(t, random)
			d.States = [][]byte{}
			requireKept(t, b.history(t), wrote, place)
		}
		d = d.Next(1 + random.IntN(ledgertest.WriteParts+8))
		d.Note("power")
		s.Store = on(b, d)
		if at, err = play(t.Context(), s, list, at, wrote); err == nil {
			break
		}
	}
	if d.Dead && way > 0 {
		d.PowerOff(t, random)
	}
	requireKept(t, b.history(t), wrote, place)
	s.Store = on(b, ledgertest.New(t, b.path(t), 0))
	_, err = play(t.Context(), s, list, at, wrote)
	require.NoError(t, err, "place %d", place)
	h := b.history(t)
	requireKept(t, h, wrote, place)
	require.Equal(t, want, written(h), "place %d", place)
	require.NoFileExists(t, b.path(t)+ledger.NewSuffix, "place %d", place)
}

// An operation that fails fails the call, with the bank and the reason. Nothing half-written is left, and the call succeeds
// when it is made again.
func TestFailingOperations(t *testing.T) {
	t.Parallel()
	list := acts(t)
	failed := map[string]bool{}
	for n := 0; ; n++ {
		b := setup(t)
		d := ledgertest.New(t, b.path(t), 0)
		failing, ops := "", 0
		d.Fail = func(op, _ string) error {
			if ops++; ops == n+1 {
				failing = op
				return syscall.ENOSPC
			}
			return nil
		}
		s := &session{Store: on(b, d), id: "s"}
		wrote := map[string]bool{}
		at, err := play(t.Context(), s, list, 0, wrote)
		if ops <= n {
			break
		}
		if failing == "remove" && err == nil {
			continue // there was nothing to remove
		}
		if err != nil {
			require.Regexp(t, "^(open|write|sync) bank "+b.path(t)+": no space left on device$", err.Error())
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.True(t, failure.Is(err, failure.StorageFailed))
			text, err := os.ReadFile(b.path(t))
			require.True(t, len(text) == 0 || text[len(text)-1] == '\n', "%s %d: no half line", failing, n)
			require.True(t, err == nil || errors.Is(err, os.ErrNotExist))
			failed[failing] = true
		}
		requireKept(t, b.history(t), wrote, n)
		_, err = play(t.Context(), s, list, at, wrote)
		require.NoError(t, err)
		requireKept(t, b.history(t), wrote, n)
	}
	for _, op := range []string{"open", "write", "sync", "rename", "remove"} {
		require.Contains(t, failed, op)
	}
}

// Before a line that must not be lost, the disk has all that others have left unsynced; a view is not synced.
func TestOrderOfSyncs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := ledgertest.New(t, b.path(t), 0)
	var ops []string
	d.Fail = func(op, _ string) error {
		ops = append(ops, op)
		return nil
	}
	did := func(want ...string) {
		t.Helper()
		require.Equal(t, want, ops)
		ops = nil
	}
	s := begin(t, on(b, d), "s")
	did("open", "remove", "open", "write", "write", "sync", "rename")
	s.does(t, create(notePath, "one"))
	did("open", "sync", "write", "sync")
	s.does(t, view(notePath))
	did("open", "write")
	s.does(t, insert(notePath, 0, "zero"))
	did("open", "sync", "write", "sync")
	begin(t, on(b, d), "s")
	did("open", "sync")
}

// A disk on which nothing can be written any more, not even taken back, leaves a bank that can be read.
func TestDiskThatStaysFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := ledgertest.New(t, b.path(t), 0)
	s := begin(t, on(b, d), "s")
	s.does(t, create(notePath, "one"))
	d.Fail = func(op, _ string) error {
		if op == "sync" || op == "truncate" {
			return syscall.EIO
		}
		return nil
	}
	r := s.request(replaces(notePath, "one", "two"))
	for range 2 {
		_, err := s.Call(t.Context(), r)
		require.ErrorIs(t, err, syscall.EIO, "a line that could not be synced is not reported either when the call is made again")
	}
	d.Fail = nil
	_, err := s.Call(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, memory.Files{notePath: "two"}, b.files(t))
	require.Len(t, b.history(t).Versions(notePath), 2)
}

// A lock that cannot be had in time is an error of the bank.
func TestLockThatIsHeld(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f, err := b.store().file(noteBank)
	require.NoError(t, err)
	unlock, err := f.Lock(t.Context())
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.store().Start(ctx, noteBank, "s")
	require.EqualError(t, err, "lock bank "+b.path(t)+": context canceled")
	require.ErrorIs(t, err, context.Canceled)
}
