package journal

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// addSeeds adds texts of journals without checksums, sound ones and others.
func addSeeds(f *testing.F) {
	f.Helper()
	const head = `{"windlass_journal":3,"rules":1,"session_id":"s1"}` + "\n"
	for _, text := range []string{
		"", "{}\n", "\n\n", `{"windlass_journal":3,"rules":1,"session_id":"../s1"}` + "\n", `{"windlass_journal":2}` + "\n", head, head[:9],
		head + `{"session_id":"s1","seq":1,"node_type":"message","key":"p/task","phase":"p"}` + "\n",
		head + `{"session_id":"s1","seq":1,"node_type":"message","key":"p/task"}` + "\n",
		head + `{"session_id":"s1","seq":1,"key":"run/start"}` + "\n" + `{"session_id":"s1","seq":2,"key":"run/end","data":{"status":"failed"}}` + "\n" + keyed(3) + "\n",
		head + `{"session_id":"s1","seq":1,"key":"run/start","message":{"role":"user"}}` + "\n{",
		head + `{"session_id":"s2","seq":1,"key":"p/task","phase":"p"}` + "\n", head + keyed(2) + "\n" + keyed(1) + "\n" + `{"seq":`,
		head + `{"session_id":"s1","seq":1}` + "\n",
	} {
		f.Add(text, true, uint8(7))
		f.Add(text, false, uint8(200))
	}
}

// withSums puts a checksum into every whole line that can have one: after a wrong one nothing else
// is found.
func withSums(text string) string {
	var out []byte
	var sum chain.Sum
	for line := range strings.Lines(text) {
		open, ok := strings.CutSuffix(line, "}\n")
		if !ok {
			out = append(out, line...)
			continue
		}
		sum = sum.Next([]byte(open))
		out = chain.End(append(out, open...), sum)
	}
	return string(out)
}

// Whatever is in a journal, reading it gives entries without gaps or says which line is wrong.
func FuzzRead(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string, sums bool, _ uint8) {
		if sums {
			text = withSums(text)
		}
		rec, err := readText(text)
		if err != nil {
			requireUnreadable(t, err)
			return
		}
		require.Equal(t, Version, rec.Header.Version)
		require.Positive(t, rec.Header.Rules)
		require.True(t, IsSessionID(rec.Header.SessionID))
		require.Equal(t, text != "" && !strings.HasSuffix(text, "\n"), rec.Torn)
		for i, e := range rec.Entries {
			require.Equal(t, uint64(i+1), e.Seq)
			require.Equal(t, rec.Header.SessionID, e.SessionID)
		}
	})
}

func requireUnreadable(t *testing.T, err error) {
	t.Helper()
	require.True(t, IsUnreadable(err), err)
	var damage *DamageError
	if errors.As(err, &damage) {
		require.Positive(t, damage.Line+damage.FromEnd)
	}
}

// Who looks at all of a journal from its end finds what reading it finds, and refuses what reading
// it refuses. Who looks at a part of a sound one finds that part.
func FuzzLook(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string, sums bool, part uint8) {
		if sums {
			text = withSums(text)
		}
		rec, err := readText(text)
		ends, found, lookErr := lookBy(chain.Bounds{Block: int(part) + 1, Max: chain.MaxLine}, text, len(text)+1)
		if err != nil {
			requireUnreadable(t, lookErr)
			return
		}
		require.NoError(t, lookErr)
		require.Equal(t, &Ends{rec.Header, rec.Torn}, ends)
		requireEntries(t, rec.Entries, found)
		n := min(int(part)+1, len(rec.Entries))
		_, found, err = lookBy(chain.Bounds{Block: int(part) + 1, Max: chain.MaxLine}, text, n)
		require.NoError(t, err)
		requireEntries(t, rec.Entries[len(rec.Entries)-n:], found)
	})
}

// growing is a file of which so much is there.
type growing struct {
	text string
	size int
}

func (g *growing) ReadAt(b []byte, at int64) (int, error) {
	return strings.NewReader(g.text[:g.size]).ReadAt(b, at)
}

// Who follows a journal while it grows reads what is read when all of it is there, and finds the
// same damage. What is passed over is checked all the same.
func FuzzTail(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string, sums bool, step uint8) {
		if sums {
			text = withSums(text)
		}
		rec, err := readText(text)
		found, tailErr := followed(text, 0, int(step)+1)
		if errors.Is(err, ErrNotBegun) {
			require.NoError(t, tailErr, "there may be one later")
			return
		}
		require.Equal(t, err, tailErr)
		if err == nil {
			requireEntries(t, rec.Entries, found)
			from := len(found) / 2
			rest, err := followed(text, from+1, int(step)+1)
			require.NoError(t, err)
			requireEntries(t, found[from:], rest)
		}
	})
}

// followed follows a text that grows by so many bytes at once.
func followed(text string, from, step int) (list []*echo.Entry, err error) {
	file := &growing{text: text}
	tail := newTail("j", "", file, chain.Bounds{Block: 2*step + 1, Max: chain.MaxLine})
	tail.SkipTo(uint64(from))
	for {
		e, err := tail.Next()
		switch {
		case errors.Is(err, io.EOF) && file.size == len(text):
			return list, nil
		case errors.Is(err, io.EOF):
			file.size = min(file.size+step, len(text))
		case err != nil:
			return list, err
		default:
			list = append(list, e)
		}
	}
}
