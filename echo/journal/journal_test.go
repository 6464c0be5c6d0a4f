package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func newJournal(t *testing.T) (*Journal, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s1")
	j, err := Create(dir, Header{SessionID: "s1", Windlass: "test", Cascade: []byte(`{}`), Input: []byte(`{}`)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	return j, dir
}

func entryOf(text string) *echo.Entry {
	return &echo.Entry{NodeType: echo.NodeMessage, Key: echo.MustKey("p/task"), Message: echo.NewText(echo.RoleUser, echo.KindTask, text)}
}

func TestJournalKeepsWhatWasAppended(t *testing.T) {
	t.Parallel()
	j, dir := newJournal(t)
	log := echo.NewLog("s1", nil, j)
	cost := 0.25
	full := &echo.Entry{
		NodeType: echo.NodeModelCall, Key: echo.MustKey("p/attempt1/turn1/model"), CascadeID: "c", Phase: "p", Attempt: 1, Turn: 1, Sounding: 2,
		Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "line\nline \u2028 \x00"), Model: "m", Provider: "h", Scripted: true,
		Usage: &echo.Usage{In: 4, Cached: 3, Out: 2, Reasoning: 1, Estimated: true}, CostUSD: &cost, DurationMS: 1.5, RequestHash: "ff",
		Tool: &echo.ToolUse{Name: "n", CallID: "i", Arguments: "{"}, Error: &echo.Failure{Kind: "k", Message: "m"},
		Selection: &echo.Selection{ContextSize: 7, Spans: []echo.Span{{From: 0, Count: 2, Form: "full", Reason: "r"}}},
		Data:      []byte(`{"x":[1,2]}`),
	}
	require.NoError(t, log.Append(full))
	require.NoError(t, log.Append(entryOf("two")))
	require.NoError(t, log.Close(context.Background()))

	rec, err := Read(filepath.Join(dir, File))
	require.NoError(t, err)
	require.False(t, rec.Torn)
	require.Equal(t, "s1", rec.Header.SessionID)
	require.Equal(t, Version, rec.Header.Version)
	require.Len(t, rec.Entries, 2)
	require.Equal(t, full, rec.Entries[0])
	require.Equal(t, full.Message.Hash(), rec.Entries[0].ContentHash)
	require.Equal(t, uint64(2), rec.Entries[1].Seq)
}

// A line of a journal is what json.Marshal makes of the entry.
func TestEntriesAreEncodedWhole(t *testing.T) {
	t.Parallel()
	hostile := entryOf("two <lines>\n\u2028 & \x00 ,\"content_hash\":\"")
	hostile.Key, hostile.ContentHash, hostile.Data = echo.MustKey(`a,"content_hash":b`), hostile.Message.Hash(), []byte(`{ "content_hash" : "<" }`)
	for name, e := range map[string]*echo.Entry{
		"hostile": hostile, "no hash": entryOf("x"), "no message": {NodeType: echo.NodeRoute, Key: echo.MustKey("run/route"), ContentHash: "ff", Data: []byte(`{"to":"a"}`)},
	} {
		line, err := encodeEntry(e)
		require.NoError(t, err)
		want, err := json.Marshal(e)
		require.NoError(t, err)
		require.Equal(t, string(want), string(line), name)
	}
}

// A process may die before the first line is whole. Then there is no session, and its id can be used.
func TestJournalThatWasNotBegun(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{"empty": "", "half a header": `{"windlass_journal":2,"sess`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, File), []byte(rest), 0o600))
			_, _, err := Open(dir)
			require.ErrorContains(t, err, "is damaged at line 1: no header: its process died before the session had begun")
			j, err := Create(dir, Header{SessionID: "s1", Cascade: []byte(`{}`), Input: []byte(`{}`)})
			require.NoError(t, err)
			log := echo.NewLog("s1", nil, j)
			require.NoError(t, log.Append(entryOf("first")))
			require.NoError(t, log.Close(context.Background()))
			rec, err := Read(j.Path())
			require.NoError(t, err)
			require.Len(t, rec.Entries, 1)
		})
	}
}

// Waiting promises that the entries are in the file, whoever appended them and however many waited at once.
func TestWaitMakesConcurrentAppendsDurable(t *testing.T) {
	t.Parallel()
	j, dir := newJournal(t)
	log := echo.NewLog("s1", nil, j)
	const workers, each = 8, 25
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				require.NoError(t, log.Append(entryOf(fmt.Sprintf("%d/%d", w, i))))
				require.NoError(t, log.Wait(context.Background()))
				b, err := os.ReadFile(filepath.Join(dir, File))
				require.NoError(t, err)
				require.Contains(t, string(b), fmt.Sprintf(`"text":"%d/%d"`, w, i))
			}
		})
	}
	wg.Wait()
	rec, err := Read(j.Path())
	require.NoError(t, err)
	require.Len(t, rec.Entries, workers*each)
	require.LessOrEqual(t, j.Syncs(), uint64(workers*each+1))
}

func TestJournalBelongsToOneProcess(t *testing.T) {
	t.Parallel()
	j, dir := newJournal(t)
	_, err := Create(dir, Header{SessionID: "s1"})
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorContains(t, err, "lock session s1")
	require.NoError(t, j.Close(context.Background()))
	require.NoError(t, j.Close(context.Background()), "closing twice does nothing")
	_, err = Create(dir, Header{SessionID: "s1"})
	require.ErrorIs(t, err, ErrExists)
	require.ErrorIs(t, j.Write(entryOf("late")), echo.ErrLogClosed)
}

// A torn last line is what a crash leaves behind. A cut at any byte of it loses that line and nothing else.
func TestTornLastLineIsDropped(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(t)
	log := echo.NewLog("s1", nil, j)
	require.NoError(t, log.Append(entryOf("first")))
	require.NoError(t, log.Append(entryOf("second")))
	require.NoError(t, log.Close(context.Background()))
	whole, err := os.ReadFile(j.Path())
	require.NoError(t, err)
	lastLine := strings.LastIndexByte(strings.TrimSuffix(string(whole), "\n"), '\n') + 1
	for cut := lastLine; cut < len(whole); cut++ {
		path := filepath.Join(t.TempDir(), "j")
		require.NoError(t, os.WriteFile(path, whole[:cut], 0o600))
		rec, err := Read(path)
		require.NoError(t, err)
		require.Len(t, rec.Entries, 1)
		require.Equal(t, cut > lastLine, rec.Torn)
	}
}

func TestDamageIsNamedByLine(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(t)
	log := echo.NewLog("s1", nil, j)
	for _, s := range []string{"one", "two", "three"} {
		require.NoError(t, log.Append(entryOf(s)))
	}
	require.NoError(t, log.Close(context.Background()))
	whole, err := os.ReadFile(j.Path())
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	const old = `{"windlass_journal":1,"session_id":"s1"}` + "\n"
	for name, tc := range map[string]struct {
		text string
		line int
		want string
	}{
		"a line is gone":      {lines[0] + lines[1] + lines[3], 3, "does not match its checksum"},
		"a line is garbage":   {lines[0] + "}{\n" + lines[2], 2, "does not match its checksum"},
		"content was changed": {lines[0] + strings.Replace(lines[1], `"text":"one"`, `"text":"eno"`, 1), 2, "does not match its checksum"},
		"no header":           {"", 1, "no header"},
		"another program":     {"{}\n", 1, "format version 0"},
		"no sum":              {lines[0] + `{"seq":1}` + "\n", 2, "does not match its checksum"},
		"old: a hole":         {old + oldLine(t, lines[1]) + oldLine(t, lines[3]), 3, "entry 3 stands where entry 2 should"},
		"old: garbage":        {old + "}{\n", 2, "invalid character"},
		"old: changed":        {old + strings.Replace(oldLine(t, lines[1]), `"text":"one"`, `"text":"eno"`, 1), 2, "does not match its hash"},
		"a newer version":     {`{"windlass_journal":9}` + "\n", 1, "format version 9, this windlass reads up to 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read("j", strings.NewReader(tc.text))
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
			require.Equal(t, tc.line, damage.Line)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, fmt.Sprintf("journal j is damaged at line %d", tc.line))
		})
	}
	_, err = Read(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// oldLine returns a line as version 1 wrote it.
func oldLine(t *testing.T, line string) string {
	body, _, ok := cutSum([]byte(line))
	require.True(t, ok)
	return string(body) + "\n"
}

// Whatever byte of a whole line is changed, the journal is refused, and the line is named.
func TestEveryChangedByteIsFound(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(t)
	log := echo.NewLog("s1", nil, j)
	for _, s := range []string{"one", "two"} {
		require.NoError(t, log.Append(entryOf(s)))
	}
	require.NoError(t, log.Close(context.Background()))
	whole, err := os.ReadFile(j.Path())
	require.NoError(t, err)
	line := 1
	for i, c := range whole {
		if c == '\n' {
			line++
			continue // two lines become one, or the last is torn
		}
		changed := append([]byte(nil), whole...)
		changed[i] ^= 1
		if changed[i] == '\n' {
			continue
		}
		_, err := read("j", strings.NewReader(string(changed)))
		var damage *DamageError
		require.ErrorAs(t, err, &damage, "byte %d", i)
		require.Equal(t, line, damage.Line, "byte %d", i)
	}
}

// A session that a crash cut off at any byte of its last line is taken up again: what was whole stays, and what is added
// follows it.
func TestOpenJournalAfterACrash(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(t)
	log := echo.NewLog("s1", nil, j)
	require.NoError(t, log.Append(entryOf("first")))
	require.NoError(t, log.Append(entryOf("second")))
	require.NoError(t, log.Close(context.Background()))
	whole, err := os.ReadFile(j.Path())
	require.NoError(t, err)
	lastLine := strings.LastIndexByte(strings.TrimSuffix(string(whole), "\n"), '\n') + 1
	for cut := lastLine; cut <= len(whole); cut++ {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, File), whole[:cut], 0o600))
		j, rec, err := Open(dir)
		require.NoError(t, err)
		kept := 1
		if cut == len(whole) {
			kept = 2
		}
		require.Len(t, rec.Entries, kept)
		require.Equal(t, cut > lastLine && cut < len(whole), rec.Torn)
		_, _, err = Open(dir)
		require.ErrorIs(t, err, ErrBusy)
		log := echo.ContinueLog("s1", uint64(kept), nil, j)
		require.NoError(t, log.Append(entryOf("more")))
		require.NoError(t, log.Close(context.Background()))
		again, err := Read(filepath.Join(dir, File))
		require.NoError(t, err)
		require.False(t, again.Torn)
		require.Len(t, again.Entries, kept+1)
		require.Equal(t, "more", again.Entries[kept].Message.Text())
	}
}

func TestOpenJournalRefuses(t *testing.T) {
	t.Parallel()
	_, _, err := Open(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)

	dir := t.TempDir()
	path := filepath.Join(dir, File)
	require.NoError(t, os.WriteFile(path, []byte(`{"windlass_journal":1}`+"\n"+`{"seq":1}`+"\n"), 0o600))
	_, _, err = Open(dir)
	require.ErrorContains(t, err, "has format version 1: this windlass reads it and goes on with none but version 2")

	text := []byte(`{"windlass_journal":2}` + "\n" + `{"seq`)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, _, err = Open(dir)
	var damage *DamageError
	require.ErrorAs(t, err, &damage)
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, left, "nothing is changed")
}

// A full disk stops the log with the disk's own error; nothing is accepted after it and nothing hangs.
func TestFullDiskStopsTheLog(t *testing.T) {
	t.Parallel()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	j := start("full", dataFile{f}, flock.New(filepath.Join(t.TempDir(), "lock")))
	log := echo.NewLog("s1", nil, j)
	require.NoError(t, log.Append(entryOf("x")))
	err = log.Wait(context.Background())
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "write journal full")
	require.ErrorIs(t, log.Append(entryOf("y")), syscall.ENOSPC)
	require.ErrorIs(t, log.Append(entryOf("z")), echo.ErrLogClosed)
	require.ErrorIs(t, log.Close(context.Background()), syscall.ENOSPC)
}

// smallDisk is a file on a disk with room for so many bytes.
type smallDisk struct {
	content []byte
	room    int
}

func (d *smallDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room-len(d.content))
	d.content = append(d.content, b[:n]...)
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *smallDisk) Truncate(size int64) error { d.content = d.content[:size]; return nil }
func (d *smallDisk) Sync() error               { return nil }
func (d *smallDisk) Close() error              { return nil }

// Once flushed, an entry is in the file, synced or not: a killed process loses nothing of it.
func TestFlushedEntriesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	j, _ := newJournal(t)
	log := echo.NewLog("s1", nil, j)
	syncs := j.Syncs()
	require.NoError(t, log.Append(entryOf("first")))
	require.NoError(t, log.Append(entryOf("second")))
	log.Flush()
	rec, err := Read(j.Path())
	require.NoError(t, err)
	require.Len(t, rec.Entries, 2)
	require.Equal(t, syncs, j.Syncs(), "nothing asked for a sync")
}

// What a failed write got through is cut off again: the file ends with a whole line.
func TestFailedWriteLeavesNoHalfLine(t *testing.T) {
	t.Parallel()
	d := &smallDisk{room: 1000}
	j := start("small", d, flock.New(filepath.Join(t.TempDir(), "lock")))
	log := echo.NewLog("s1", nil, j)
	var err error
	for i := 0; err == nil; i++ {
		require.Less(t, i, 1000)
		if err = log.Append(entryOf(strings.Repeat("x", 50))); err == nil {
			err = log.Wait(context.Background())
		}
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NotEmpty(t, d.content)
	require.True(t, strings.HasSuffix(string(d.content), "\n"))
	require.ErrorIs(t, log.Close(context.Background()), syscall.ENOSPC)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	j := &Journal{}
	j.cond = sync.NewCond(&j.mu)
	j.written = 1 // there is nobody to sync it
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	time.AfterFunc(0, func() { cancel(cause) })
	require.ErrorIs(t, j.Wait(ctx), cause)
}

// Whatever stands in a journal, reading it gives entries without gaps or says which line is wrong.
func FuzzReadJournal(f *testing.F) {
	f.Add("")
	f.Add(`{"windlass_journal":1}` + "\n" + `{"seq":1,"node_type":"message","key":"k"}` + "\n")
	f.Add(`{"windlass_journal":1}` + "\n" + `{"seq":1,"message":{"role":"user"}` + "\n{")
	f.Fuzz(func(t *testing.T, text string) {
		rec, err := read("j", strings.NewReader(text))
		if err != nil {
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
			require.Positive(t, damage.Line)
			return
		}
		for i, e := range rec.Entries {
			require.Equal(t, uint64(i+1), e.Seq)
		}
	})
}
