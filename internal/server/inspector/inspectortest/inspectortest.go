// Package inspectortest opens the screens of sessions in tests: those of frozen journals, and of journals that tests make.
package inspectortest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/waits"
)

// Frozen returns the paths of the frozen journals, whose folder is given.
func Frozen(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	require.NoError(t, err)
	require.Greater(t, len(paths), 20)
	return paths
}

// Copy puts a journal into a home as it is, and returns its session.
func Copy(t testing.TB, home, path string) (session string) {
	t.Helper()
	rec, err := journal.Read(path)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	dir := config.SessionDir(home, rec.Header.SessionID)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, journal.File), text, 0o600))
	return rec.Header.SessionID
}

// Write makes a journal in a home of entries that have a key, a kind and what they record.
func Write(t testing.TB, home, session string, entries ...*echo.Entry) {
	t.Helper()
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	j, err := journal.Create(config.SessionDir(home, session), journal.Header{
		SessionID: session, Rules: 1, StartedAt: began, Cascade: []byte(`{"cascade_id": "made", "phases": []}`), Input: []byte(`{}`),
	})
	require.NoError(t, err)
	for i, e := range entries {
		e.SessionID, e.Seq, e.At, e.CascadeID = session, uint64(i+1), began.Add(time.Duration(i+1)*time.Second), "made"
		if e.Message != nil {
			e.ContentHash = e.Message.Hash()
		}
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}
	require.NoError(t, j.Close(t.Context()))
}

// Browser is a browser with a login.
type Browser struct {
	t      testing.TB
	page   *page.Page
	cookie string
	Audit  []audit.Line
}

// New opens the screens of the sessions of a home. change may change how.
func New(t testing.TB, home string, change func(*inspector.Options)) *Browser {
	t.Helper()
	o := inspector.Options{Archive: &archive.Archive{Home: home}}
	if change != nil {
		change(&o)
	}
	b := &Browser{t: t}
	p, err := page.New(page.Options{
		Desk: page.OfHome(waits.Desk{Home: home}, func() {}), Screens: []page.Screens{inspector.New(o)}, By: "ann",
		Audit: func(l audit.Line) error {
			b.Audit = append(b.Audit, l)
			return nil
		},
	})
	require.NoError(t, err)
	b.page = p
	r := b.Ask(http.MethodGet, p.Enter(), nil)
	require.Equal(t, http.StatusSeeOther, r.Code)
	b.cookie, _, _ = strings.Cut(r.Header().Get("Set-Cookie"), ";")
	return b
}

// Ask sends a request as the browser does: a form when there is one.
func (b *Browser) Ask(method, target string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(form.Encode()))
	site := "none"
	if method == http.MethodPost {
		site = "same-origin"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.send(r, site, "navigate", "document")
}

// Fetch asks as a script of the page does.
func (b *Browser) Fetch(target string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.send(httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, target, nil), "same-origin", "cors", "empty")
}

func (b *Browser) send(r *http.Request, site, mode, dest string) *httptest.ResponseRecorder {
	r.Host = "127.0.0.1:8765"
	for name, value := range map[string]string{"Cookie": b.cookie, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	b.page.ServeHTTP(w, r)
	return w
}

// Forget ends that the browser has a login.
func (b *Browser) Forget() { b.cookie = "" }

// Open returns a page that is there.
func (b *Browser) Open(target string) string {
	b.t.Helper()
	w := b.Ask(http.MethodGet, target, nil)
	require.Equal(b.t, http.StatusOK, w.Code, "%s: %s", target, w.Body)
	return w.Body.String()
}

// Hostile are texts that do harm where they are shown as anything but text.
func Hostile() []string {
	list := []string{
		`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`,
		`<img src=//evil.example/x>`, `<svg onload=alert(1)>`, `<iframe src="javascript:alert(1)"></iframe>`, `<a href="javascript:alert(1)">x</a>`,
		`javascript:alert(1)`, `data:text/html,<script>alert(1)</script>`, `" onmouseover="alert(1)`, `' onfocus='alert(1)' autofocus='`,
		`{{.Data}}`, `{{template "head" .}}`, `${alert(1)}`, `<!--`, `-->`, `]]>`, `<![CDATA[x]]>`, `<style>*{display:none}</style>`, `</title><script>alert(1)</script>`,
		`</textarea><script>alert(1)</script>`, `</pre><h1>owned</h1>`, `</main>`, `<base href="//evil.example/">`, `<meta http-equiv="refresh" content="0;url=//evil.example">`,
		`<link rel=stylesheet href=//evil.example/x>`, `<form action="//evil.example"><button>x`, `<object data=//evil.example></object>`, `<template><script>alert(1)</script></template>`,
		`<math><mtext></mtext><script>alert(1)</script></math>`, `<noscript><p title="</noscript><script>alert(1)</script>">`, `&lt;script&gt;alert(1)&lt;/script&gt;`, `&#60;script&#62;alert(1)`,
		"\x1b[2J\x1b[31mred\x1b[0m", "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07", "\u202Etxt.exe\u202C", "\u2066isolated\u2069", "\u200B\u200B\u200Bhidden\u00AD", "\u0000nul", "\uFEFFbom",
		"\r\nSet-Cookie: x=1", "line\u2028separator\u2029", "bad \xff\xfe utf-8", "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307", strings.Repeat("x", 100_000), strings.Repeat("\n", 5_000), strings.Repeat("<b>", 5_000),
		"../../../../etc/passwd", "'; DROP TABLE logs; --", `\'; DROP TABLE logs; --`, "%3Cscript%3Ealert(1)%3C/script%3E",
	}
	return slices.Clip(list)
}

// Harmless fails when a page has a tag or an attribute that no screen has, a link that leads out of windlass, or characters
// that are seen as nothing or turn others around.
func Harmless(t testing.TB, address, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	titles := 0
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.Type { //nolint:exhaustive // the others are not of screens
		case html.CommentNode:
			require.Fail(t, "a comment", "%s: %.200q", address, n.Data)
		case html.TextNode:
			shown(t, address, n.Data)
		case html.ElementNode:
			if n.Data == "title" && n.Namespace == "" {
				titles++
			}
			require.Contains(t, tags, n.Data, address)
			for _, a := range n.Attr {
				attribute(t, address, n, a)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	require.Equal(t, 1, titles, address)
}

// tags are those that screens have.
var tags = strings.Fields("html head meta title link script body a header nav form input button main h1 h2 h3 h4 p span code dl dt dd div section table " +
	"caption thead tbody tfoot tr th td svg g rect text tspan path line circle polyline pattern defs time details summary pre label fieldset legend select option textarea " +
	"datalist ul ol li bdi small strong em del ins canvas output figure figcaption br hr")

func attribute(t testing.TB, address string, n *html.Node, a html.Attribute) {
	t.Helper()
	require.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc", "%s: %s has %s", address, n.Data, a.Key)
	switch a.Key {
	case "href", "src", "action", "formaction":
		local := strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "//") && !strings.HasPrefix(a.Val, `/\`)
		icon := n.Data == "link" && a.Val == "data:,"
		require.True(t, local || icon || strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Val, "?"), "%s: %s leads to %.200q", address, n.Data, a.Val)
	case "value": // what a person has written stays as it is
	default:
		shown(t, address, a.Val)
	}
}

// shown fails for characters that a person would not see as they are.
func shown(t testing.TB, address, text string) {
	t.Helper()
	for _, bad := range []string{"\u202E", "\u2066", "\u200B", "\u00AD", "\u2028", "\uFEFF", "\x1b", "\x00", "\x07"} {
		at := strings.Index(text, bad)
		require.Negative(t, at, "%s: %q in %.200q", address, bad, text)
	}
	require.True(t, utf8.ValidString(text), address)
}

// Conversation returns the entries of a visit to a phase in which everything that can be said says a text: two turns with a
// tool, whose first message the second request has masked.
func Conversation(text string) []*echo.Entry { return ConversationOf(1, text) }

// ConversationOf is [Conversation] in a later visit of the phase.
func ConversationOf(n int, text string) []*echo.Entry {
	visit := echo.PhaseKey("draft", n)
	task := echo.NewText(echo.RoleUser, echo.KindTask, "Task: "+text)
	call := echo.ToolCall{ID: "call_1", Name: "read", Arguments: string(quoted(text))}
	asked := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(text), ToolCalls: []echo.ToolCall{call}})
	result := echo.NewToolResult(call, echo.Text("Result: "+text), false)
	masked := echo.NewText(echo.RoleUser, echo.KindTask, "Masked: "+text)
	answer := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("Answer: " + text)})
	at := func(turn int) echo.Key { return visit.Attempt(1).Turn(turn) }
	selection := func(turn int, s *echo.Selection) *echo.Entry {
		e := echo.NewEntry(at(turn).Step(echo.StepContext), echo.Carry{})
		e.Selection, e.Model = s, text
		return e
	}
	model := func(turn int, m *echo.Message) *echo.Entry {
		usd := 0.001
		return &echo.Entry{
			NodeType: echo.NodeModelCall, Key: at(turn).Step(echo.StepModel), Model: text, Message: m, CostUSD: &usd,
			Usage: &echo.Usage{In: 100, Cached: 40, Out: 10}, DurationMS: 20,
		}
	}
	return []*echo.Entry{
		echo.NewEntry(visit.Step(echo.StepStart), echo.PhaseStart{Visit: n}),
		{NodeType: echo.NodeMessage, Key: visit.Attempt(1).Step(echo.StepTask), Message: task},
		selection(1, &echo.Selection{FullHistorySize: 50, ContextSize: 50, MessageCount: 1, Spans: []echo.Span{
			{Count: 1, Form: "full", Reason: text, Hashes: []echo.Hash{task.Hash()}, Tokens: []int64{50}},
		}}),
		model(1, asked),
		{NodeType: echo.NodeToolCall, Key: at(1).Numbered(echo.StepTool, 1), Message: result, Tool: &echo.ToolUse{Name: text, CallID: "call_1", Arguments: call.Arguments}, DurationMS: 5},
		selection(2, &echo.Selection{FullHistorySize: 150, ContextSize: 120, TokensSaved: 30, MessageCount: 3, MaskedCount: 1, Spans: []echo.Span{
			{Count: 1, Form: "masked", Reason: text, Hashes: []echo.Hash{task.Hash()}, Tokens: []int64{20}, Sent: [][]*echo.Message{{masked}}},
			{From: 1, Count: 2, Form: "full", Reason: "kept", Hashes: []echo.Hash{asked.Hash(), result.Hash()}, Tokens: []int64{50, 50}},
		}}),
		model(2, answer),
	}
}

// quoted returns a text as JSON.
func quoted(text string) []byte {
	b, err := json.Marshal(map[string]string{"path": text})
	if err != nil {
		panic(err) // a text has always JSON
	}
	return b
}
