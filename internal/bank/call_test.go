package bank

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
)

func TestStart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, err := b.store().Start(t.Context(), noteBank, "s1")
	require.NoError(t, err)
	ref, err := RefOf(noteBank, b.folder)
	require.NoError(t, err)
	require.Equal(t, &echo.MemoryStart{At: 1, Project: ref.Project()}, first)
	begin(t, b.store(), "s2").does(t, create(notePath, "a"))
	for range 2 {
		again, err := b.store().Start(t.Context(), noteBank, "s1")
		require.NoError(t, err)
		require.Equal(t, first, again)
		third, err := b.store().Start(t.Context(), noteBank, "s3")
		require.NoError(t, err)
		require.Equal(t, &echo.MemoryStart{At: 4, Files: 1, Project: ref.Project()}, third)
	}
	require.Len(t, b.history(t).Entries, 4)
}

// Each command does what the memory tool does, and says what it read and wrote.
func TestCommands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	ref, err := RefOf(noteBank, b.folder)
	require.NoError(t, err)
	project := ref.Project()
	out := s.call(t, create(notePath, "one\n"))
	first := out.Wrote[0].Version
	require.Equal(t, &echo.MemoryCall{
		Bank: noteBank, Project: project, Command: "create", Path: notePath, Text: "File created successfully at: /memories/a.md",
		Wrote: []echo.MemoryVersion{{Path: notePath, Version: first}}, Seen: []echo.MemorySeen{{Path: notePath, At: 2}},
	}, out)
	out = s.call(t, view(notePath))
	require.Equal(t, &echo.MemoryCall{
		Bank: noteBank, Project: project, Command: "view", Path: notePath, Text: "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\t",
		Read: []echo.MemoryVersion{{Path: notePath, Version: first}},
	}, out)
	out = s.call(t, view("/memories"))
	require.Contains(t, out.Text, "4B\t/memories/a.md")
	require.Empty(t, out.Read)
	out = s.call(t, create(notePath, "x"))
	require.Equal(t, &echo.MemoryCall{Bank: noteBank, Project: project, Command: "create", Path: notePath, Text: "Error: File /memories/a.md already exists", Failed: true}, out)
	s.does(t, replaces(notePath, "one", "two"))
	s.does(t, insert(notePath, 1, "three"))
	out = s.does(t, rename(notePath, "/memories/d/b.md"))
	require.Equal(t, notePath, out.Path)
	require.Equal(t, []echo.MemoryVersion{
		{Path: notePath, Version: out.Wrote[0].Version, Gone: true}, {Path: "/memories/d/b.md", Version: out.Wrote[1].Version, From: notePath},
	}, out.Wrote)
	require.Equal(t, []echo.MemorySeen{{Path: notePath, At: 6}, {Path: "/memories/d/b.md", At: 6}}, out.Seen)
	require.Equal(t, memory.Files{"/memories/d/b.md": "two\nthree\n"}, b.files(t))
	s.does(t, remove("/memories/d"))
	require.Empty(t, b.files(t))
	h := b.history(t)
	require.Len(t, h.Entries, 7)
	for i, v := range h.Versions(notePath)[1:] {
		require.Equal(t, []string{h.Versions(notePath)[i].ID}, v.Parents, "each version replaces the one before it")
	}
}

// A run sees a bank as of its start, and what it has written itself.
func TestViews(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begin(t, b.store(), "s0").does(t, create(notePath, "old"))
	one, two := begin(t, b.store(), "s1"), begin(t, b.store(), "s2")
	one.does(t, replaces(notePath, "old", "new"))
	one.does(t, create("/memories/b.md", "b"))
	require.Contains(t, one.does(t, view(notePath)).Text, "new")
	require.Contains(t, two.does(t, view(notePath)).Text, "old")
	require.NotContains(t, two.does(t, view("/memories")).Text, "b.md")
	require.Equal(t, "The path /memories/b.md does not exist. Please provide a valid path.", two.call(t, view("/memories/b.md")).Text)
	two.does(t, create("/memories/c.md", "c"))
	require.Contains(t, two.does(t, view("/memories")).Text, "c.md")
	require.Contains(t, begin(t, b.store(), "s3").does(t, view(notePath)).Text, "new")
}

const numbers = " with line numbers:\n     1\t"

var has = create(notePath, "one")

// conflicts are calls after which another session has written.
var conflicts = map[string]struct {
	before, others []*memory.Command // of another session, before and after the start
	command        *memory.Command
	conflict       string // without the beginning and the end
	next           string // what the same command comes to then
}{
	"create": {
		nil,
		[]*memory.Command{has},
		create(notePath, "mine"),
		"/memories/a.md, so nothing was written.\n\nHere's the content of /memories/a.md" + numbers + "one", "Error: File /memories/a.md already exists",
	},
	"str_replace": {
		[]*memory.Command{has},
		[]*memory.Command{replaces(notePath, "one", "two")},
		replaces(notePath, "one", "mine"),
		"/memories/a.md, so nothing was written.\n\nHere's the content of /memories/a.md" + numbers + "two",
		"No replacement was performed, old_str `one` did not appear verbatim in /memories/a.md.",
	},
	"str_replace of what is deleted": {
		[]*memory.Command{has},
		[]*memory.Command{remove(notePath)},
		replaces(notePath, "one", "mine"),
		"/memories/a.md, so nothing was written.\n\n/memories/a.md does not exist any more.",
		"Error: The path /memories/a.md does not exist. Please provide a valid path.",
	},
	"insert": {
		[]*memory.Command{has},
		[]*memory.Command{replaces(notePath, "one", "two")},
		insert(notePath, 1, "mine"),
		"/memories/a.md, so nothing was written.\n\nHere's the content of /memories/a.md" + numbers + "two", "The file /memories/a.md has been edited.",
	},
	"delete": {
		[]*memory.Command{has},
		[]*memory.Command{replaces(notePath, "one", "two")},
		remove(notePath),
		"/memories/a.md, so nothing was written.\n\nHere's the content of /memories/a.md" + numbers + "two", "Successfully deleted /memories/a.md",
	},
	"delete of a folder": {
		[]*memory.Command{create("/memories/d/a", "a"), create("/memories/d/b", "b")},
		[]*memory.Command{replaces("/memories/d/b", "b", "c"), remove("/memories/d/a")},
		remove("/memories/d"),
		"/memories/d/a, /memories/d/b, so nothing was written.\n\n/memories/d/a does not exist any more.\n\nHere's the content of /memories/d/b" + numbers + "c",
		"Successfully deleted /memories/d",
	},
	"rename": {
		[]*memory.Command{has},
		[]*memory.Command{replaces(notePath, "one", "two")},
		rename(notePath, "/memories/b.md"),
		"/memories/a.md, so nothing was written.\n\nHere's the content of /memories/a.md" + numbers + "two",
		"Successfully renamed /memories/a.md to /memories/b.md",
	},
	"rename to what is there now": {
		[]*memory.Command{has},
		[]*memory.Command{create("/memories/b.md", "two")},
		rename(notePath, "/memories/b.md"),
		"/memories/b.md, so nothing was written.\n\nHere's the content of /memories/b.md" + numbers + "two",
		"Error: The destination /memories/b.md already exists",
	},
	"rename to what is a folder now": {
		[]*memory.Command{has},
		[]*memory.Command{create("/memories/b/c", "two")},
		rename(notePath, "/memories/b"),
		"/memories/b/c, so nothing was written: The destination /memories/b already exists.", "Error: The destination /memories/b already exists",
	},
	"upper and lower case": {
		nil,
		[]*memory.Command{has},
		create("/memories/A.md", "mine"),
		"/memories/a.md, so nothing was written: The path /memories/A.md is the same as the existing /memories/a.md but for upper and lower case or the encoding of characters, " +
			"and some disks cannot keep both. Use the existing name, or one that differs more.",
		"Error: The path /memories/A.md is the same as the existing /memories/a.md but for upper and lower case or the encoding of characters, " +
			"and some disks cannot keep both. Use the existing name, or one that differs more",
	},
	"a file where a folder is now": {
		nil,
		[]*memory.Command{create("/memories/d/a", "a")},
		create("/memories/d", "mine"),
		"/memories/d/a, so nothing was written: File /memories/d already exists.", "Error: File /memories/d already exists",
	},
	"a file in what is a file now": {
		nil,
		[]*memory.Command{create("/memories/d", "a")},
		create("/memories/d/a", "mine"),
		"/memories/d, so nothing was written: The path /memories/d/a cannot be in /memories/d, which is a file.",
		"Error: The path /memories/d/a cannot be in /memories/d, which is a file",
	},
}

// What another session has written since the start is not overwritten. The model is told what is there now, and the next
// call of the same command finds it.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for name, c := range conflicts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			other := begin(t, b.store(), "other")
			for _, x := range c.before {
				other.does(t, x)
			}
			s := begin(t, b.store(), "s")
			other = begin(t, b.store(), "other2")
			for _, x := range c.others {
				other.does(t, x)
			}
			files := b.files(t)
			out := s.call(t, c.command)
			require.Equal(t, "Error: Since this run began, another one, or a person, has changed "+c.conflict+"\n\nDecide again with what is there now.", out.Text)
			require.True(t, out.Failed)
			require.True(t, out.Conflict)
			require.Empty(t, out.Wrote)
			require.Equal(t, files, b.files(t))
			for _, v := range out.Read {
				readers := b.history(t).Readers(v.Path)
				require.Equal(t, "s", readers[len(readers)-1].By.Session, "the bank notes who was told of a version")
			}
			out = s.call(t, c.command)
			require.False(t, out.Conflict)
			require.Equal(t, c.next, out.Text)
		})
	}
}

// What another session has made in a folder is not deleted by one that does not see it.
func TestDeleteOfAFolderThatHasMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begin(t, b.store(), "s0").does(t, create("/memories/d/a", "a"))
	s := begin(t, b.store(), "s1")
	begin(t, b.store(), "s2").does(t, create("/memories/d/b", "b"))
	s.does(t, remove("/memories/d"))
	require.Equal(t, memory.Files{"/memories/d/b": "b"}, b.files(t))
}

// A conflict names many files only in part, and shows as much of them as an answer has room for.
func TestLongConflict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := begin(t, b.store(), "other")
	for i := range 30 {
		other.does(t, create(fmt.Sprintf("/memories/d/%02d", i), strings.Repeat("x", memory.MaxFile-2)))
	}
	s := begin(t, b.store(), "s")
	for i := range 30 {
		other.does(t, insert(fmt.Sprintf("/memories/d/%02d", i), 1, ""))
	}
	out := s.call(t, remove("/memories/d"))
	require.True(t, out.Conflict)
	require.Contains(t, out.Text, "/memories/d/18, /memories/d/19 and 10 more, so nothing was written.")
	require.NotContains(t, out.Text, "/memories/d/29")
	require.Less(t, len(out.Text), 2*memory.MaxAnswer)
	require.Len(t, out.Seen, 30)
	require.Less(t, len(out.Read), 30)
	s.does(t, remove("/memories/d"))
}

// Limits of a bank hold for the files of all sessions together.
func TestLimitsOverSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, other := begin(t, b.store(), "s"), begin(t, b.store(), "other")
	text := strings.Repeat("x", memory.MaxFile)
	for i := range memory.MaxBank / memory.MaxFile {
		other.does(t, create(fmt.Sprintf("/memories/%03d", i), text))
	}
	out := s.call(t, create(notePath, text))
	require.True(t, out.Conflict)
	require.Contains(t, out.Text, ", so nothing was written: The files in /memories would have 16793600 bytes together, the limit is 16777216. Delete or shorten files first.\n\nDecide again")
	s.does(t, remove("/memories/001"))
	s.does(t, create(notePath, text))
}

// A call that is made again writes nothing and comes to the same, also in another process, and after others have written.
func TestRepeatedCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	for i, c := range []*memory.Command{
		create(notePath, "one"), view(notePath), replaces(notePath, "one", "two"), insert(notePath, 0, "zero"), create("/memories/b/c", "c"),
		rename("/memories/b", "/memories/d"), view("/memories"), remove("/memories/d"), view(notePath), remove(notePath),
	} {
		r := s.request(c)
		out, err := s.Call(t.Context(), r)
		require.NoError(t, err)
		require.False(t, out.Failed, out.Text)
		others := b.history(t).Last()
		for n, store := range []*Store{s.Store, b.store(), b.store()} {
			if n == 2 {
				other := begin(t, b.store(), fmt.Sprint("other", i))
				other.does(t, create(fmt.Sprintf("/memories/other%d", i), "x"))
				if _, is := b.files(t)[notePath]; is {
					other.does(t, insert(notePath, 0, "other"))
					other.does(t, remove(notePath))
					other.does(t, create(notePath, "other"))
				}
				others = b.history(t).Last()
			}
			again, err := store.Call(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, out, again, "%d: %+v", n, c)
			require.Equal(t, others, b.history(t).Last(), "nothing is written")
		}
		_, err = b.store().Overwrite(t.Context(), noteBank, "ann", notePath, "one", b.history(t).Now())
		require.NoError(t, err)
		s.seen = b.history(t).Now() // as if the run had been told of all that
	}
}

// A call that is made again may see what another call of the turn has come to meanwhile. It is told what it has done.
func TestRepeatedCallSeesMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.does(t, create(notePath, "one"))
	r := s.request(replaces(notePath, "one", "two"))
	out, err := s.Call(t.Context(), r)
	require.NoError(t, err)
	require.False(t, out.Failed)
	r.Seen = b.history(t).Now()
	again, err := b.store().Call(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, out, again)
}

// A conflict that is met again is noted once.
func TestRepeatedConflict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	begin(t, b.store(), "other").does(t, create(notePath, "one"))
	r := s.request(create(notePath, "two"))
	out, err := s.Call(t.Context(), r)
	require.NoError(t, err)
	require.True(t, out.Conflict)
	last := b.history(t).Last()
	_, err = b.store().Call(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, last, b.history(t).Last())
}

// The same call of another session, another key or other arguments is another call.
func TestCallsThatDiffer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.does(t, create(notePath, ""))
	r := s.request(insert(notePath, 0, "x"))
	for n, change := range []func(){
		func() {}, func() { r.Session = "t" }, func() { r.Key = echo.MustKey("p/attempt9/turn1/tool1") }, func() { r.Hash = "0123456789abcdef" },
	} {
		change()
		r.Seen = b.history(t).Now()
		out, err := s.Call(t.Context(), r)
		require.NoError(t, err)
		require.False(t, out.Failed)
		require.Equal(t, strings.Repeat("x\n", n+1), b.files(t)[notePath])
	}
}

func TestUnusableBanks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.store().Call(t.Context(), &memory.Request{Bank: "No", Command: view("/memories")})
	require.EqualError(t, err, memory.CheckName("No").Error())
	_, err = b.store().Start(t.Context(), "No", "s")
	require.EqualError(t, err, memory.CheckName("No").Error())
}
