package export_test

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server/export"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/server/page"
)

// frozen puts a frozen journal into a home, and returns the home and the session.
func frozen(t *testing.T, name string) (home, session string) {
	t.Helper()
	rec, err := journal.Read(filepath.Join("../../../cmd/windlass/testdata/frozen", name))
	require.NoError(t, err)
	home = t.TempDir()
	j, err := journal.Create(config.SessionDir(home, rec.Header.SessionID), rec.Header)
	require.NoError(t, err)
	for _, e := range rec.Entries {
		require.NoError(t, j.Write(e))
	}
	require.NoError(t, j.Close(context.Background()))
	return home, rec.Header.SessionID
}

func write(t *testing.T, home, session string, o export.Options) (string, *export.Written) {
	t.Helper()
	o.Session, o.Now = session, time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	o.Screens = []page.Screens{inspector.New(inspector.Options{Archive: &archive.Archive{Home: home}})}
	var b bytes.Buffer
	w, err := export.Write(t.Context(), &b, o)
	require.NoError(t, err)
	require.Equal(t, w.Bytes, b.Len())
	return b.String(), w
}

var (
	ids   = regexp.MustCompile(` id="([^"]*)"`)
	hrefs = regexp.MustCompile(` href="([^"]*)"`)
)

// TestWrite: every link of the file leads to something in it, no id is there twice, and nothing is asked for.
func TestWrite(t *testing.T) {
	t.Parallel()
	home, session := frozen(t, "rules7/rules7_values.jsonl")
	text, w := write(t, home, session, export.Options{})
	require.Greater(t, w.Pages, 2)
	require.Zero(t, w.LeftOut)
	seen := map[string]bool{}
	for _, m := range ids.FindAllStringSubmatch(text, -1) {
		require.False(t, seen[m[1]], "the id %s is there twice", m[1])
		seen[m[1]] = true
	}
	for _, m := range hrefs.FindAllStringSubmatch(text, -1) {
		require.True(t, strings.HasPrefix(m[1], "#") && seen[m[1][1:]], "a link leads to %s", m[1])
	}
	root, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		require.NotContains(t, []string{"script", "iframe", "form", "link", "object", "embed", "img"}, n.Data)
		for _, a := range n.Attr {
			require.NotContains(t, []string{"src", "action", "style", "data-live"}, a.Key)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
}

// TestLimits: a file with no room for all of its pages says how many it has not, and links to none of them.
func TestLimits(t *testing.T) {
	t.Parallel()
	home, session := frozen(t, "rules7/rules7_values.jsonl")
	text, w := write(t, home, session, export.Options{Pages: 2})
	require.Equal(t, 2, w.Pages)
	require.Positive(t, w.LeftOut)
	require.Contains(t, text, " more had no room.")
	for _, m := range hrefs.FindAllStringSubmatch(text, -1) {
		require.True(t, strings.HasPrefix(m[1], "#"), m[1])
	}
}

// TestUnknown: of a session that is not there nothing is written.
func TestUnknown(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	_, err := export.Write(t.Context(), &b, export.Options{Session: "none", Screens: []page.Screens{inspector.New(inspector.Options{Archive: &archive.Archive{Home: t.TempDir()}})}})
	require.ErrorContains(t, err, "none")
	require.Zero(t, b.Len())
}
