package bank

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

func TestList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store := b.store()
	list, err := store.List(true)
	require.NoError(t, err)
	require.Empty(t, list)
	s := begin(t, store, "s1")
	s.does(t, create(notePath, "four"))
	s.does(t, create("/memories/b.md", "b"))
	s.does(t, remove("/memories/b.md"))
	begin(t, store, "s2")
	_, err = store.Start(t.Context(), "shared:all", "s1")
	require.NoError(t, err)
	other := &testBundle{home: b.home, folder: t.TempDir()}
	begin(t, other.store(), "s3").does(t, create(notePath, "x"))
	shared := Info{Ref: Ref{Name: "all"}, Sessions: 1}
	own := Info{Ref: Ref{noteBank, b.folder}, Files: 1, Bytes: 4, Versions: 3, Sessions: 2, Last: time.Date(2026, 3, 4, 5, 6, 11, 0, time.UTC)}
	list, err = store.List(false)
	require.NoError(t, err)
	require.Equal(t, []Info{shared, own}, list)
	list, err = store.List(true)
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.Equal(t, shared, list[0])
	require.Contains(t, list, own)
}

// A bank that cannot be read is listed with the reason, and the others are too. What is no bank is not listed.
func TestListOfDamagedBanks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begin(t, b.store(), "s")
	dir, root := filepath.Dir(b.path(t)), config.BanksDir(b.home)
	write := func(path, text string) string {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write(filepath.Join(root, "stray"), "x")
	empty := write(filepath.Join(dir, "empty.bank"), "")
	write(filepath.Join(dir, "No name.bank"), "x\n")
	torn := write(filepath.Join(dir, "torn.bank"), `{"windlass_bank":1`)
	damaged := write(filepath.Join(dir, "short.bank"), "\n")
	foreign := write(filepath.Join(root, "0123456789abcdef", "notes.bank"), b.text(t))
	list, err := b.store().List(false)
	require.NoError(t, err)
	require.Len(t, list, 4)
	require.Equal(t, Ref{"empty", b.folder}, list[0].Ref)
	const cut = " has no whole entry: it was cut off, or whoever began it died before the first one was written"
	require.EqualError(t, list[0].Err, "bank "+empty+cut)
	require.True(t, failure.Is(list[0].Err, failure.Damaged))
	require.NoError(t, list[1].Err)
	require.EqualError(t, list[3].Err, "bank "+torn+cut)
	require.EqualError(t, b.store().Whole("torn"), "bank "+torn+cut)
	require.NoError(t, b.store().Whole(noteBank))
	require.NoError(t, b.store().Whole("none"))
	list = slices.Delete(list, 0, 1)
	require.Equal(t, Ref{"short", b.folder}, list[1].Ref)
	const sum = ": the line does not match its checksum: it was changed, or a line before it was added, removed or moved"
	require.EqualError(t, list[1].Err, "bank "+damaged+" is damaged at line 1"+sum)
	list, err = b.store().List(true)
	require.NoError(t, err)
	errs := map[Ref]string{}
	for _, info := range list {
		errs[info.Ref] = fmt.Sprint(info.Err)
	}
	require.Equal(t, map[Ref]string{
		{noteBank, b.folder}: "<nil>", {"short", dir}: "bank " + damaged + " is damaged at line 1" + sum,
		{noteBank, filepath.Dir(foreign)}: "bank " + foreign + " is damaged at line 1: it is that of another bank",
		{"empty", dir}:                    "bank " + empty + cut, {"torn", dir}: "bank " + torn + cut,
	}, errs)
}

// What was cut of a bank is told: nothing looks like a bank that is not there. Half a line behind others is what a process that
// died has left, and no damage.
func TestCheck(t *testing.T) {
	t.Parallel()
	b := setup(t)
	none, err := Check(b.home)
	require.NoError(t, err)
	require.Empty(t, none)
	begin(t, b.store(), "s").does(t, create(notePath, "four"))
	whole := b.text(t)
	lines := strings.SplitAfter(whole, "\n")
	require.Len(t, lines, 4)
	for size, want := range map[int]struct {
		entries int
		left    int64
		cut     bool
	}{
		len(whole): {2, 0, false}, len(whole) - 3: {1, int64(len(lines[2]) - 3), false},
		len(lines[0]) + 9: {0, 9, true}, len(lines[0]): {0, 0, true}, 5: {cut: true}, 0: {cut: true},
	} {
		require.NoError(t, os.WriteFile(b.path(t), []byte(whole[:size]), 0o600))
		found, err := Check(b.home)
		require.NoError(t, err)
		require.Len(t, found, 1)
		h := found[0]
		require.Equal(t, b.path(t), h.Path)
		require.Equal(t, want.entries, h.Entries, size)
		require.Equal(t, want.cut, h.Err != nil, size)
		if !want.cut {
			require.Equal(t, want.left, h.Left)
			continue
		}
		require.ErrorContains(t, h.Err, " has no whole entry: ")
		list, err := b.store().List(false)
		require.NoError(t, err)
		require.ErrorContains(t, list[0].Err, " has no whole entry: ")
		require.ErrorContains(t, b.store().Whole(noteBank), " has no whole entry: ")
		begin(t, b.store(), "s") // whoever writes begins it anew
		require.NoError(t, b.store().Whole(noteBank))
	}
}

func TestListErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := Open(b.home, "/nowhere/at/all", nil).List(false)
	require.EqualError(t, err, "list the banks in "+config.BanksDir(b.home)+": lstat /nowhere: no such file or directory")
	require.True(t, failure.Is(err, failure.StorageFailed))
	root := config.BanksDir(b.home)
	require.NoError(t, os.WriteFile(root, nil, 0o600))
	for _, every := range []bool{true, false} {
		_, err = b.store().List(every)
		require.ErrorContains(t, err, "list the banks in "+root)
		require.ErrorContains(t, err, "not a directory")
	}
}

// A file is unread once so many runs have seen the bank and not the file.
func TestUnread(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "writer")
	s.does(t, create(notePath, "a"))
	s.does(t, create("/memories/b.md", "b"))
	for i := range 4 {
		begin(t, b.store(), fmt.Sprint("s", i))
		begin(t, b.store(), fmt.Sprint("s", i)) // one run, however often it starts
	}
	s = begin(t, b.store(), "reader")
	s.does(t, view(notePath))
	h := b.history(t)
	require.Equal(t, []string{"/memories/b.md"}, h.Unread(5))
	require.Equal(t, []string{"/memories/b.md"}, h.Unread(1))
	require.Empty(t, h.Unread(6))
	require.Len(t, h.Readers(notePath), 1)
	require.Equal(t, "reader", h.Readers(notePath)[0].By.Session)
	require.Empty(t, h.Readers("/memories/b.md"))
	for i := range 2 {
		begin(t, b.store(), fmt.Sprint("later", i))
	}
	require.Equal(t, []string{notePath, "/memories/b.md"}, b.history(t).Unread(2))
	begin(t, b.store(), "w").does(t, insert("/memories/b.md", 0, "x"))
	require.Equal(t, []string{notePath}, b.history(t).Unread(3), "what is written anew is to be read anew")
	require.Empty(t, (&History{}).Unread(1))
}
