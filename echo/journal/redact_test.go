package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// redactedText is a message that says that it was another one.
func redactedText(of *echo.Message, by ...echo.Hash) *echo.Message {
	d := of.Draft()
	d.Parts = echo.Text(echo.RedactionMark(of.Hash(), of.Text()))
	d.Redacted = &echo.Redacted{Hash: of.Hash(), Of: by, Tokens: 3, Bytes: len(of.JSON())}
	return echo.Seal(d)
}

// ended returns the folder of a journal with an entry for each text.
func ended(t *testing.T, texts ...string) string {
	t.Helper()
	j, dir := create(t)
	for i, text := range texts {
		require.NoError(t, j.Write(numbered(uint64(i+1), text)))
	}
	require.NoError(t, j.Close(context.Background()))
	return dir
}

// redactOne replaces the entries with a text.
func redactOne(text string) (Header, func(*echo.Entry) (*echo.Entry, error)) {
	h := testHeader
	h.Redactions = []Redaction{{Hash: entryOf(text).Message.Hash(), Role: echo.RoleUser, Reason: "pasted"}}
	return h, func(e *echo.Entry) (*echo.Entry, error) {
		if e.Message.Text() != text {
			return nil, nil
		}
		now := *e
		now.Message = redactedText(e.Message, e.Message.Hash())
		return &now, nil
	}
}

func rewriteIn(t *testing.T, dir string, h Header, change func(*echo.Entry) (*echo.Entry, error)) error {
	t.Helper()
	o, err := Own(dir)
	require.NoError(t, err)
	return errors.Join(o.Rewrite(h, change), o.Close())
}

// withoutSums returns the lines of a file without their checksums.
func withoutSums(t *testing.T, path string) []string {
	t.Helper()
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(whole)) {
		lines = append(lines, line[:len(line)-chain.Size])
	}
	return lines
}

// A journal that is written anew has the same lines but for those that were changed, is read in every
// way, and can be continued.
func TestRewrite(t *testing.T) {
	t.Parallel()
	dir := ended(t, "a", "secret", "b <&>\u2028", "secret", "c")
	path := filepath.Join(dir, File)
	before := withoutSums(t, path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"torn":"secret`)
	require.NoError(t, errors.Join(err, f.Close()))
	left := filepath.Join(dir, rewrittenFile)
	require.NoError(t, os.WriteFile(left, []byte("of a process that died"), 0o600))

	h, change := redactOne("secret")
	require.NoError(t, rewriteIn(t, dir, h, change))
	require.NoFileExists(t, left)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(whole), "secret")
	after := withoutSums(t, path)
	require.Len(t, after, len(before))
	for i := range before {
		require.Equal(t, i == 0 || i == 2 || i == 4, before[i] != after[i], "line %d", i+1)
	}

	rec, err := Read(path)
	require.NoError(t, err)
	require.False(t, rec.Torn)
	require.Equal(t, h.Redactions, rec.Header.Redactions)
	require.Equal(t, h.Redactions[0].Hash, rec.Entries[1].Message.Hash())
	var back int
	_, err = Look(path, func(*echo.Entry) bool { back++; return true })
	require.NoError(t, err)
	require.Equal(t, 5, back)

	j, _, err := Open(dir)
	require.NoError(t, err)
	require.NoError(t, j.Write(numbered(6, "more")))
	require.NoError(t, j.Close(context.Background()))
	rec, err = Read(path)
	require.NoError(t, err)
	require.Len(t, rec.Entries, 6)
}

// What cannot be written anew stays as it is, byte for byte, with nothing beside it.
func TestRewriteRefuses(t *testing.T) {
	t.Parallel()
	h, change := redactOne("secret")
	none := testHeader
	for name, tt := range map[string]struct {
		spoil  func(t *testing.T, dir string)
		header Header
		change func(*echo.Entry) (*echo.Entry, error)
		text   string
	}{
		"not in the header": {nil, none, change, "entry 2: the message \"" + string(h.Redactions[0].Hash) + "\" says that it is redacted, and the header of the journal does not; windlass does not write such entries"},
		"its own error":     {nil, h, func(*echo.Entry) (*echo.Entry, error) { return nil, errors.New("no") }, "anew: no"},
		"another number": {nil, h, func(e *echo.Entry) (*echo.Entry, error) {
			now := *e
			now.Seq = 7
			return &now, nil
		}, "entry 7 stands where entry 1 should"},
		"another text": {nil, h, func(e *echo.Entry) (*echo.Entry, error) {
			now := *e
			now.Message = echo.NewText(echo.RoleUser, echo.KindTask, "forged")
			return &now, nil
		}, "entry 1: the content does not match its hash"},
		"damage": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, File)
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(whole), `"a"`, `"x"`, 1)), 0o600))
		}, h, change, "is damaged at line 2: the line does not match its checksum"},
		"no header": {func(t *testing.T, dir string) { require.NoError(t, os.Truncate(filepath.Join(dir, File), 9)) }, h, change, "no header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := ended(t, "a", "secret")
			if tt.spoil != nil {
				tt.spoil(t, dir)
			}
			before, err := os.ReadFile(filepath.Join(dir, File))
			require.NoError(t, err)
			require.ErrorContains(t, rewriteIn(t, dir, tt.header, tt.change), tt.text)
			after, err := os.ReadFile(filepath.Join(dir, File))
			require.NoError(t, err)
			require.Equal(t, string(before), string(after))
			require.NoFileExists(t, filepath.Join(dir, rewrittenFile))
		})
	}
}

// Links and what is no file are refused, and nothing that they lead to is touched.
func TestRewriteFollowsNoLinks(t *testing.T) {
	t.Parallel()
	h, change := redactOne("secret")
	dir := ended(t, "secret")
	path := filepath.Join(dir, File)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Rename(path, elsewhere))
	require.NoError(t, os.Symlink(elsewhere, path))
	require.ErrorContains(t, rewriteIn(t, dir, h, change), "it is a link")
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	require.ErrorContains(t, rewriteIn(t, dir, h, change), "it is not a file")
	whole, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	require.Contains(t, string(whole), "secret")
}

// What a header says is redacted is the hash of a message, which is shown on terminals.
func TestHeaderNamesRedactedMessages(t *testing.T) {
	t.Parallel()
	h, _ := redactOne("secret")
	require.NoError(t, h.check())
	for _, hash := range []echo.Hash{"", "0123456789abcde", "0123456789abcdeF", "\x1b[2J0123456789ab", "0123456789abcdef0"} {
		h.Redactions[0].Hash = hash
		require.ErrorContains(t, h.check(), "which cannot be the hash of a message")
		d := echo.NewText(echo.RoleUser, echo.KindTask, "a").Draft()
		d.Redacted = &echo.Redacted{Hash: hash, Of: []echo.Hash{"0123456789abcdef"}}
		e := &echo.Entry{Seq: 1, Message: echo.Seal(d)}
		require.ErrorContains(t, e.CheckRedacted([]echo.Hash{"0123456789abcdef"}), "says that it is redacted, and the header of the journal does not")
	}
}

// FuzzRewrite: whatever is in a journal, writing it anew changes no line that is not to change, and
// gives what is read as before.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{"a", "secret", "\u2028<&>", "[redacted 0123456789abcdef: 3 characters]", "\x00\xff"} {
		f.Add(s, "secret", "b\n")
	}
	f.Fuzz(func(t *testing.T, one, two, three string) {
		dir := ended(t, one, two, three, one)
		path := filepath.Join(dir, File)
		was, err := Read(path)
		require.NoError(t, err)
		before := withoutSums(t, path)
		text := was.Entries[1].Message.Text()
		h, change := redactOne(text)
		require.NoError(t, rewriteIn(t, dir, h, change))
		after := withoutSums(t, path)
		is, err := Read(path)
		require.NoError(t, err)
		require.Len(t, is.Entries, len(was.Entries))
		for i, e := range was.Entries {
			require.Equal(t, e.ContentHash, is.Entries[i].ContentHash)
			if e.Message.Text() != text {
				require.Equal(t, before[i+1], after[i+1])
			}
		}
	})
}
