package overview_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/figures/figurestest"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/server/overview"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/waits"
)

// granting is a page of a home with grants.
func granting(t *testing.T, list ...mailbox.Grant) (*bench, waits.Desk) {
	t.Helper()
	home := t.TempDir()
	for _, g := range list {
		require.NoError(t, mailbox.Grants{Dir: config.GrantsDir(home)}.Give(g))
	}
	desk := waits.Desk{Home: home, Now: func() time.Time { return figurestest.Began }}
	p, err := page.New(page.Options{
		Desk: page.OfHome(desk, func() {}), By: "ann", Screens: []page.Screens{overview.New(overview.Options{Archive: &archive.Archive{Home: home}, Grants: desk})},
		Audit: func(l audit.Line) error { return audit.Add(t.Context(), home, l) },
	})
	require.NoError(t, err)
	b := &bench{t: t, page: p}
	b.cookie, _, _ = strings.Cut(b.ask(p.Enter()).Header().Get("Set-Cookie"), ";")
	return b, desk
}

func (b *bench) post(target string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:8765"
	for name, value := range map[string]string{
		"Cookie": b.cookie, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Content-Type": "application/x-www-form-urlencoded",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	b.page.ServeHTTP(w, r)
	return w
}

func grant(id string, scope echo.GrantScope, tool string) mailbox.Grant {
	return mailbox.Grant{ID: id, Scope: scope, Tool: tool, Cascade: "4711", Name: "deploys", Session: "s1", By: "bob", Via: echo.ViaPage, At: figurestest.Began}
}

var revokes = regexp.MustCompile(`<form method="post" action="(/grants/[^"]+)" class="inline"><input type="hidden" name="token" value="([^"]+)">`)

// TestGrants: the grants of the machine are listed, and one that is revoked on the page never counts again; the audit has who did it.
func TestGrants(t *testing.T) {
	t.Parallel()
	b, desk := granting(t, grant("aaaa11", echo.GrantSession, "deploy"), grant("aaaa22", echo.GrantCascade, "restart"))
	text := b.open("/grants")
	table := rows(t, text, "Grants of this machine")
	require.Equal(t, []string{"restart", "deploy"}, column(t, table, "Tool"))
	require.Equal(t, []string{"every session", "its session"}, column(t, table, "For"))
	require.Equal(t, "bob (page)", column(t, table, "Given by")[0])
	forms := revokes.FindAllStringSubmatch(text, -1)
	require.Len(t, forms, 2)

	form := url.Values{"token": {forms[0][2]}}
	require.Equal(t, http.StatusSeeOther, b.post(forms[0][1], form).Code)
	require.Contains(t, b.open("/grants"), "revoked by")
	require.Len(t, revokes.FindAllString(b.open("/grants"), -1), 1)
	list, _ := desk.Grants()
	for _, g := range list {
		require.Equal(t, forms[0][1] == "/grants/"+g.ID, g.Revoked != nil)
	}

	require.NotEqual(t, http.StatusSeeOther, b.post(forms[1][1], form).Code, "the token is that of the other form")
	require.NotEqual(t, http.StatusSeeOther, b.post("/grants/aaaa", form).Code, "the beginning of an id")
	lines, _, err := audit.Read(desk.Home, 100)
	require.NoError(t, err)
	require.Len(t, lines, 3)
	require.Equal(t, []string{audit.GrantRevoke, "ann", "page", audit.Done}, []string{lines[0].What, lines[0].By, lines[0].Via, lines[0].Outcome})
	for _, l := range lines[1:] {
		require.Equal(t, audit.Refused, l.Outcome)
	}
}

// TestHostileGrants: whatever the names of tools and cascades are, the page shows them as text; damaged grants are named.
func TestHostileGrants(t *testing.T) {
	t.Parallel()
	g := grant("h1", echo.GrantCascade, figurestest.Hostile)
	g.Name, g.By, g.Session = figurestest.Hostile, figurestest.Hostile, figurestest.Hostile
	b, desk := granting(t, g)
	require.NoError(t, os.WriteFile(filepath.Join(config.GrantsDir(desk.Home), "grant-bad.json"), []byte("{"), 0o600))
	text := b.open("/grants")
	require.NotContains(t, text, figurestest.Hostile)
	require.NotContains(t, text, "<script>alert")
	require.Contains(t, text, "It counts for nothing.")
	require.Equal(t, http.StatusNotFound, b.ask("/grants/h1").Code)
}

// TestGrantsSQL: the statement of the screen is one that ClickHouse answers.
func TestGrantsSQL(t *testing.T) {
	t.Parallel()
	b, _ := granting(t)
	text := b.open("/grants")
	require.Contains(t, text, "There are no grants.")
	db := clickhousetest.Open(t)
	for title, sql := range statements(text) {
		found, err := db.Query(t.Context(), sql, clickhouse.QueryOptions{})
		require.NoError(t, err, fmt.Sprint(title, ": ", sql))
		require.NoError(t, found.Close())
	}
}
