//go:build unix

package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/server/page/pagetest"
)

var (
	setScripts = emulation.SetScriptExecutionDisabled
	scriptsOff = emulation.SetScriptExecutionDisabledParams{Value: true}
)

// TestHostileHTML: what a model writes does nothing, in a question and as an artifact, by itself and when somebody clicks
// on every element of it. The same document does much of it where it is a page of its own, or the test would prove nothing.
func TestHostileHTML(t *testing.T) {
	quiet := newStranger(t, func() string { return "" })
	text := filled(strings.Replace(hostile, "CLICKS", rows(clicks), 1), quiet.URL, "")
	list := []pagetest.Named{{Name: "html", Wait: echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: "Which?", HTML: text}}}}
	s := newSite(t, list, echo.Artifact{Kind: echo.ArtifactUI, Title: "hostile", HTML: text})
	b := newTabWithin(t, 10*lab.Bound)
	b.open(s.newAddress())
	require.Empty(t, js[string](b, "document.cookie"), "a script can read the cookie")
	for _, at := range []string{s.url("html"), s.base + "/artifacts/" + pagetest.Session + "/" + pagetest.ArtifactID(0)} {
		b.openUntilQuiet(at)
		title := js[string](b, "document.title")
		require.NotEqual(t, "owned", title)
		require.Contains(t, b.frameText(), "the end of the document", "it is not shown")
		require.Equal(t, "SecurityError", js[string](b.frame(), `(() => { try { return "cookie: " + document.cookie } catch (e) { return e.name } })()`))
		b.still(quiet, "by itself", at, title)
		require.Greater(t, b.clickAll(func(what string) { b.still(quiet, what, at, title) }), len(clicks))
		b.picture("hostile")

		// Opened by itself it is shown in the page.
		b.openUntilQuiet(at + "/html")
		b.still(quiet, "at the end", at, title)
	}
	targets, err := chromedp.Targets(b.ctx)
	require.NoError(t, err)
	for _, x := range targets {
		require.NotContains(t, x.URL, quiet.URL, "something was opened")
	}
	b.open(s.base + "/waits")
	require.Equal(t, "What runs wait for", b.text("h1"), "the login has ended")
	require.Nil(t, s.answered("html"))
	require.Zero(t, quiet.connections.Load())
}

// still holds that a page is what it was, and that nothing has reached a stranger.
func (b *tab) still(s *stranger, what, at, title string) {
	b.t.Helper()
	// When this request is answered, the browser has done what it was asked before.
	require.Equal(b.t, []string{"200", at, title}, js[[]string](b, `fetch("/page/style.css").then(r => [String(r.status), location.href, document.title])`), what)
	require.Empty(b.t, s.seen(), what)
	require.Zero(b.t, s.connections.Load(), "%s: something was connected to", what)
}

// TestHostileHTMLElsewhere: as a page of its own the document of the test above does by itself, and by each click, what it is meant to.
func TestHostileHTMLElsewhere(t *testing.T) {
	var html string
	evil := newStranger(t, func() string { return html })
	b := newTab(t)
	html = filled(strings.Replace(hostile, "CLICKS", "", 1), evil.URL, "http://127.0.0.1:1")
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.href = %q", evil.URL+"/page"))) // it goes on by itself to others
	for _, want := range []string{"style", "import", "fetch", "image", "background", "preload", "poster", "srcset", "script", "shadow", "top", "open"} {
		evil.await(want)
	}
	b = newTabWithin(t, 10*lab.Bound) // the first one goes on by itself
	html = `<!DOCTYPE html><style>.row > *, form > *, details > * { display: block; width: 240px; height: 30px }</style><div class=row></div>`
	b.open(evil.URL + "/page")
	evil.keeps.Store(true)
	for _, x := range clicks {
		if x.alone {
			continue
		}
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(".row").innerHTML = %q`, filled(x.html, evil.URL, ""))))
		call(b, page.BringToFront, cdp.Empty{})                                                          // a click before may have opened another one, and what is not seen does not move
		js[int](b, `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))`) // what is animated has begun
		p := b.place(".row > :not(form), .row > form > *", 0)
		b.do(chromedp.MouseClickXY(p.X, p.Y))
		evil.await(x.name)
	}
}

// client asks as a program does that has the cookie of a browser.
type client struct {
	t      testing.TB
	base   string
	cookie string
}

func (c *client) do(method, path string, form url.Values, headers ...string) (int, string) {
	c.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, body)
	require.NoError(c.t, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.cookie != "" {
		r.Header.Set("Cookie", c.cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	no := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := no.Do(r)
	require.NoError(c.t, err)
	defer resp.Body.Close() //nolint:errcheck // only read from
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	if set := resp.Header.Get("Set-Cookie"); set != "" {
		c.cookie, _, _ = strings.Cut(set, ";")
	}
	return resp.StatusCode, string(text)
}

var hidden = regexp.MustCompile(`name="(token|shown)" value="([^"]*)"`)

// form returns what the form of a wait sends besides the answer.
func (c *client) form(path string) url.Values {
	c.t.Helper()
	_, text := c.do(http.MethodGet, path, nil)
	_, text, _ = strings.Cut(text, "<main") // the header has a form of its own
	out := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(text, -1) {
		out.Set(m[1], m[2])
	}
	require.Len(c.t, out, 2, "%s", text)
	return out
}

func login(t testing.TB, s *site) *client {
	t.Helper()
	c := &client{t: t, base: s.base}
	status, _ := c.do(http.MethodPost, "/page/enter", url.Values{"code": {codeOf(t, s.newAddress())}})
	require.Equal(t, http.StatusSeeOther, status)
	return c
}

func codeOf(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u.Query().Get("code")
}

// TestForgedRequests: a request without the token of its form, with one of another login or another wait, with one that was
// used, and from a page of another server is refused, and changes nothing.
func TestForgedRequests(t *testing.T) {
	s := newSite(t, pagetest.All())
	me, other := login(t, s), login(t, s)
	path := func(name string) string { return strings.TrimPrefix(s.url(name), s.base) }
	mine := me.form(path("text"))
	with := func(v url.Values, set ...string) url.Values {
		out := url.Values{"answer": {"forged"}}
		for k := range v {
			out.Set(k, v.Get(k))
		}
		for i := 0; i < len(set); i += 2 {
			out.Set(set[i], set[i+1])
		}
		return out
	}
	for name, tt := range map[string]struct {
		as      *client
		form    url.Values
		headers []string
		status  int
	}{
		"without a token":         {me, with(mine, "token", ""), nil, 403},
		"with another token":      {me, with(mine, "token", strings.Repeat("0", 64)), nil, 403},
		"with one of another":     {me, with(other.form(path("text"))), nil, 403},
		"for another wait":        {me, with(me.form(path("confirmation")), "shown", mine.Get("shown")), nil, 403},
		"for what was shown else": {me, with(mine, "shown", "0000"), nil, 409},
		"without a cookie":        {&client{t: t, base: s.base}, with(mine), nil, 401},
		"with another cookie":     {&client{t: t, base: s.base, cookie: me.cookie + "x"}, with(mine), nil, 401},
		"from another origin":     {me, with(mine), []string{"Origin", "http://evil.example"}, 403},
		"from another port":       {me, with(mine), []string{"Origin", "http://127.0.0.1:1"}, 403},
		"from another site":       {me, with(mine), []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"from the same site":      {me, with(mine), []string{"Sec-Fetch-Site", "same-site"}, 403},
		"as JSON":                 {me, with(mine), []string{"Content-Type", "application/json"}, 415},
	} {
		status, text := tt.as.do(http.MethodPost, path("text"), tt.form, tt.headers...)
		require.Equal(t, tt.status, status, "%s: %s", name, text)
		require.Nil(t, s.answered("text"), name)
	}
	status, _ := me.do(http.MethodPost, path("text"), with(mine, "answer", "mine"))
	require.Equal(t, http.StatusSeeOther, status)
	status, text := me.do(http.MethodPost, path("text"), with(mine))
	require.Equal(t, http.StatusConflict, status, "a request that was sent before")
	require.Contains(t, text, "Somebody was faster. Your answer does not count.")
	require.Contains(t, text, "Answered by ")
	require.Equal(t, "mine", s.answered("text").Value)
}

// TestForgedByAPage: a page of another server of the same machine, whose requests a browser sends with the cookie, gets
// nothing done.
func TestForgedByAPage(t *testing.T) {
	s := newSite(t, pagetest.All())
	var html string
	evil := newStranger(t, func() string { return html })
	b := enter(t, s)
	html = fmt.Sprintf(`<form id="f" method="post" action=%q><input name="answer" value="yes"></form>`, s.url("confirmation"))
	b.open(evil.URL + "/page")
	b.do(chromedp.Evaluate[chromedp.Void]("window.before = true; document.getElementById('f').submit()"))
	b.until("document.readyState === 'complete' && !window.before")
	require.Contains(t, b.text("main"), "A page of another site sent this request. Nothing was changed.")
	b.open(evil.URL + "/page")
	require.Equal(t, "refused", js[string](b, fmt.Sprintf(`fetch(%q, {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({answer: "yes"})}).then(r => r.type === "opaque" ? "refused" : "read", () => "refused")`, s.url("confirmation"))))
	require.Equal(t, "refused", js[string](b, fmt.Sprintf(`fetch(%q, {credentials: "include"}).then(r => "read", () => "refused")`, s.base+"/waits")))
	html = fmt.Sprintf(`<iframe src=%q></iframe>`, s.base+"/waits")
	b.openUntilQuiet(evil.URL + "/page")
	targets, err := chromedp.Targets(b.ctx)
	require.NoError(t, err)
	for _, x := range targets {
		require.NotEqual(t, s.base+"/waits", x.URL, "it is in a frame")
	}
	require.Nil(t, s.answered("confirmation"))
}

// TestCode: a code opens the page once, in the browser in which it was typed; a link of another site asks first.
func TestCode(t *testing.T) {
	s := newSite(t, pagetest.All())
	address := s.address()
	b := newTab(t)
	b.open(address)
	require.Equal(t, s.base+"/", js[string](b, "location.href"))
	require.Equal(t, "Runs", b.text("h1"))
	again := newTab(t)
	again.open(address)
	require.Contains(t, again.text("[role=alert]"), "This code was used, has expired, or is of a server that has ended.")
	again.open(s.base + "/waits")
	require.Contains(t, again.text("main"), "windlass serve token --page")
	again.golden("closed")
	again.picture("closed")

	var html string
	evil := newStranger(t, func() string { return html })
	html = fmt.Sprintf(`<a id="a" href=%q>x</a>`, strings.Replace(s.newAddress(), "127.0.0.1", "localhost", 1))
	again.open(evil.URL + "/page")
	again.do(chromedp.Evaluate[chromedp.Void]("window.before = true; document.getElementById('a').click()"))
	again.until("document.readyState === 'complete' && !window.before")
	again.golden("link")
	again.to("Open")
	again.submit()
	require.Equal(t, "Runs", again.text("h1"))

	b.to("Log out")
	b.submit()
	b.open(s.url("text"))
	require.Equal(t, "Open windlass", b.text("h1"))
}
