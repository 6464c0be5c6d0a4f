package bank

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
)

func TestRefOf(t *testing.T) {
	t.Parallel()
	b := setup(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(b.folder, link))
	for _, folder := range []string{b.folder, b.folder + "/.", link} {
		ref, err := RefOf("notes", folder)
		require.NoError(t, err)
		require.Equal(t, Ref{"notes", b.folder}, ref, "a folder has one bank of a name, whatever way leads to it")
		require.Equal(t, "notes", ref.String())
		require.Equal(t, filepath.Join("/h", "banks", string(echo.TextHash([]byte(b.folder))), "notes.bank"), ref.path("/h"))
	}
	ref, err := RefOf("shared:notes", "/nowhere")
	require.NoError(t, err)
	require.Equal(t, Ref{Name: "notes"}, ref)
	require.Equal(t, "shared:notes", ref.String())
	require.Equal(t, filepath.Join("/h", "banks", "shared", "notes.bank"), ref.path("/h"))
}

func TestWrongRefs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "../x", "a/b", "A", "a.b", "shared:", "shared:shared:a", "-a", strings.Repeat("a", 65), "a\n"} {
		_, err := RefOf(name, t.TempDir())
		require.EqualError(t, err, memory.CheckName(name).Error())
		require.True(t, failure.Is(err, failure.InvalidRequest))
		var known *failure.Error
		require.ErrorAs(t, err, &known)
		require.Equal(t, "windlass memory list names the banks", known.Try)
		_, err = Open(t.TempDir(), t.TempDir(), nil).Read(name)
		require.Error(t, err)
	}
	_, err := RefOf("a", "/nowhere/at/all")
	require.EqualError(t, err, "find the project folder of the bank a: lstat /nowhere: no such file or directory")
}

// A bank and its lock are of the user alone, and so are their folders.
func TestPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.does(t, create(notePath, "a"))
	check := func() {
		t.Helper()
		require.NoError(t, filepath.WalkDir(filepath.Join(b.home, "banks"), func(path string, d fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := d.Info()
			require.NoError(t, err)
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			require.Equal(t, want, info.Mode().Perm(), path)
			return nil
		}))
	}
	check()
	_, err := s.Forget(t.Context(), noteBank, "ann", notePath)
	require.NoError(t, err)
	check()
}

// Nothing is written through a link, and no device is opened.
func TestWhatIsNoFile(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	for name, put := range map[string]func(path string) error{
		"link":          func(path string) error { return os.Symlink(other, path) },
		"dangling link": func(path string) error { return os.Symlink(other+"2", path) },
		"device":        func(path string) error { return os.Symlink(os.DevNull, path) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			path := b.path(t)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, put(path+ledger.LockSuffix))
			_, err := b.store().Start(t.Context(), noteBank, "s")
			require.EqualError(t, err, "lock bank "+path+": open "+path+".lock: it is not a file of its own")
			require.True(t, failure.Is(err, failure.StorageFailed))
			require.NoError(t, os.Remove(path+ledger.LockSuffix))
			require.NoError(t, put(path))
			want := "open bank " + path + ": open " + path + ": it is not a file of its own"
			_, err = b.store().Start(t.Context(), noteBank, "s")
			require.EqualError(t, err, want)
			_, err = b.store().Read(noteBank)
			require.EqualError(t, err, want)
			list, err := b.store().List(false)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.EqualError(t, list[0].Err, want)
		})
	}
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Empty(t, text)
	require.NoFileExists(t, other+"2")
}

// put writes a whole file of a bank with a head.
func (b *testBundle) put(t *testing.T, h head) {
	t.Helper()
	line, _, err := ledger.Sealed(h, chain.Sum{})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(b.path(t)), 0o700))
	require.NoError(t, os.WriteFile(b.path(t), line, 0o600))
}

func TestOtherVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put(t, head{Version: 4, Name: noteBank, Folder: b.folder})
	for _, do := range []func() error{
		func() error { _, err := b.store().Read(noteBank); return err },
		func() error { _, err := b.store().Start(t.Context(), noteBank, "s"); return err },
		func() error { _, err := b.store().Forget(t.Context(), noteBank, "ann", notePath); return err },
	} {
		err := do()
		require.EqualError(t, err, "bank "+b.path(t)+" has version 4, this windlass reads versions 1 to 3")
		var known *failure.Error
		require.ErrorAs(t, err, &known)
		require.Equal(t, failure.OtherVersion, known.Kind)
		require.Equal(t, "export the bank with the windlass that wrote it, and import it with this one", known.Try)
	}
}

func TestFileOfAnotherBank(t *testing.T) {
	t.Parallel()
	for _, h := range []head{{Name: "other"}, {Name: noteBank, Folder: "/other"}, {Name: noteBank}} {
		b := setup(t)
		h.Version = FormatVersion
		b.put(t, h)
		_, err := b.store().Read(noteBank)
		require.EqualError(t, err, "bank "+b.path(t)+" is damaged at line 1: it is that of another bank")
		var known *failure.Error
		require.ErrorAs(t, err, &known)
		require.Equal(t, failure.Damaged, known.Kind)
		require.Equal(t, "put a sound copy of the bank in its place, or move it away", known.Try)
	}
}

// A bank that another file takes the place of is read anew, and a file of another bank refused.
func TestCopiedIntoPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store := b.store()
	s := begin(t, store, "s")
	s.does(t, create(notePath, "a"))
	before := b.text(t)
	s.does(t, create("/memories/b.md", "b"))
	require.NoError(t, os.WriteFile(b.path(t), []byte(before), 0o600))
	h, err := store.Read(noteBank)
	require.NoError(t, err)
	require.Equal(t, []string{notePath}, h.Paths())
	require.NoError(t, os.Remove(b.path(t)))
	h, err = store.Read(noteBank)
	require.NoError(t, err)
	require.Empty(t, h.Entries)
	other := setup(t)
	begin(t, other.store(), "s")
	require.NoError(t, os.WriteFile(b.path(t), []byte(other.text(t)), 0o600))
	_, err = store.Read(noteBank)
	require.ErrorAs(t, err, new(*DamageError))
}

// story makes a bank with entries of all kinds, and returns its lines.
func (b *testBundle) story(t testing.TB) []string {
	t.Helper()
	s := begin(t, b.store(), "s1")
	s.does(t, create(notePath, "one\n"))
	s.does(t, view(notePath))
	s.does(t, replaces(notePath, "one", "two"))
	s.does(t, create("/memories/b.md", "b"))
	s.does(t, rename("/memories/b.md", "/memories/c.md"))
	_, err := s.Forget(t.Context(), noteBank, "ann", "/memories/c.md")
	require.NoError(t, err)
	begin(t, b.store(), "s2").does(t, insert(notePath, 0, "zero"))
	return strings.SplitAfter(strings.TrimSuffix(b.text(t), "\n"), "\n")
}

// Whatever byte of a bank is another one is found, and said with its line. The last newline is one: without it, a line is
// one that somebody writes.
func TestDamage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lines := b.story(t)
	whole, path := []byte(b.text(t)), b.path(t)
	for i := range whole[:len(whole)-1] {
		for _, c := range []byte{whole[i] ^ 1, 0, '\n'} {
			if whole[i] == c {
				continue
			}
			text := append([]byte{}, whole...)
			text[i] = c
			require.NoError(t, os.WriteFile(path, text, 0o600))
			_, err := b.store().Read(noteBank)
			var damage *DamageError
			require.ErrorAs(t, err, &damage, "byte %d is %q", i, c)
			require.Equal(t, path, damage.Path)
			require.Equal(t, 1+strings.Count(string(whole[:i]), "\n"), damage.Line, "byte %d is %q", i, c)
			require.True(t, failure.Is(err, failure.Damaged))
		}
	}
	for n := range len(lines) - 1 {
		text := strings.Join(lines[:n], "") + strings.Join(lines[n+1:], "") + "\n"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := b.store().Read(noteBank)
		require.EqualError(t, err, (&DamageError{Noun: noun, Path: path, Line: n + 1, Err: chain.ErrSum}).Error(), "without line %d", n+1)
	}
}

// Who changes a line and its checksum is found where the entry contradicts itself.
func TestChangedEntries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	by := Writer{Session: "s"}
	f, err := b.store().file(noteBank)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*Entry)
		want   string
	}{
		"number": {func(e *Entry) { e.Seq = 2 }, "the entry has number 2 in place of 1"},
		"text":   {func(e *Entry) { e.Versions[0].Text = "b" }, "the text of /memories/a.md is not that of its hash"},
		"path":   {func(e *Entry) { e.Versions[0].Path = "/memories/b.md" }, "the id of a version of /memories/b.md does not follow from it"},
		"writer": {func(e *Entry) { e.By.Session = "t" }, "the id of a version of /memories/a.md does not follow from it"},
		"gone":   {func(e *Entry) { e.Versions[0].Gone = true }, "the id of a version of /memories/a.md does not follow from it"},
	} {
		e := &Entry{By: by, Command: "create", Versions: []Version{{Path: notePath, Text: "a", Hash: echo.TextHash([]byte("a"))}}}
		require.NoError(t, f.seal(e, 1))
		require.NoError(t, e.check(1))
		c.change(e)
		line, _, err := ledger.Sealed(e, chain.Sum{})
		require.NoError(t, err)
		_, _, err = readEntry("/h/a.bank", 2, chain.Sum{}, line)
		require.EqualError(t, err, "bank /h/a.bank is damaged at line 2: "+c.want, name)
	}
}

func TestStorageErrors(t *testing.T) {
	t.Parallel()
	err := storage("write", "/h/a.bank", os.ErrPermission)
	require.EqualError(t, err, "write bank /h/a.bank: permission denied")
	require.True(t, failure.Is(err, failure.StorageFailed))
	require.ErrorIs(t, err, os.ErrPermission)
	known := failure.New(failure.Damaged, errors.New("x"), "")
	require.Equal(t, error(known), storage("write", "/h/a.bank", known), "a kind that is known stays")
}
