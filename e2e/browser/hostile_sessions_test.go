//go:build unix

package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
	"github.com/windlass-run/windlass/internal/server/page/pagetest"
)

// watching has the browser keep what a hostile text could do on a page: a dialog, something that the policy of the page stopped,
// another title, a script or a frame of its own, a link out of windlass.
const watching = `
	globalThis.harm = [];
	for (const name of ["alert", "confirm", "prompt", "open"]) globalThis[name] = () => { harm.push(name); };
	addEventListener("securitypolicyviolation", (e) => harm.push("stopped by the policy: " + e.violatedDirective + " " + e.blockedURI));
	addEventListener("error", (e) => harm.push("error: " + e.message), true);`

const harmless = `[...harm,
	...[...document.querySelectorAll("script, link, img, iframe, object, embed, base, form, a, area, style, template, noscript, math")].flatMap((e) => {
		const said = e.src || e.action || e.href?.baseVal || e.href || "", to = new URL(said, location.href).href;
		if (e.id === "picture" && said.startsWith("data:image/svg+xml;base64,")) return [];
		return e.matches("a, form, script[src], link") && (to.startsWith(location.origin + "/") || said === "data:,") ? [] : [e.outerHTML.slice(0, 200)];
	}),
	...(document.title.endsWith(" · windlass") && document.querySelectorAll("main").length === 1 && document.querySelectorAll("h1").length === 1 ? [] : ["another page: " + document.title]),
	...[...document.querySelectorAll("*")].flatMap((e) => [...e.attributes].filter((a) => a.name.startsWith("on") || a.name === "style" && !e.closest(".chart, .wholeMatrix")).map((a) => e.tagName + " has " + a.name)),
]`

// TestHostileSessions: whatever models, tools and files have said in a session, nothing of it runs on its screens, and they stay what
// they are.
func TestHostileSessions(t *testing.T) {
	w := lab.New(t, theBinary)
	w.Memory = 0
	var entries []*echo.Entry
	texts := inspectortest.Hostile()
	for i, text := range texts {
		entries = append(entries, inspectortest.ConversationOf(i+1, strings.ToValidUTF8(text, "\uFFFD"))...)
	}
	inspectortest.Write(t, w.Home, "hostile", entries...)
	s := newServed(t, w, w.Serve("--no-clickhouse"))
	b := newTabWithin(t, 10*lab.Bound)
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watching})
	b.open(s.newAddress())

	base := s.base + "/sessions/hostile"
	addresses := []string{s.base + "/", base, base + "?by=tokens", base + "/matrix", base + "/calls", base + "/bill"}
	for i := range texts {
		request := fmt.Sprintf("%s/calls/%d", base, 2*i+2)
		addresses = append(addresses, request, request+"?raw=1")
		if i%10 == 0 {
			addresses = append(addresses, base+"/life/"+string(entries[7*i+3].Message.Hash()))
		}
	}
	b.harmless(addresses)
	require.Greater(t, len(addresses), 100)

	for _, harm := range []string{ // which the test would have seen
		`document.body.append(document.createElement("script"))`, `alert(1)`, `document.body.append(document.createElement("main"))`, `document.title = "owned"`,
		`document.body.setAttribute("style", "color: red")`, `document.querySelector("main").append(Object.assign(document.createElement("a"), {href: "https://evil.example/"}))`,
	} {
		b.open(base)
		js[int](b, harm+`, 1`)
		require.NotEmpty(t, js[[]string](b, harmless), harm)
	}
}

// harmless fails when a text does something on a page, or makes it wider than the screen.
func (b *tab) harmless(addresses []string) {
	b.t.Helper()
	for _, at := range addresses {
		b.open(at)
		require.Empty(b.t, js[[]string](b, harmless), at)
		require.LessOrEqual(b.t, js[int](b, "document.documentElement.scrollWidth"), 1280, "%s is wider than the screen", at)
	}
}

// hostileRecords puts into a home, for each text, a run of a cascade that is called so, a grant for a tool that is called so, and a
// file of a bank that says so.
func hostileRecords(t *testing.T, w *lab.World, texts []string) {
	t.Helper()
	began := time.Now().Add(-time.Hour).UTC()
	kept := 0
	for i, text := range texts {
		text = strings.ToValidUTF8(text, "\uFFFD")
		cascade, err := json.Marshal(map[string]any{"cascade_id": text, "tags": []string{text}, "phases": []any{}})
		require.NoError(t, err)
		id := fmt.Sprint("named", i)
		j, err := journal.Create(config.SessionDir(w.Home, id), journal.Header{SessionID: id, Rules: 1, StartedAt: began, Cascade: cascade, Input: []byte(`{}`)})
		require.NoError(t, err)
		e := echo.NewEntry(echo.MustKey("run/end"), echo.RunEnd{Status: echo.StatusFailed, Output: text})
		e.SessionID, e.Seq, e.At, e.CascadeID = id, 1, began, text
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
		require.NoError(t, j.Close(t.Context()))
		require.NoError(t, mailbox.Grants{Dir: config.GrantsDir(w.Home)}.Give(mailbox.Grant{ID: fmt.Sprint("grant", i), Scope: echo.GrantCascade, Tool: text, Cascade: "1", Name: text, Session: id, By: text, Via: echo.ViaPage, At: began}))
		desk := memories.Open(w.Home, w.Dir, text)
		draft, err := desk.Draft("notes", fmt.Sprintf("/memories/%d.md", i))
		require.NoError(t, err)
		if _, err := desk.Put(t.Context(), draft, text); err == nil { // what is no text is refused
			kept++
		}
	}
	require.Greater(t, kept, 40)
}

// TestHostileScreens does the same on the screens of candidates, selections, waits, cascades, runs, grants and memory.
func TestHostileScreens(t *testing.T) {
	w := lab.New(t, theBinary)
	w.Memory = 0
	texts := inspectortest.Hostile()
	var addresses []string
	var waits []pagetest.Named
	phases := []map[string]any{}
	for i, text := range texts {
		text = strings.ToValidUTF8(text, "\uFFFD")
		inspectortest.Write(t, w.Home, fmt.Sprint("sounded", i), inspectortest.Sounded(text)...)
		inspectortest.Write(t, w.Home, fmt.Sprint("selected", i), inspectortest.Selected(text)...)
		addresses = append(addresses, fmt.Sprintf("/sessions/sounded%d/candidates/draft?a=1&b=2", i), fmt.Sprintf("/sessions/selected%d/selections/tell/select", i))
		waits = append(waits, pagetest.Named{Name: fmt.Sprint("ask", i), Wait: echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: text, Context: text}}})
		phases = append(phases, map[string]any{"name": fmt.Sprint("p", i), "description": text, "instructions": text})
	}
	w.Must(pagetest.Write(w.Home, waits, nil, time.Now().Add(-time.Hour).UTC()))
	hostileRecords(t, w, texts)
	cascade, err := json.Marshal(map[string]any{"cascade_id": "hostile", "description": strings.Join(texts[:20], " "), "phases": phases})
	require.NoError(t, err)
	w.File("cascades/hostile.json", string(cascade))
	s := newServed(t, w, w.UI("--no-clickhouse", "--edit"), waits...)
	b := newTabWithin(t, 10*lab.Bound)
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watching})
	b.open(s.newAddress())
	for i := range addresses {
		addresses[i] = s.base + addresses[i]
	}
	for i := range texts {
		addresses = append(addresses, s.url(fmt.Sprint("ask", i)))
	}
	b.harmless(append(addresses, s.base+"/waits", s.base+"/cascades", s.base+"/cascades/cascades/hostile.json", s.base+"/?limit=200", s.base+"/grants", s.base+"/memory"))
	b.harmless([]string{js[string](b, `document.querySelector("tbody a[href*='/memory/']").href`)})
	files := js[[]string](b, `[...document.querySelectorAll("tbody th a")].map((a) => a.href)`)
	require.Greater(t, len(files), 40)
	b.harmless(files)
}
