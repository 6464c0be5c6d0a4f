package journal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// lookAt looks at a text as a journal, and returns its entries from the first to the newest, of
// which there are at most n.
func lookAt(text string, n int) (*Ends, []*echo.Entry, error) {
	return lookBy(chain.BoundsOfEnds, text, n)
}

func lookBy(b chain.Bounds, text string, n int) (*Ends, []*echo.Entry, error) {
	var found []*echo.Entry
	ends, err := look("j", strings.NewReader(text), int64(len(text)), b, func(e *echo.Entry) bool {
		found = append(found, e)
		return len(found) < n
	})
	slices.Reverse(found)
	return ends, found, err
}

// Looking from the end finds what reading does, at every cut of a journal, whether its lines are
// shorter or longer than what is read at once.
func TestLookFindsWhatReadDoes(t *testing.T) {
	t.Parallel()
	whole := strings.Join(written(t, "one", strings.Repeat("x", 500), "three", strings.Repeat("y", 1500), "five"), "")
	header := strings.IndexByte(whole, '\n') + 1
	for cut := len(whole); cut >= header; cut -= 11 {
		rec, err := readText(whole[:cut])
		require.NoError(t, err)
		for n, block := range []int{1 << 14, 7, 300, 1000, 64} {
			ends, found, err := lookBy(chain.Bounds{Block: block, Max: chain.MaxLine}, whole[:cut], n+1)
			require.NoError(t, err)
			require.Equal(t, &Ends{rec.Header, rec.Torn}, ends)
			requireEntries(t, rec.Entries[max(len(rec.Entries)-n-1, 0):], found)
		}
	}
}

// countingFile counts the bytes that are read of it.
type countingFile struct {
	io.ReaderAt
	read int
}

func (f *countingFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(b, at)
	f.read += n
	return n, err
}

// A look at the newest entry reads neither the entries before it nor the line before it, but the
// end of that.
func TestLookReadsTheEnd(t *testing.T) {
	t.Parallel()
	whole := strings.Join(written(t, strings.Repeat("x", 1<<20), "last"), "")
	f := &countingFile{ReaderAt: strings.NewReader(whole)}
	_, err := look("j", f, int64(len(whole)), chain.BoundsOfEnds, func(*echo.Entry) bool { return false })
	require.NoError(t, err)
	require.LessOrEqual(t, f.read, 2*chain.BoundsOfEnds.Block)
}

// Every line that is looked at is checked, against the line before it; damage is named by the
// line's place from the end.
func TestLookFindsDamage(t *testing.T) {
	t.Parallel()
	lines := written(t, "one", "two", "three", "four")
	change := func(n int, old, with string) string {
		changed := slices.Clone(lines)
		changed[n] = strings.Replace(changed[n], old, with, 1)
		require.NotEqual(t, lines, changed)
		return strings.Join(changed, "")
	}
	head, sum := `{"windlass_journal":3,"rules":1,"session_id":"s1"}`, chain.ErrSum.Error()
	for name, tc := range map[string]struct {
		text string
		line string
		want string
	}{
		"the last line":           {change(4, "four", "forr"), "line 1 from its end", sum},
		"the sum of the last":     {change(4, `"sum":"`, `"sum":"0`), "line 1 from its end", sum},
		"the sum of one before":   {change(3, `"}`+"\n", `0"}`+"\n"), "line 1 from its end", sum},
		"one before":              {change(3, "three", "trees"), "line 2 from its end", sum},
		"a line is gone":          {lines[0] + lines[1] + lines[2] + lines[4], "line 1 from its end", sum},
		"the first is gone":       {lines[0] + lines[2] + lines[3], "line 2 from its end", sum},
		"all but the last gone":   {lines[0] + lines[4], "line 1 from its end", sum},
		"the header of another":   {summed(head) + strings.Join(lines[1:], ""), "line 4 from its end", sum},
		"the header":              {change(0, `"rules":1`, `"rules":2`), "line 1", sum},
		"no header":               {strings.Join(lines[1:], ""), "line 1", errNotHeader.Error()},
		"nothing":                 {"", "line 1", ErrNotBegun.Error()},
		"an empty line":           {strings.Join(lines, "") + "\n", "line 1 from its end", sum},
		"garbage":                 {summed(head, `}{}`), "line 1 from its end", "invalid character '}' looking for beginning of value"},
		"a hole":                  {summed(head, keyed(1), keyed(2), keyed(4)), "line 2 from its end", "entry 2 stands where entry 3 should"},
		"the first is the second": {summed(head, keyed(2), keyed(3)), "line 2 from its end", "entry 2 stands where entry 1 should"},
		"the first has no number": {summed(head, keyed(2)), "line 1 from its end", "entry 2 stands where entry 1 should"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := lookAt(tc.text, 99)
			require.EqualError(t, err, fmt.Sprintf("journal j is damaged at %s: %s", tc.line, tc.want))
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
		})
	}
	_, found, err := lookAt(change(1, "one", "eno"), 2)
	require.NoError(t, err, "what is not looked at is not checked")
	require.Len(t, found, 2)
	_, err = Look(filepath.Join(t.TempDir(), "none"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A file that is cut off while it is looked at is an error, and not one with an end that it never
// had.
func TestLookAtAShrinkingFile(t *testing.T) {
	t.Parallel()
	whole := strings.Join(written(t, "one", "two"), "")
	_, err := look("j", strings.NewReader(whole), int64(len(whole))+1, chain.BoundsOfEnds, func(*echo.Entry) bool { return false })
	require.EqualError(t, err, "read the end of journal j: unexpected EOF")
}
