package token_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/server/token"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// TestBook: a token that was issued is found by what it says, by a book that is open already too, until it is revoked.
func TestBook(t *testing.T) {
	t.Parallel()
	dir := token.Folder(t.TempDir())
	b, server := token.NewBook(dir), token.NewBook(dir)
	list, err := server.List()
	require.NoError(t, err)
	require.Empty(t, list)
	text, made, err := b.Issue(t.Context(), "ann", []token.Right{token.Read, token.Answer}, 30*24*time.Hour, now)
	require.NoError(t, err)
	_, err = token.Parse(text)
	require.NoError(t, err)
	require.Len(t, text, 64)
	found, err := server.Find(sha256.Sum256([]byte(text)))
	require.NoError(t, err)
	require.Equal(t, made, found)
	require.Equal(t, []bool{true, false, true}, []bool{found.May(token.Read), found.May(token.Run), found.May(token.Answer)})
	require.False(t, found.HasExpired(now.Add(30*24*time.Hour-time.Second)))
	require.True(t, found.HasExpired(now.Add(30*24*time.Hour)))
	other, err := server.Find(sha256.Sum256([]byte(text + "x")))
	require.NoError(t, err)
	require.Nil(t, other)
	file := filepath.Join(dir, "issued.json")
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(kept), text, "only its hash is kept")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.False(t, token.Shared(info))

	_, second, err := b.Issue(t.Context(), "", []token.Right{token.Run}, time.Hour, now)
	require.NoError(t, err)
	require.Equal(t, "token-1", second.Name)
	require.NoError(t, b.Revoke(t.Context(), "ann"))
	found, err = server.Find(sha256.Sum256([]byte(text)))
	require.NoError(t, err)
	require.Nil(t, found)
	list, err = server.List()
	require.NoError(t, err)
	require.Equal(t, []token.Issued{*second}, list)
}

// TestBookRefuses: what makes no sense is refused, and the file is as it was.
func TestBookRefuses(t *testing.T) {
	t.Parallel()
	b := token.NewBook(token.Folder(t.TempDir()))
	read := []token.Right{token.Read}
	_, _, err := b.Issue(t.Context(), "ann", read, time.Hour, now)
	require.NoError(t, err)
	for _, c := range []struct {
		name   string
		rights []token.Right
		lasts  time.Duration
		want   string
	}{
		{"ann", read, time.Hour, `there is a token "ann" already`},
		{"server", read, time.Hour, `"server" cannot be the name of a token`},
		{"a b", read, time.Hour, `"a b" cannot be the name of a token`},
		{"\x1b[31m", read, time.Hour, `"\x1b[31m" cannot be the name of a token`},
		{"b", nil, time.Hour, "a token without rights allows nothing"},
		{"b", []token.Right{"write"}, time.Hour, `"write" is no right of a token`},
		{"b", []token.Right{"read", "read"}, time.Hour, `the right "read" is given twice`},
		{"b", read, time.Second, "a token lasts for a minute to 3650 days"},
		{"b", read, -time.Hour, "a token lasts for a minute to 3650 days"},
		{"b", read, 3651 * 24 * time.Hour, "a token lasts for a minute to 3650 days"},
	} {
		_, _, err := b.Issue(t.Context(), c.name, c.rights, c.lasts, now)
		require.EqualError(t, err, c.want)
		require.ErrorAs(t, err, new(*token.RequestError))
	}
	require.EqualError(t, b.Revoke(t.Context(), "bob"), `there is no token "bob"`)
	list, err := b.List()
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// TestBookOfOthers: a book that others could have written allows nothing.
func TestBookOfOthers(t *testing.T) {
	t.Parallel()
	dir := token.Folder(t.TempDir())
	b := token.NewBook(dir)
	text, _, err := b.Issue(t.Context(), "ann", []token.Right{token.Read}, time.Hour, now)
	require.NoError(t, err)
	file, elsewhere := filepath.Join(dir, "issued.json"), filepath.Join(t.TempDir(), "issued.json")
	sound, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(elsewhere, sound, 0o600))
	for name, damage := range map[string]func() error{
		"is not what windlass wrote":                func() error { return os.WriteFile(file, []byte(`{"tokens": [`), 0o600) },
		"is a link or something else that is no fi": func() error { return os.Symlink(elsewhere, file) },
		"is not what windlass wrote ":               func() error { return os.WriteFile(file, []byte(`{"tokens": [], "more": 1}`), 0o600) },
	} {
		require.NoError(t, os.RemoveAll(file))
		require.NoError(t, damage())
		found, err := b.Find(sha256.Sum256([]byte(text)))
		require.Nil(t, found)
		var e *token.FileError
		require.ErrorAs(t, err, &e, name)
		require.Contains(t, e.Why+" ", name)
		require.Error(t, b.Revoke(t.Context(), "ann"))
	}
}

// TestIssueAtOnce: no token that was issued is lost when many are issued at once.
func TestIssueAtOnce(t *testing.T) {
	t.Parallel()
	dir := token.Folder(t.TempDir())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, _, err := token.NewBook(dir).Issue(t.Context(), fmt.Sprint("t", i), token.Rights(), time.Hour, now); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := token.NewBook(dir).List()
	require.NoError(t, err)
	require.Len(t, list, 8)
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "1d": 24 * time.Hour, "12h": 12 * time.Hour, "90m": 90 * time.Minute, "3650d": 3650 * 24 * time.Hour} {
		got, err := token.ParseTime(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "3651d", "99999999999999999999d", "30", "a month", "1d1d"} {
		_, err := token.ParseTime(text)
		require.EqualError(t, err, fmt.Sprintf("%q is no time for which a token lasts", text))
	}
}
