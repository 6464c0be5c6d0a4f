package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal/chain"
)

// readText reads a text as a journal.
func readText(text string) (*Recording, error) {
	return read("j", "", strings.NewReader(text), chain.BoundsOfAll)
}

// A torn last line is what a crash leaves behind. A cut at any byte of it loses that line and
// nothing else.
func TestTornLastLineIsDropped(t *testing.T) {
	t.Parallel()
	lines := written(t, "first", "second")
	whole, last := strings.Join(lines[:2], ""), lines[2]
	for cut := range last {
		path := filepath.Join(t.TempDir(), "j")
		require.NoError(t, os.WriteFile(path, []byte(whole+last[:cut]), 0o600))
		rec, err := Read(path)
		require.NoError(t, err)
		require.Len(t, rec.Entries, 1)
		require.Equal(t, cut > 0, rec.Torn)
	}
}

func TestDamageIsNamedByLine(t *testing.T) {
	t.Parallel()
	lines := written(t, "one", "two", "three")
	head := `{"windlass_journal":3,"rules":1,"session_id":"s1"}`
	for name, tc := range map[string]struct {
		text string
		line int
		want string
	}{
		"a line is gone":      {lines[0] + lines[1] + lines[3], 3, "does not match its checksum"},
		"a line is garbage":   {lines[0] + "}{\n" + lines[2], 2, "does not match its checksum"},
		"content was changed": {lines[0] + strings.Replace(lines[1], `"text":"one"`, `"text":"eno"`, 1), 2, "does not match its checksum"},
		"nothing":             {"", 1, "no header: its process died before the session had begun"},
		"half a header":       {lines[0][:20], 1, "no header: its process died before the session had begun"},
		"another program":     {"{}\n", 1, "the line is no header of a journal"},
		"no number":           {`{"windlass_journal":"3"}` + "\n", 1, "the line is no header of a journal"},
		"version 0":           {`{"windlass_journal":0}` + "\n", 1, "the line is no header of a journal"},
		"version -3":          {`{"windlass_journal":-3}` + "\n", 1, "the line is no header of a journal"},
		"many zeros":          {`{"windlass_journal":` + strings.Repeat("0", 99) + `7}` + "\n", 1, "the line is no header of a journal"},
		"the header again":    {lines[0] + lines[0], 2, "does not match its checksum"},
		"a header without":    {head + "\n", 1, "does not match its checksum"},
		"no sum":              {lines[0] + `{"seq":1}` + "\n", 2, "does not match its checksum"},

		// The checksums of these are right.
		"no rules":        {summed(`{"windlass_journal":3}`), 1, `the header has no "rules" from 1 on`},
		"rules below 1":   {summed(`{"windlass_journal":3,"rules":-1}`), 1, `the header has no "rules" from 1 on`},
		"no session":      {summed(`{"windlass_journal":3,"rules":1}`), 1, `the header says session "", which cannot be the id of a session`},
		"a path":          {summed(`{"windlass_journal":3,"rules":1,"session_id":"../../x"}`), 1, `the header says session "../../x", which cannot be the id of a session`},
		"a long session":  {summed(`{"windlass_journal":3,"rules":1,"session_id":"` + strings.Repeat("x", 99) + `"}`), 1, `the header says session "` + strings.Repeat("x", 80) + `", which`},
		"no JSON":         {summed(`{"windlass_journal":3,"rules":1,"session_id":"s1",}`), 1, "invalid character"},
		"a hole":          {summed(head, keyed(1), keyed(3)), 3, "entry 3 stands where entry 2 should"},
		"garbage":         {summed(head, `}{}`), 2, "invalid character"},
		"two objects":     {summed(head, keyed(1)+" "+keyed(2)), 2, "invalid character"},
		"another content": {summed(head, body(strings.Replace(lines[1], `"text":"one"`, `"text":"eno"`, 1))), 2, "entry 1: the content does not match its hash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readText(tc.text)
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
			require.True(t, IsUnreadable(err))
			require.Equal(t, tc.line, damage.Line)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, fmt.Sprintf("journal j is damaged at line %d: ", tc.line))
		})
	}
	_, err := Read(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.False(t, IsUnreadable(err))
}

// body returns a line without its checksum.
func body(line string) string { return line[:len(line)-chain.Size] + "}" }

// Whatever byte of a whole line is changed, the journal is refused, and the line is named.
func TestEveryChangedByteIsFound(t *testing.T) {
	t.Parallel()
	whole := strings.Join(written(t, "one", "two"), "")
	line := 1
	for i, c := range []byte(whole) {
		if c == '\n' {
			line++
			continue // two lines become one, or the last is torn
		}
		changed := []byte(whole)
		if changed[i] ^= 1; changed[i] == '\n' {
			continue
		}
		_, err := readText(string(changed))
		var damage *DamageError
		var version *VersionError
		if i == len(headerStart) {
			require.ErrorAs(t, err, &version)
			continue
		}
		require.ErrorAs(t, err, &damage, "byte %d", i)
		require.Equal(t, line, damage.Line, "byte %d", i)
	}
}

// Lines longer than what is read at once are read whole.
func TestLongLines(t *testing.T) {
	t.Parallel()
	block := chain.BoundsOfAll.Block
	for _, n := range []int{block - 200, block, 3*block + 1} {
		text := strings.Join(written(t, "a", strings.Repeat("x", n), "b", strings.Repeat("y", n)), "")
		rec, err := readText(text)
		require.NoError(t, err)
		require.Len(t, rec.Entries, 4)
		require.Len(t, rec.Entries[3].Message.Text(), n)
		rec, err = readText(text[:len(text)-1])
		require.NoError(t, err)
		require.Len(t, rec.Entries, 3)
		require.True(t, rec.Torn)
	}
}

// A line may be so long and no longer, whether it is the last one, torn, or the header. Nobody
// reads more of it to find out.
func TestLinesHaveABound(t *testing.T) {
	t.Parallel()
	lines := written(t, "one", strings.Repeat("x", 2000), "three")
	whole, longest := strings.Join(lines, ""), len(lines[2])
	torn := lines[0] + lines[1] + lines[2][:longest-1]
	for _, block := range []int{1, 100, 5000} {
		for text, longest := range map[string]int{whole: longest, torn: longest - 1} {
			_, err := read("j", "", strings.NewReader(text), chain.Bounds{Block: block, Max: longest})
			require.NoError(t, err)
			_, _, err = lookBy(chain.Bounds{Block: block, Max: longest}, text, 9)
			require.NoError(t, err)
			f := &countingFile{ReaderAt: strings.NewReader(text)}
			_, err = read("j", "", f, chain.Bounds{Block: block, Max: longest - 1})
			require.EqualError(t, err, "journal j is damaged at line 3: "+chain.ErrLongLine.Error())
			require.Less(t, f.read, 3*len(whole))
			fromEnd := 2
			if text == torn {
				fromEnd = 1
			}
			_, _, err = lookBy(chain.Bounds{Block: block, Max: longest - 1}, text, 9)
			require.EqualError(t, err, fmt.Sprintf("journal j is damaged at line %d from its end: %v", fromEnd, chain.ErrLongLine))
		}
		_, err := read("j", "", strings.NewReader(whole), chain.Bounds{Block: block, Max: len(lines[0]) - 1})
		require.EqualError(t, err, "journal j is damaged at line 1: "+chain.ErrLongLine.Error())
		_, _, err = lookBy(chain.Bounds{Block: block, Max: len(lines[0]) - 1}, whole, 9)
		require.EqualError(t, err, "journal j is damaged at line 1: "+chain.ErrLongLine.Error())
	}
}
