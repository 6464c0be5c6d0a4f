package mailbox_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/mailbox"
)

func granted(id string, scope echo.GrantScope) mailbox.Grant {
	return mailbox.Grant{ID: id, Scope: scope, Tool: "deploy", Cascade: "0123456789abcdef", Session: "s1", By: "ada", Via: echo.ViaCommand, At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
}

// A grant counts for the same tool of the same cascade within its scope, and for nothing else.
func TestGrantCovers(t *testing.T) {
	t.Parallel()
	same := echo.AwaitedCall{Tool: "deploy", Cascade: "0123456789abcdef", Arguments: []byte(`{"other":1}`)}
	session, cascade, odd := granted("a", echo.GrantSession), granted("b", echo.GrantCascade), granted("c", "always")
	require.True(t, session.Covers("s1", &same))
	require.False(t, session.Covers("s2", &same))
	require.True(t, cascade.Covers("s2", &same))
	require.False(t, odd.Covers("s1", &same))
	for _, other := range []echo.AwaitedCall{{Tool: "deploys", Cascade: same.Cascade}, {Tool: "deploy", Cascade: "0123456789abcdee"}, {Tool: "deploy"}} {
		require.False(t, session.Covers("s1", &other))
		require.False(t, cascade.Covers("s1", &other))
	}
	cascade.Revoked = &mailbox.Revoked{By: "bob"}
	require.False(t, cascade.Covers("s1", &same))
}

// A grant is written once; one that is revoked stays so, also when it is given again.
func TestGrants(t *testing.T) {
	t.Parallel()
	f := mailbox.Grants{Dir: filepath.Join(t.TempDir(), "grants")}
	list, damaged := f.All()
	require.Empty(t, list)
	require.Empty(t, damaged)
	first := granted("aaaaaaaaaa", echo.GrantCascade)
	require.NoError(t, f.Give(first))
	other := first
	other.Tool = "remove"
	require.NoError(t, f.Give(other))
	list, damaged = f.All()
	require.Empty(t, damaged)
	require.Equal(t, []*mailbox.Grant{&first}, list, "the first one stays")
	require.NoError(t, f.Revoke(first.ID, mailbox.Revoked{By: "ada", At: first.At}))
	require.NoError(t, f.Revoke(first.ID, mailbox.Revoked{By: "bob", At: first.At}))
	require.NoError(t, f.Give(first))
	list, _ = f.All()
	require.Equal(t, "ada", list[0].Revoked.By)
	require.Error(t, f.Give(mailbox.Grant{ID: "../x"}))
}

// What cannot be read counts for nothing, and does not hide the others.
func TestDamagedGrants(t *testing.T) {
	t.Parallel()
	f := mailbox.Grants{Dir: t.TempDir()}
	sound := granted("sound", echo.GrantCascade)
	require.NoError(t, f.Give(sound))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(f.Dir, name), []byte(text), 0o600))
	}
	write("grant-torn.json", `{"id":"torn"`)
	write("grant-moved.json", `{"id":"sound","scope":"cascade","tool":"t","cascade":"c","session":"s","by":"a","via":"http","at":"2026-11-23T12:00:00Z"}`)
	write("grant-more.json", `{"id":"more","any":true}`)
	write("notes.txt", "x")
	require.NoError(t, f.Give(granted("revoked", echo.GrantCascade)))
	write("revoked-revoked.json", "")
	list, damaged := f.All()
	require.Equal(t, []*mailbox.Grant{&sound}, list)
	require.Len(t, damaged, 4)
	require.ErrorContains(t, damaged[0], "it is no whole grant")
	require.ErrorContains(t, damaged[1], "it does not say what it is a grant of")
	require.ErrorContains(t, damaged[2], "revoked-revoked.json: it does not say who has revoked the grant")
	require.ErrorContains(t, damaged[3], "grant-torn.json")
}
