package memofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
	"github.com/windlass-run/windlass/internal/ledger/ledgertest"
)

// act is a step of a run, which can be made again. It returns the versions that it was told of that it has written.
type act func(ctx context.Context, s *session) (wrote []string, err error)

// calls makes a call; an id that begins with # is that of the memo which the call of that number has saved.
func calls(tool string, a args) act {
	return func(ctx context.Context, s *session) ([]string, error) {
		given := args{}
		for k, v := range a {
			if text, is := v.(string); is && strings.HasPrefix(text, "#") {
				set, err := s.Read(memo.Project)
				if err != nil {
					return nil, err
				}
				v = set.Entries[0].Versions[0].Memo
			}
			given[k] = v
		}
		out, err := s.try(ctx, tool, given)
		if err != nil {
			return nil, err
		}
		if out.Failed {
			return nil, errors.New(out.Text)
		}
		var wrote []string
		for _, v := range out.Wrote {
			wrote = append(wrote, v.Version)
		}
		return wrote, nil
	}
}

// acts are all ways in which memos are written.
func acts(t testing.TB) []act {
	t.Helper()
	other := setup(t)
	begin(t, other.store(), "elsewhere").saves(t, "Elsewhere.", "far")
	var export strings.Builder
	require.NoError(t, other.store().Export(memo.Project, &export))
	long := strings.Repeat("long ", 300)
	list := []act{
		calls(memo.ToolSave, save("One "+long, "a")), calls(memo.ToolRetrieve, args{}), calls(memo.ToolSave, save("Two "+long)), calls(memo.ToolRetrieve, args{}),
		calls(memo.ToolEdit, edit("#", "Three "+long)), calls(memo.ToolSave, save("Two "+long)), calls(memo.ToolRetrieve, args{}),
		func(ctx context.Context, s *session) ([]string, error) {
			_, err := s.Import(ctx, memo.Project, "ann", "x", strings.NewReader(export.String()))
			return nil, err
		},
		func(ctx context.Context, s *session) ([]string, error) {
			_, err := s.Bring(ctx, &memo.Message{Session: s.id, Key: echo.MustKey("p/attempt1/turn9"), Text: "long", Seen: s.seen})
			return nil, err
		},
		calls(memo.ToolSave, save("Four.")), calls(memo.ToolDelete, drop("#")), calls(memo.ToolSave, save("Five.")),
	}
	return append(list, func(ctx context.Context, s *session) ([]string, error) {
		h, err := s.Read(memo.Project)
		if err != nil {
			return nil, err
		}
		_, err = s.Forget(ctx, "ann", h.Entries[0].Versions[0].Memo)
		if failure.Is(err, failure.InvalidRequest) { // it was forgotten before the process died
			err = nil
		}
		return nil, err
	}, calls(memo.ToolSave, save("Six.")))
}

// play goes on with acts at one of them, and returns at which it ended, and why.
func play(ctx context.Context, s *session, list []act, from int, wrote map[string]bool) (int, error) {
	for i := from; i < len(list); i++ {
		s.calls = i
		versions, err := list[i](ctx, s)
		if err != nil {
			return i, err
		}
		for _, v := range versions {
			wrote[v] = true
		}
	}
	return len(list), nil
}

// written returns what entries have written, but for times and ids.
func written(h *History) (out []string) {
	for _, e := range h.Entries {
		for _, v := range e.Versions {
			out = append(out, fmt.Sprintf("%s %v %v %s", e.Command, v.Gone, v.Forgotten, v.Hash))
		}
	}
	return out
}

func on(b *testBundle, d *ledgertest.Dying) *Store {
	s := b.store()
	s.on = d
	return s
}

// requireKept demands that a history has each version once that somebody was told of.
func requireKept(t *testing.T, h *History, wrote map[string]bool, place int) {
	t.Helper()
	times := map[string]int{}
	for _, e := range h.Entries {
		for _, v := range e.Versions {
			times[v.ID]++
			require.Equal(t, 1, times[v.ID], "place %d", place)
		}
	}
	for id := range wrote {
		require.Contains(t, times, id, "place %d", place)
	}
}

// A process dies at each place of each operation on memos, with the machine or without. All that it was told that it has
// written is there, no half version, and the same calls made again come to the same memos.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	list := acts(t)
	b := setup(t)
	d := ledgertest.New(t, b.path(), 0)
	_, err := play(t.Context(), &session{Store: on(b, d), id: "s"}, list, 0, map[string]bool{})
	require.NoError(t, err)
	want := written(b.history(t))
	require.Greater(t, d.Places, 200)
	for way, name := range []string{"process", "machine", "machine again"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for place := 1; place <= d.Places; place += 1 + way {
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
	d := ledgertest.New(t, b.path(), place)
	s := &session{Store: on(b, d), id: "s"}
	at, err := play(t.Context(), s, list, 0, wrote)
	if place > d.Places { // ids follow from times, and a line may be written in other parts
		return
	}
	require.Error(t, err)
	for range way {
		d.PowerOff(t, random)
		d.States = [][]byte{}
		requireKept(t, b.history(t), wrote, place)
		d = d.Next(1 + random.IntN(ledgertest.WriteParts+8))
		d.Note("power")
		s.Store = on(b, d)
		if at, err = play(t.Context(), s, list, at, wrote); err == nil {
			break
		}
	}
	requireKept(t, b.history(t), wrote, place)
	s.Store = on(b, ledgertest.New(t, b.path(), 0))
	_, err = play(t.Context(), s, list, at, wrote)
	require.NoError(t, err, "place %d", place)
	h := b.history(t)
	requireKept(t, h, wrote, place)
	require.Equal(t, want, written(h), "place %d", place)
}

// A disk on which nothing can be written is an error that names the file, and what was there can be read.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.saves(t, "One.")
	d := ledgertest.New(t, b.path(), 0)
	d.Fail = func(op, _ string) error {
		if op == "write" {
			return syscall.ENOSPC
		}
		return nil
	}
	s.Store = on(b, d)
	_, err := s.try(t.Context(), memo.ToolSave, save("Two."))
	require.EqualError(t, err, "write memo file "+b.path()+": no space left on device")
	require.True(t, failure.Is(err, failure.StorageFailed))
	require.Equal(t, []string{"One."}, b.texts(t))
}

// A file that is cut off anywhere has all whole lines before that, and can be written again.
func TestTornAtEveryOffset(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.saves(t, "One.")
	s.does(t, memo.ToolRetrieve, args{})
	s.saves(t, "Two.", "a")
	whole := []byte(b.text(t))
	for n := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(b.path(), whole[:n], 0o600))
		lines := bytes.Count(whole[:n], []byte("\n"))
		require.Len(t, b.history(t).Entries, max(lines-1, 0), "after %d bytes", n)
		store := on(b, ledgertest.New(t, "", 0)) // which syncs nothing
		begin(t, store, "next").saves(t, "Next.")
		require.Contains(t, b.texts(t), "Next.")
	}
}

// Zeros of sectors that the disk did not get are passed over in lines that it may lose, and damage in others.
func TestUnwrittenSectors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.saves(t, strings.Repeat("long ", 300))
	durable := len(b.text(t))
	for range 8 {
		s.does(t, memo.ToolRetrieve, args{})
	}
	reads := []byte(b.text(t))
	at := durable/ledger.Sector*ledger.Sector + ledger.Sector
	require.Greater(t, len(reads), at+ledger.Sector)
	clear(reads[at : at+ledger.Sector])
	require.NoError(t, os.WriteFile(b.path(), reads, 0o600))
	require.NotEmpty(t, b.history(t).Entries)
	require.Len(t, b.texts(t), 1)
	begin(t, b.store(), "next").saves(t, "Two.")
	require.NotContains(t, b.text(t), "\x00")
	whole := []byte(b.text(t))
	clear(whole[durable/ledger.Sector*ledger.Sector-ledger.Sector : durable/ledger.Sector*ledger.Sector])
	require.NoError(t, os.WriteFile(b.path(), whole, 0o600))
	_, err := b.store().Read(memo.Project)
	require.True(t, failure.Is(err, failure.Damaged), "what follows was written when all before it was synced: %v", err)
}

// Whatever a file has: it is a history, or an error of it, and a history can be written on.
func FuzzRead(f *testing.F) {
	b := setup(f)
	s := begin(f, b.store(), "s")
	id := s.saves(f, "One.", "a")
	s.does(f, memo.ToolRetrieve, args{})
	s.does(f, memo.ToolEdit, edit(id, "Two."))
	whole := []byte(b.text(f))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("\n"))
	f.Add(bytes.Repeat([]byte{0}, 600))
	f.Add(whole[bytes.IndexByte(whole, '\n')+1:])
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.MkdirAll(filepath.Dir(b.path()), 0o700))
		require.NoError(t, os.WriteFile(b.path(), text, 0o600))
		h, err := b.store().Read(memo.Project)
		if err != nil {
			require.True(t, failure.Is(err, failure.Damaged) || failure.Is(err, failure.OtherVersion), "%v", err)
			return
		}
		before := len(h.Now())
		begin(t, b.store(), "fuzzed").saves(t, "Fuzzed.")
		require.Len(t, b.history(t).Now(), before+1)
	})
}

// Whatever is imported: it is refused as a whole, or can be read and exported again.
func FuzzImport(f *testing.F) {
	b := setup(f)
	s := begin(f, b.store(), "s")
	s.does(f, memo.ToolDelete, drop(s.saves(f, "One.", "a")))
	var export strings.Builder
	require.NoError(f, s.Export(memo.Project, &export))
	f.Add([]byte(export.String()))
	f.Add([]byte(export.String()[:export.Len()/2]))
	f.Add([]byte(`{"windlass_memos_export":1}` + "\n{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := readExport("x", bytes.NewReader(text)); err != nil { // mostly, and without a disk
			require.NotEmpty(t, err.Error())
			return
		}
		other := setup(t)
		out, err := other.store().Import(t.Context(), memo.Project, "ann", "x", bytes.NewReader(text))
		require.NoError(t, err)
		again, err := other.store().Import(t.Context(), memo.Project, "ann", "x", bytes.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, out.Versions+out.Known, again.Known)
	})
}
