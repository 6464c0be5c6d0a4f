//go:build unix

package browser

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab"
)

// axe returns what the rules of axe find serious or critical on the page that is shown. The browser takes its script from
// its debugger, which the policy of the page does not stop.
func (b *tab) axe() []string {
	b.t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "axe", "axe.min.js"))
	require.NoError(b.t, err)
	call(b, runtime.Evaluate, runtime.EvaluateParams{Expression: string(source) + ";undefined"})
	return js[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
		.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 160))))`)
}

// slow has a tool that ends when a file is there, so that the page can be looked at while the run goes on.
const slow = `{"cascade_id": "slow", "tools": [{"tool_id": "hold", "type": "shell", "description": "Waits.", "inputs_schema": {"dir": "a folder"},
	"command": "until test -e {{ dir }}/gate; do sleep 0.02; done; echo open"}],
	"phases": [{"name": "draft", "tool": "hold", "inputs": {"dir": "{{ session.work_dir }}"}}, {"name": "after", "instructions": "Say <b>done</b>."}]}`

const slowScript = `{"phases": {"after": [{"text": "<img src=x onerror=alert(1)> done"}]}}`

// inspected is a server with runs to look at.
func inspected(t *testing.T) (*site, *tab) {
	t.Helper()
	w := lab.New(t, theBinary)
	w.Memory = 0
	w.File("cascades/slow.json", slow)
	w.File("cascades/slow.script.json", slowScript)
	example, err := filepath.Abs("../../examples/cascades")
	require.NoError(t, err)
	o := w.Run("run", filepath.Join(example, "incident_review.json"), "--offline", "--no-clickhouse", "--price-as", "gpt-5-mini", "--session", "incident", "--quiet")
	require.Equal(t, 0, o.Code, "%s", o.Err)
	s := newServed(t, w, w.Serve("--no-clickhouse", "--offline", "--allow-commands", "--root", "cascades"))
	b := newTab(t)
	b.open(s.newAddress())
	return s, b
}

// TestInspector opens every screen of a session: nothing fails in the browser, axe has no serious finding, nothing is
// wider than a small screen, and pictures are written where they are asked for.
func TestInspector(t *testing.T) {
	s, b := inspected(t)
	s.fits(b, []screen{
		{"runs", "/", "incident"},
		{"run", "/sessions/incident", "Timeline"},
		{"flame", "/sessions/incident?by=uncached", "Uncached money"},
		{"part", "/sessions/incident?part=read", "The whole run"},
		{"matrix", "/sessions/incident/matrix", "Calls 1 to 12 of 12"},
		{"calls", "/sessions/incident/calls", "read/attempt1/turn7"},
		{"sent", "/sessions/incident/calls/read/attempt1/turn7/model", "are equal"},
		{"raw", "/sessions/incident/calls/7?raw=1", `"role"`},
		{"bill", "/sessions/incident/bill", "Same answers assumed."},
		{"cost", "/cost", "Cost"},
		{"memory", "/memory", "Memory"},
		{"grants", "/grants", "There are no grants."},
		{"waits", "/waits", "Nothing waits."},
	})
	b.open(s.base + "/sessions/incident/bill")
	b.until(`document.querySelectorAll(".chart canvas").length === 1`)
	b.open(s.base + "/sessions/incident/calls/7")
	b.open(js[string](b, `document.querySelector(".message a[href*='/life/']").href`))
	require.Contains(t, js[string](b, "document.body.innerText"), "In which calls, how and why")
	require.Empty(t, b.axe(), "life")
	b.picture("inspector-life")
}

// TestInspectorByKeyboard goes from the list of runs to a request and to the life of a message by the keyboard alone.
func TestInspectorByKeyboard(t *testing.T) {
	s, b := inspected(t)
	b.open(s.base + "/")
	b.to("incident")
	b.submit()
	b.to("Requests")
	b.submit()
	require.Equal(t, s.base+"/sessions/incident/calls", js[string](b, "location.href"))
	b.to("read/attempt1/turn1")
	b.submit()
	b.to("Next")
	b.submit()
	require.True(t, strings.HasSuffix(js[string](b, "location.href"), "/calls/read/attempt1/turn2/model"))
}

// TestInspectorLive starts a run, watches it on its screen without loading the page again, cancels and resumes it there.
func TestInspectorLive(t *testing.T) {
	s, b := inspected(t)
	b.open(s.base + "/")
	b.do(chromedp.Evaluate[chromedp.Void]("window.before = true"))
	begin, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/api/runs", strings.NewReader(`{"file": "slow.json", "session_id": "watched"}`))
	require.NoError(t, err)
	begin.Header.Set("Authorization", "Bearer "+strings.TrimSpace(s.Run("serve", "token").Out))
	begin.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(begin)
	require.NoError(t, err)
	require.NoError(t, a.Body.Close())
	require.Equal(t, http.StatusCreated, a.StatusCode)
	b.until(`document.getElementById("listed").innerText.includes("watched")`) // the list of runs follows them, too
	require.True(t, js[bool](b, "window.before"), "the page was not loaded again")
	b.open(s.base + "/sessions/watched")
	b.do(chromedp.Evaluate[chromedp.Void]("window.before = true"))
	b.until(`document.querySelector("[data-live]") !== null`)
	require.NotContains(t, b.text("#visits"), "after")
	require.NoError(t, os.WriteFile(filepath.Join(s.Home, "sessions", "watched", "work", "gate"), nil, 0o600))
	b.until(`document.getElementById("live").innerText.includes("The run has stopped.")`)
	require.True(t, js[bool](b, "window.before"), "the page was not loaded again")
	b.until(`document.getElementById("visits").innerText.includes("after")`)
	b.until(`document.querySelector("h1").innerText.includes("completed") && document.querySelector("form[action$='/cancel']") === null`)
	require.True(t, js[bool](b, "window.before"))
	b.open(s.base + "/sessions/watched")
	b.to("place")
	b.press("after")
	b.to("Fork")
	b.submit()
	forked := js[string](b, "location.pathname")
	require.True(t, strings.HasPrefix(forked, "/sessions/") && forked != "/sessions/watched", forked)
	b.until(`document.querySelector("h1").innerText.includes("completed") || document.getElementById("live").innerText.includes("The run has stopped.")`)
}
