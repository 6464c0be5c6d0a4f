//nolint:bodyclose // the bodies of a recorder are texts in memory
package page_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/server/page/pagetest"
	"github.com/windlass-run/windlass/internal/waits"
)

// bench is a page over a home with a session that waits, and a browser that goes by its cookies.
type bench struct {
	t      *testing.T
	page   *page.Page
	desk   waits.Desk
	now    time.Time
	list   []pagetest.Named
	cookie string
	tls    bool
}

func newBench(t *testing.T, list []pagetest.Named) *bench {
	t.Helper()
	b := &bench{t: t, list: list, now: pagetest.Began.Add(2 * time.Hour)}
	b.desk = waits.Desk{Home: t.TempDir(), Now: func() time.Time { return b.now }}
	require.NoError(t, pagetest.Write(b.desk.Home, list, []echo.Artifact{{Kind: echo.ArtifactMade, Title: "The report", HTML: "<p>all is well"}}, pagetest.Began))
	var err error
	b.page, err = page.New(page.Options{Desk: page.OfHome(b.desk, func() {}), By: "ann", Now: b.desk.Now, Audit: func(l audit.Line) error { return audit.Add(context.Background(), b.desk.Home, l) }})
	require.NoError(t, err)
	return b
}

// audited counts the lines of the audit.
func (b *bench) audited() int {
	lines, _, err := audit.Read(b.desk.Home, 1000)
	require.NoError(b.t, err)
	return len(lines)
}

func (b *bench) do(method, target string, form url.Values, headers ...string) *http.Response {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:8765"
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	if b.tls {
		r.TLS = &tls.ConnectionState{}
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	before := b.audited()
	b.page.ServeHTTP(w, r)
	if method == http.MethodPost && strings.HasPrefix(target, "/waits/") {
		want := 1
		if w.Code == http.StatusOK { // it shows what an edit changes, and nothing was sent
			want = 0
		}
		require.Equal(b.t, want, b.audited()-before, "each answer and each attempt is a line of the audit: %s %d", target, w.Code)
	}
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close() //nolint:errcheck // of a recorder
	all, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(all)
}

// typed are the headers of an address that a person has typed.
var typed = []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}

func (b *bench) login() *http.Response {
	b.t.Helper()
	r := b.do(http.MethodGet, b.page.Enter(), nil, typed...)
	require.Equal(b.t, http.StatusSeeOther, r.StatusCode)
	b.cookie, _, _ = strings.Cut(r.Header.Get("Set-Cookie"), ";")
	return r
}

func (b *bench) path(name string) string { return "/waits/" + pagetest.ID(b.list, name) }

var hidden = regexp.MustCompile(`name="(token|shown|step|arguments)" value="([^"]*)"`)

// form returns what the form of a wait sends besides the answer.
func (b *bench) form(html string) url.Values {
	b.t.Helper()
	_, html, _ = strings.Cut(html, "<main")
	out := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(html, -1) {
		if !out.Has(m[1]) {
			out.Set(m[1], strings.NewReplacer("&#34;", `"`, "&#43;", "+").Replace(m[2]))
		}
	}
	return out
}

// TestCookie: what a browser keeps of a login, with TLS and without.
func TestCookie(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	require.Regexp(t, `^windlass_8765=[\w-]{43}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict$`, b.login().Header.Get("Set-Cookie"))
	b.tls = true
	require.Regexp(t, `^__Host-windlass_8765=[\w-]{43}; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Strict$`, b.login().Header.Get("Set-Cookie"))
}

// TestLogin: a code is good once and for ten minutes, a login for twelve hours or until it is left.
func TestLogin(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	require.Equal(t, http.StatusUnauthorized, b.do(http.MethodGet, "/waits", nil).StatusCode)
	address := b.page.Enter()
	require.Regexp(t, `^/waits\?code=[\w-]{43}$`, address)
	b.now = b.now.Add(10*time.Minute - time.Nanosecond)
	require.Equal(t, http.StatusSeeOther, b.do(http.MethodGet, address, nil, typed...).StatusCode)
	again := b.do(http.MethodGet, address, nil, typed...)
	require.Equal(t, http.StatusForbidden, again.StatusCode)
	require.Contains(t, text(t, again), "This code was used, has expired, or is of a server that has ended.")
	late := b.page.Enter()
	b.now = b.now.Add(10 * time.Minute)
	require.Equal(t, http.StatusForbidden, b.do(http.MethodGet, late, nil, typed...).StatusCode)

	b.login()
	require.Equal(t, http.StatusOK, b.do(http.MethodGet, "/waits", nil).StatusCode)
	was := b.cookie
	b.now = b.now.Add(12 * time.Hour)
	require.Equal(t, http.StatusUnauthorized, b.do(http.MethodGet, "/waits", nil).StatusCode)
	b.login()
	require.NotEqual(t, was, b.cookie)
	leave := regexp.MustCompile(`name="token" value="(\w+)"`).FindStringSubmatch(text(t, b.do(http.MethodGet, "/waits", nil)))
	require.Equal(t, http.StatusForbidden, b.do(http.MethodPost, "/page/leave", url.Values{"token": {"x"}}).StatusCode)
	require.Equal(t, http.StatusSeeOther, b.do(http.MethodPost, "/page/leave", url.Values{"token": {leave[1]}}).StatusCode)
	require.Equal(t, http.StatusUnauthorized, b.do(http.MethodGet, "/waits", nil).StatusCode)
}

// TestCodeIsAskedAbout: a code in an address that nobody has typed is not used, and a person may use it then.
func TestCodeIsAskedAbout(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{
		"a link of another site":      {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"},
		"a browser looks ahead":       append([]string{"Sec-Purpose", "prefetch;prerender"}, typed...),
		"a browser that says nothing": nil,
	} {
		b := newBench(t, nil)
		address := b.page.Enter()
		r := b.do(http.MethodGet, address, nil, headers...)
		require.Equal(t, http.StatusOK, r.StatusCode, name)
		require.Empty(t, r.Header.Get("Set-Cookie"), name)
		html := text(t, r)
		_, code, _ := strings.Cut(address, "code=")
		require.Contains(t, html, `name="code" value="`+code+`"`, name)
		require.Equal(t, http.StatusSeeOther, b.do(http.MethodPost, "/page/enter", url.Values{"code": {code}}, "Sec-Fetch-Site", "same-origin").StatusCode, name)
	}
	b := newBench(t, nil)
	_, code, _ := strings.Cut(b.page.Enter(), "code=")
	require.Equal(t, http.StatusForbidden, b.do(http.MethodPost, "/page/enter", url.Values{"code": {code}}, "Sec-Fetch-Site", "cross-site").StatusCode)
	require.Equal(t, http.StatusForbidden, b.do(http.MethodGet, "/waits?code="+code, nil, "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image").StatusCode)
	require.Equal(t, http.StatusSeeOther, b.do(http.MethodGet, "/waits?code="+code, nil, typed...).StatusCode, "the code was not used")
}

// TestHeaders: every answer forbids what it does not need.
func TestHeaders(t *testing.T) {
	t.Parallel()
	html := []pagetest.Named{{Name: "html", Wait: echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: "?", HTML: "<b>hi"}}}}
	b := newBench(t, html)
	b.login()
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-src 'self'; connect-src 'self'; " +
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	for _, path := range []string{"/waits", b.path("html"), "/waits/none", "/page/style.css", "/page/script.js", "/page/none", "/page/state", "/artifacts/a/b", "/waits?code=x"} {
		h := b.do(http.MethodGet, path, nil).Header
		require.Equal(t, policy, h.Get("Content-Security-Policy"), path)
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"), path)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		kept := "no-store"
		if path == "/page/style.css" || path == "/page/script.js" { // they are of the binary, and say nothing of runs
			kept = "private, no-cache"
		}
		require.Equal(t, kept, h.Get("Cache-Control"), path)
		require.Equal(t, "DENY", h.Get("X-Frame-Options"), path)
		require.NotEmpty(t, h.Get("Content-Type"), path)
	}
	r := b.do(http.MethodGet, b.path("html")+"/html", nil, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe")
	require.Equal(t, "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'", r.Header.Get("Content-Security-Policy"))
	require.Equal(t, "<b>hi", text(t, r))
	r = b.do(http.MethodGet, b.path("html")+"/html", nil, typed...)
	require.Equal(t, []any{http.StatusSeeOther, b.path("html")}, []any{r.StatusCode, r.Header.Get("Location")}, "by itself it is not shown")
	b.cookie = ""
	require.Equal(t, http.StatusUnauthorized, b.do(http.MethodGet, b.path("html")+"/html", nil).StatusCode)
}

// TestAnswersAreChecked: what does not answer a form is refused with its reason, and what was filled in stays.
func TestAnswersAreChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t, pagetest.All())
	b.login()
	for _, tt := range []struct {
		name string
		set  url.Values
		want string
	}{
		{"confirmation", url.Values{"answer": {"perhaps"}}, "the answer is yes or no"},
		{"confirmation", nil, "nothing is chosen or written yet"},
		{"confirmation", url.Values{"answer": {"yes", "no"}}, `the form says "answer" 2 times`},
		{"approval", url.Values{"answer": {"allow", "deny"}}, `the form says "answer" 2 times`},
		{"form", url.Values{"field.who": {"ann", "ben"}}, `the form says "field.who" 2 times`},
		{"choice", url.Values{"answer": {"now"}, "custom": {"or then"}}, "an option is chosen and a text is written: only one of them can be the answer"},
		{"multi_choice", url.Values{"answer": {"eu", "mars"}}, "the answer is one of the options: eu, us, ap"},
		{"rating", url.Values{"answer": {"6"}}, "the answer is a whole number from 1 to 5"},
		{"text", url.Values{"answer": {"  "}}, "the answer is a text that is not empty"},
		{"form", url.Values{"field.when": {"now"}}, `the field "who": it is required`},
		{"form", url.Values{"field.who": {"ann"}, "field.when": {"never"}}, `the field "when": the answer is one of the options: now, later`},
		{"review", url.Values{"feedback": {"hm"}}, "say whether it is right"},
		{"candidates", url.Values{"answer": {"D"}}, `the answer is {"winner": "..."} with one of A, B, C, tie, none`},
		{"ranking", url.Values{"rank.A": {"1"}, "rank.B": {"1"}, "rank.C": {"2"}, "why": {"x"}}, `the answer is {"ranking": [...], "why": "..."} with each of A, B, C once, the best first`},
		{"ratings", url.Values{"rate.A": {"1"}}, `the answer is {"ratings": {...}} with 1 to 5 for each of A, B, C`},
		{"approval", url.Values{"answer": {"maybe"}}, "say whether the call may run"},
		{"approval", url.Values{"answer": {"allow"}, "scope": {"world"}}, "an approval counts for this call, this session or this cascade"},
		{"approval", url.Values{"answer": {"edit"}, "arguments": {"{"}}, "the arguments are not JSON: unexpected EOF"},
		{"approval", url.Values{"answer": {"edit"}, "arguments": {"{} {}"}}, "the arguments are not one JSON value: something follows it"},
		{"approval", url.Values{"answer": {"edit"}, "arguments": {`{"to":"mars"}`}}, "the arguments do not match the schema of deploy: "},
		{"approval", url.Values{"answer": {"edit"}, "arguments": {`{"version":"1.4.0","to":"prod","regions":["eu","us"]}`}}, "the arguments are the ones that were shown: allow the call, or change something"},
	} {
		form := b.form(text(t, b.do(http.MethodGet, b.path(tt.name), nil)))
		form.Del("arguments")
		for k, v := range tt.set {
			form[k] = v
		}
		r := b.do(http.MethodPost, b.path(tt.name), form)
		html := strings.NewReplacer("&#34;", `"`, "&#39;", "'").Replace(text(t, r))
		require.Equal(t, http.StatusUnprocessableEntity, r.StatusCode, "%s %v", tt.name, tt.set)
		require.Contains(t, html, "The answer was not taken: "+tt.want, "%s %v", tt.name, tt.set)
		for _, kept := range []string{"why", "custom", "field.who", "feedback"} {
			require.Contains(t, html, tt.set.Get(kept), tt.name)
		}
		a, err := waits.Box(b.desk.Home, pagetest.Session).Answered(pagetest.ID(b.list, tt.name))
		require.NoError(t, err)
		require.Nil(t, a, tt.name)
	}
	r := b.do(http.MethodPost, b.path("signal"), b.form(text(t, b.do(http.MethodGet, b.path("confirmation"), nil))))
	require.Equal(t, http.StatusConflict, r.StatusCode)
}

// TestEditIsShownFirst: an edit is sent only with the token of the page that has shown exactly these arguments.
func TestEditIsShownFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, pagetest.All())
	b.login()
	send := func(form url.Values, args string) (int, string) {
		form = url.Values{"token": form["token"], "shown": form["shown"], "step": form["step"], "answer": {"edit"}, "arguments": {args}}
		r := b.do(http.MethodPost, b.path("approval"), form)
		return r.StatusCode, text(t, r)
	}
	first := b.form(text(t, b.do(http.MethodGet, b.path("approval"), nil)))
	status, html := send(first, `{"to":"staging"}`)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, html, "Nothing was sent yet.")
	shown := b.form(html)
	status, html = send(shown, `{"to":"prod"}`)
	require.Equal(t, http.StatusOK, status, "other arguments are shown, too")
	require.Contains(t, html, "Nothing was sent yet.")
	status, _ = send(shown, shown.Get("arguments"))
	require.Equal(t, http.StatusSeeOther, status)
	a, err := waits.Box(b.desk.Home, pagetest.Session).Answered(pagetest.ID(b.list, "approval"))
	require.NoError(t, err)
	require.Equal(t, &echo.Answer{
		Value: map[string]any{"decision": "edit", "arguments": map[string]any{"to": "staging"}}, By: "ann", Via: echo.ViaPage, At: b.now, Shown: pagetest.Approval().Wait.Shown,
	}, a)
}

// TestLate: whoever comes later is told who was faster, and when; a deadline that has passed is one, too.
func TestLate(t *testing.T) {
	t.Parallel()
	list := pagetest.All()
	list[4].Wait.Timeout = 3 * 60 * 60
	b := newBench(t, list)
	b.login()
	form := b.form(text(t, b.do(http.MethodGet, b.path("confirmation"), nil)))
	form.Set("answer", "yes")
	w, err := b.desk.Find(t.Context(), pagetest.ID(list, "confirmation"))
	require.NoError(t, err)
	require.NoError(t, b.desk.Answer(w, waits.Given{Value: false, By: "ben", Via: echo.ViaCommand}))
	r := b.do(http.MethodPost, b.path("confirmation"), form)
	html := text(t, r)
	require.Equal(t, http.StatusConflict, r.StatusCode)
	require.Contains(t, html, "Somebody was faster. Your answer does not count.")
	require.Contains(t, html, `Answered by ben (command) on <time datetime="2026-03-01T14:00:00Z">`)
	require.Contains(t, html, `The answer: <span dir="auto">false</span>`)

	form = b.form(text(t, b.do(http.MethodGet, b.path("text"), nil)))
	form.Set("answer", "late")
	b.now = b.now.Add(90 * time.Minute)
	r = b.do(http.MethodPost, b.path("text"), form)
	html = text(t, r)
	require.Equal(t, http.StatusConflict, r.StatusCode)
	require.Contains(t, html, "ended without an answer at ")
	require.Contains(t, html, "Your answer does not count.")
}

// TestNothingIsHidden: arguments are shown so that no character of them is invisible or turns others around, and what a
// model writes is text.
func TestNothingIsHidden(t *testing.T) {
	t.Parallel()
	w := pagetest.Approval()
	w.Wait.Call.Arguments = json.RawMessage(`{"to":"a\u202e\u200bb<script>\u00a0\ud83d\ude00\udb40\udc41"}`)
	w.Wait.Shown = w.Wait.Call.Hash()
	q := pagetest.Named{Name: "q", Wait: echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: "a\u202eb<script>x</script>", Context: "c\u2066d"}}}
	b := newBench(t, []pagetest.Named{w, q})
	b.login()
	html := text(t, b.do(http.MethodGet, b.path("approval"), nil))
	require.Contains(t, html, `a\u202e\u200bb&lt;script&gt;\u00a0😀\udb40\udc41`)
	html = text(t, b.do(http.MethodGet, b.path("q"), nil))
	require.Contains(t, html, "ab&lt;script&gt;x&lt;/script&gt;")
	require.NotContains(t, html, "\u202e")
	require.NotContains(t, html, "\u2066")
}

// TestSeverityIsAWord: how much a decision weighs and which option is dangerous is said in words, in the list, too; a
// severity that a model has made up is a short line of text.
func TestSeverityIsAWord(t *testing.T) {
	t.Parallel()
	asked := func(severity string) pagetest.Named {
		return pagetest.Named{Name: severity, Wait: echo.Wait{Kind: echo.WaitDecision, Form: &echo.Form{
			Kind: echo.FormChoice, Question: "Go?", Severity: severity, Options: []echo.Option{{ID: "go", Style: "danger"}, {ID: "slowly", Style: "warning"}, {ID: "no", Style: "success"}},
		}}}
	}
	made := "<b>\u202e" + strings.Repeat("x", 60)
	b := newBench(t, []pagetest.Named{asked("critical"), asked("warning"), asked("info"), asked(made), asked("")})
	b.login()
	for severity, want := range map[string]string{
		"critical": `<span class="kind danger">Severity: critical</span>`, "warning": `<span class="kind warning">Severity: warning</span>`,
		"info": `<span class="kind ">Severity: info</span>`, made: `<span class="kind ">Severity: &lt;b&gt;` + strings.Repeat("x", 37) + `...</span>`,
	} {
		for _, path := range []string{b.path(severity), "/waits"} {
			require.Contains(t, text(t, b.do(http.MethodGet, path, nil)), want, path)
		}
	}
	html := text(t, b.do(http.MethodGet, b.path(""), nil))
	require.NotContains(t, html, "Severity")
	require.Regexp(t, `>go</bdi> <span class="kind danger">danger</span>`, html)
	require.Regexp(t, `>slowly</bdi> <span class="kind warning">warning</span>`, html)
	require.Contains(t, html, `>no</bdi></span>`)
}

// TestUnknown: what is not there is said, without what was asked for.
func TestUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t, pagetest.All())
	b.login()
	for _, path := range []string{"/waits/0000000000", "/waits/%3Cscript%3E", "/waits/a/b", "/artifacts/x", "/artifacts/ship/0000000000", "/page/", "/page/none"} {
		r := b.do(http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, r.StatusCode, path)
		require.NotContains(t, text(t, r), "<script>", path)
	}
	r := b.do(http.MethodPost, b.path("text"), url.Values{"answer": {strings.Repeat("x", 3<<20)}})
	require.Equal(t, http.StatusRequestEntityTooLarge, r.StatusCode)
}

// withOutput is a desk whose decisions are on an output.
type withOutput struct{ page.Desk }

func (d withOutput) Find(ctx context.Context, id string) (*waits.Wait, error) {
	w, err := d.Desk.Find(ctx, id)
	if err == nil {
		w.Output = "The draft.<script>\u202e"
	}
	return w, err
}

// A decision shows the output that it is on.
func TestDecisionShowsItsOutput(t *testing.T) {
	t.Parallel()
	asks := pagetest.Named{Name: "decide", Wait: echo.Wait{Kind: echo.WaitDecision, Form: &echo.Form{Kind: echo.FormChoice, Question: "Fine?", Options: []echo.Option{{ID: "yes"}}, Feedback: true}}}
	b := newBench(t, []pagetest.Named{asks})
	b.login()
	require.NotContains(t, text(t, b.do(http.MethodGet, b.path("decide"), nil)), "The output", "it has none")
	var err error
	b.page, err = page.New(page.Options{Desk: withOutput{page.OfHome(b.desk, func() {})}, By: "ann", Now: b.desk.Now})
	require.NoError(t, err)
	b.login()
	html := text(t, b.do(http.MethodGet, b.path("decide"), nil))
	require.Contains(t, html, `<h2 id="output">The output</h2>`)
	require.Contains(t, html, ">The draft.&lt;script&gt;<")
}
