package memories_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/memories"
)

type testBundle struct {
	*memories.Desk
	home, folder string
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	b := &testBundle{home: filepath.Join(t.TempDir(), "home"), folder: t.TempDir()}
	b.Desk = memories.Open(b.home, b.folder, "ann")
	return b
}

func (b *testBundle) write(t *testing.T, bank, path, text string) {
	t.Helper()
	draft, err := b.Draft(bank, path)
	require.NoError(t, err)
	_, err = b.Put(t.Context(), draft, text)
	require.NoError(t, err)
}

// TestMeanwhile: who edits a file that somebody else has written since is refused, and nothing of the other is lost.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, "notes", "a.md", "one")
	draft, err := b.Draft("notes", "a.md")
	require.NoError(t, err)
	require.Equal(t, "one", draft.Text)
	b.write(t, "notes", "other.md", "it changes nothing for a.md")
	b.write(t, "notes", "a.md", "two")
	_, err = b.Put(t.Context(), draft, "three")
	require.EqualError(t, err, "edit the bank notes: somebody else has changed /memories/a.md meanwhile")
	require.True(t, failure.Is(err, failure.InvalidRequest))
	f, _, err := b.Show("notes", "a.md", "")
	require.NoError(t, err)
	require.Equal(t, "two", *f.Text)
	require.Equal(t, 2, f.Versions)

	fresh, err := b.Draft("notes", "new.md")
	require.NoError(t, err)
	require.True(t, fresh.New)
	b.write(t, "notes", "new.md", "of another")
	_, err = b.Put(t.Context(), fresh, "mine")
	require.EqualError(t, err, "edit the bank notes: somebody else has changed /memories/new.md meanwhile")
}

// TestBusy: a bank that another process keeps for long is an error that says so.
func TestBusy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, "shared:x", "a", "text")
	lock := flock.New(filepath.Join(b.home, "banks", "shared", "x.bank.lock"))
	require.NoError(t, lock.Lock())
	defer lock.Close() //nolint:errcheck // of a test
	b.Patience = time.Millisecond
	_, err := b.Delete(t.Context(), "shared:x", "a")
	require.EqualError(t, err, "change the bank shared:x: another process keeps it")
	require.True(t, failure.Is(err, failure.StorageFailed))
	_, _, err = b.Show("shared:x", "a", "")
	require.NoError(t, err, "who reads waits for nobody")
}

// TestUnknown: the name of a bank that is at the other place, or nearly right, is offered.
func TestUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, "notes", "a", "text")
	b.write(t, "shared:style", "a", "text")
	for name, want := range map[string]string{
		"style":        `there is no bank "style" in this project folder; did you mean shared:style?`,
		"shared:notes": `there is no bank "notes" that projects share; did you mean notes?`,
		"note":         `there is no bank "note" in this project folder; did you mean notes?`,
		"zzz":          `there is no bank "zzz" in this project folder`,
	} {
		_, err := b.Tree(name, "/memories")
		require.EqualError(t, err, want)
	}
	_, err := memories.Open(b.home, filepath.Join(b.folder, "nowhere"), "ann").History("notes", "")
	require.ErrorContains(t, err, "find the project folder of the bank notes: ")
}

// TestOlder: a version is named by the beginning of its id, if that means one version with a text.
func TestOlder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, "notes", "a", "one")
	b.write(t, "notes", "a", "two")
	_, err := b.Delete(t.Context(), "notes", "a")
	require.NoError(t, err)
	list, err := b.History("notes", "a")
	require.NoError(t, err)
	require.Len(t, list, 3)
	f, _, err := b.Show("notes", "a", list[0].ID[:8])
	require.NoError(t, err)
	require.Equal(t, "one", *f.Text)
	require.False(t, f.Current)
	for version, want := range map[string]string{
		list[2].ID: "version " + list[2].ID + " has no text: it says that /memories/a was deleted or renamed",
		"x":        "/memories/a of the bank notes has no version x",
	} {
		_, _, err := b.Show("notes", "a", version)
		require.EqualError(t, err, want)
	}
	todo, err := b.ToForget("notes", "a")
	require.NoError(t, err)
	require.Equal(t, 2, todo.Versions)
	_, err = b.Forget(t.Context(), todo)
	require.NoError(t, err)
	_, _, err = b.Show("notes", "a", list[0].ID)
	require.EqualError(t, err, "the text of version "+list[0].ID+" of /memories/a was forgotten")
	_, err = b.ToForget("notes", "a")
	require.EqualError(t, err, "the bank notes has no text of /memories/a: it was forgotten")
}

// TestElsewhere: an export in another home has the same versions, and what both wrote since is named.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	here, there := setup(t), setup(t)
	here.write(t, "notes", "a", "one")
	move := func(from, to *testBundle) *memories.Imported {
		var text bytes.Buffer
		_, err := from.Export("notes", &text)
		require.NoError(t, err)
		done, err := to.Import(t.Context(), "notes", "it.jsonl", &text)
		require.NoError(t, err)
		return done
	}
	require.Equal(t, &memories.Imported{Bank: "notes", New: 1, Divergent: []string{}}, move(here, there))
	here.write(t, "notes", "a", "two")
	there.write(t, "notes", "a", "three")
	require.Equal(t, &memories.Imported{Bank: "notes", New: 1, Known: 1, Divergent: []string{"/memories/a"}}, move(there, here))
	tree, err := here.Tree("notes", "/memories")
	require.NoError(t, err)
	require.Len(t, tree[0].Others, 1)
	here.write(t, "notes", "a", "four")
	tree, err = here.Tree("notes", "/memories")
	require.NoError(t, err)
	require.Empty(t, tree[0].Others)
	require.Equal(t, &memories.Imported{Bank: "notes", New: 2, Known: 2, Divergent: []string{}}, move(here, there))
	_, err = there.Import(t.Context(), "notes", "it.jsonl", bytes.NewReader(nil))
	require.EqualError(t, err, "read it.jsonl: it is empty")
	lines, _, err := audit.Read(there.home, 10)
	require.NoError(t, err)
	require.Equal(t, audit.Line{At: lines[3].At, By: "ann", Via: "command", What: "memory_import", Target: "notes", Outcome: "refused", Reason: "invalid_request"}, lines[3])
}

// TestDamagedHead: a bank whose first line is not one hides no other, and what is known of it is said.
func TestDamagedHead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, "notes", "a", "text")
	b.write(t, "shared:style", "a", "text")
	found, err := filepath.Glob(filepath.Join(b.home, "banks", "*", "notes.bank"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	for _, head := range []string{"x\n", "{}\n"} {
		require.NoError(t, os.WriteFile(found[0], []byte(head), 0o600))
		list, err := b.List(false)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, "notes", list[1].Bank)
		require.NotEmpty(t, list[1].Folder)
		require.Contains(t, list[1].Error, "notes.bank is damaged at line 1: ")
		other := memories.Open(b.home, t.TempDir(), "ann")
		list, err = other.List(false)
		require.NoError(t, err)
		require.Len(t, list, 1)
		list, err = other.List(true)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, filepath.Dir(found[0]), list[1].Folder, "where it is, as its project is not known")
	}
}

// TestKeep: a text that was not taken is in a file of its owner.
func TestKeep(t *testing.T) {
	t.Parallel()
	path, err := memories.Keep("mine")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(path) })
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
}
