package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A journal in the folder of another session is refused by everything that reads or continues one,
// and nothing is written.
func TestJournalInAnotherFolder(t *testing.T) {
	t.Parallel()
	text := strings.Join(written(t, "one", "two"), "")
	for name, refuse := range readers {
		if name == "Create" {
			continue // it says that the session exists
		}
		dir := filepath.Join(t.TempDir(), "s2")
		require.NoError(t, os.Mkdir(dir, 0o700))
		path := filepath.Join(dir, File)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		err := refuse(dir)
		require.EqualError(t, err, "journal "+path+` is damaged at line 1: its folder is named "s2", and its header says session "s1": `+
			`a session cannot be copied or renamed by its folder; rename the folder to "s1", or remove it and fork that session`, name)
		var other *FolderError
		require.ErrorAs(t, err, &other)
		require.True(t, IsUnreadable(err))
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(left))

		rec, err := ReadCopy(path)
		require.NoError(t, err)
		require.Len(t, rec.Entries, 2)
	}
}

// The folder's name is known also when the path does not say it.
func TestFolderOfARelativePath(t *testing.T) {
	dir := sessionFolder(t)
	t.Chdir(dir)
	require.NoError(t, os.WriteFile(File, []byte(written(t, "one")[0]), 0o600))
	_, err := Read(File)
	require.NoError(t, err)
	require.NoError(t, os.Rename(dir, dir+"-copy"))
	t.Chdir(dir + "-copy")
	_, err = Read(File)
	require.ErrorContains(t, err, `its folder is named "s1-copy", and its header says session "s1"`)
}

// Entries of another session than that of the header are refused by everything that reads journals.
func TestEntriesOfAnotherSession(t *testing.T) {
	t.Parallel()
	const head = `{"windlass_journal":3,"rules":1,"session_id":"s1"}`
	for _, id := range []string{"other", "../../y", "S1", "", strings.Repeat("x", 99)} {
		text := summed(head, keyed(1), fmt.Sprintf(`{"session_id":%q,"seq":2,"key":"p/task","phase":"p"}`, id), keyed(3))
		want := fmt.Sprintf(`: entry 2 is of session %.80q, and the header says "s1"; windlass does not write such entries: restore the journal from a copy`, id)
		_, err := readText(text)
		require.EqualError(t, err, "journal j is damaged at line 3"+want)
		_, err = followed(text, 2, len(text))
		require.EqualError(t, err, "journal j is damaged at line 3"+want)
		_, _, err = lookAt(text, 99)
		require.EqualError(t, err, "journal j is damaged at line 2 from its end"+want)
	}
}

// Nothing is written that could not be read again.
func TestWriteRefusesAnotherSession(t *testing.T) {
	t.Parallel()
	j, _ := create(t)
	e := entryOf("one")
	e.SessionID, e.Seq = "s2", 1
	require.EqualError(t, j.Write(e), "write journal "+j.Path()+`: entry 1 is of session "s2", and the header says "s1"`)

	dir := filepath.Join(t.TempDir(), "s2")
	_, err := Create(dir, testHeader)
	require.ErrorContains(t, err, `create journal: its folder is named "s2", and its header says session "s1"`)
	require.NoDirExists(t, dir)
	h := testHeader
	h.SessionID = ".."
	_, err = Create(dir, h)
	require.EqualError(t, err, `create journal: the header says session "..", which cannot be the id of a session`)
}

// The ids of sessions are those of a pattern, for every byte at every place.
func TestIsSessionID(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	texts := []string{"", "é", "a é", strings.Repeat("a", 64), strings.Repeat("a", 65), "01JZ4K", "a\n", "a.b-c_d"}
	for b := range 256 {
		texts = append(texts, string([]byte{byte(b)}), string([]byte{'a', byte(b)}), string([]byte{'a', byte(b), 'c'}))
	}
	for _, text := range texts {
		require.Equal(t, pattern.MatchString(text), IsSessionID(text), "%q", text)
	}
}
