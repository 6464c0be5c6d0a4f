//go:build unix

package browser

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab"
)

const (
	hello = `{
  "cascade_id": "hello",
  "inputs_schema": {"topic": "what the text is about"},
  "phases": [
    {
      "name": "draft",
      "instructions": "Write about {{ input.topic }}."
    },
    {"name": "check", "instructions": "Check it."}
  ]
}
`
	helloScript = `{"phases": {"draft": [{"text": "Boats."}], "check": [{"text": "It is good."}]}}`
	helloYAML   = "cascade_id: lines\nphases:\n  - name: draft\n    instructions: |\n      Write.\n    rules:\n      max_turns: 2\n"
)

// authoring is windlass ui over cascades, and a browser that keeps which rules of the page's policy were broken.
func authoring(t *testing.T) (*site, *tab) {
	t.Helper()
	w := lab.New(t, theBinary)
	w.Memory = 0
	w.File("cascades/hello.json", hello)
	w.File("cascades/hello.script.json", helloScript)
	w.File("cascades/lines.yaml", helloYAML)
	w.File("cascades/broken.json", `{"cascade_id": "broken", "phases": [{"name": "a", "instructons": "x"}]}`)
	s := newServed(t, w, w.UI("--no-clickhouse", "--edit"))
	b := newTab(t)
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `document.addEventListener("securitypolicyviolation", (e) => sessionStorage.setItem("broken", (sessionStorage.getItem("broken") ?? "") + e.violatedDirective + " " + e.sourceFile + ":" + e.lineNumber + "\n"))`,
	})
	b.open(s.newAddress())
	return s, b
}

// shadow is the root of the editor.
const shadow = `document.getElementById("editor").shadowRoot`

func (b *tab) ctrl(keys string, more ...chromedp.Modifier) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(append(more, chromedp.ModifierCtrl)...)))
}

// enterKey presses Enter as a keyboard does: an editor that takes the key gets no character after it.
func (b *tab) enterKey() {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, NativeVirtualKeyCode: 13})
	}
}

// accept takes an option of the completion that is shown, or is about to be. For 75 ms a list takes no key: what a person types
// in that moment is not meant for it.
func (b *tab) accept(option string) {
	b.t.Helper()
	b.until(shadow + `.querySelector(".cm-tooltip-autocomplete [aria-selected]")?.innerText === "` + option + `"`)
	b.do(chromedp.Evaluate[chromedp.Void]("window.listed = performance.now()"))
	b.until("performance.now() - window.listed > 80")
	b.enterKey()
	b.until(shadow + `.querySelector(".cm-tooltip-autocomplete") === null`)
}

// TestAuthoring writes a cascade by the keyboard alone: a mistake is shown while it is typed, keys are completed, the text is
// saved and run, and the run is shown. No rule of the page's policy is broken, and axe has no serious finding.
func TestAuthoring(t *testing.T) {
	s, b := authoring(t)
	b.open(s.base + "/cascades")
	require.Contains(t, js[string](b, "document.body.innerText"), "cascades/hello.json")
	require.Empty(t, b.axe(), "list")
	b.picture("authoring-list")
	b.small("list")
	b.to("cascades/hello.json")
	b.submit()

	b.until(shadow + ` !== null && document.getElementById("state").textContent === "ok"`)
	require.Empty(t, b.axe(), "file")
	b.picture("authoring-file")
	b.small("file")
	b.to("editor")
	toInstructions := func() {
		b.ctrl(kb.Home)
		b.press(strings.Repeat(kb.ArrowDown, 6) + kb.End)
	}
	toInstructions()
	b.press(",")
	b.enterKey()
	b.press(`"instructons": "x"`)
	b.until(`document.getElementById("found").innerText.includes("instructons")`)
	b.until(shadow + `.querySelector(".cm-lint-marker-error") !== null`)
	require.Contains(t, b.text("#state"), "error")
	b.picture("authoring-mistake")
	b.ctrl("k", chromedp.ModifierShift)
	toInstructions()
	b.enterKey()
	b.press(`"tem`)
	b.until(shadow + `.querySelector(".cm-tooltip-autocomplete")?.innerText.includes("temperature")`)
	b.picture("authoring-completion")
	b.accept("temperature")
	b.until(shadow + `.querySelector(".cm-content").innerText.includes("\"temperature\": ")`)
	b.press("0.5")
	b.until(`document.getElementById("state").textContent === "ok"`)
	require.Empty(t, b.axe(), "editor")
	b.to("Save")
	b.submit()
	require.Equal(t, "Saved.", b.text(".note.good"))
	text, err := os.ReadFile(s.Path("cascades/hello.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\"instructions\": \"Write about {{ input.topic }}.\",\n      \"temperature\": 0.5\n    },")

	b.to("input-0")
	b.press("boats")
	b.to("Run")
	b.submit()
	require.True(t, strings.HasPrefix(js[string](b, "location.pathname"), "/sessions/"), js[string](b, "document.body.innerText"))
	b.until(`document.querySelector("h1").innerText.includes("completed") || document.getElementById("live")?.innerText.includes("The run has stopped.")`)
	b.keepsPolicy()
}

// keepsPolicy fails when a rule of the page's policy was broken, and when that would not have been seen.
func (b *tab) keepsPolicy() {
	b.t.Helper()
	const broken = `sessionStorage.getItem("broken") ?? ""`
	require.Empty(b.t, js[string](b, broken), "the policy of the page")
	b.do(chromedp.Evaluate[chromedp.Void](`document.body.setAttribute("style", "color: red")`))
	b.until("(" + broken + `).startsWith("style-src")`)
}

// TestAuthoringLines completes keys and values of YAML, and goes to what is wrong from the list below the text.
func TestAuthoringLines(t *testing.T) {
	s, b := authoring(t)
	b.open(s.base + "/cascades/cascades/lines.yaml")
	b.until(`document.getElementById("editor").className === "on" && document.getElementById("state").textContent === "ok"`)
	b.to("editor")
	b.ctrl(kb.End)
	complete := func(typed, option string) {
		t.Helper()
		b.press(typed)
		b.ctrl(" ")
		b.accept(option)
	}
	complete("    use_nat", "use_native_tools")
	complete("", "true")
	b.enterKey()
	complete("on_", "on_error")
	b.press(" nowhere")
	b.until(`document.getElementById("found").innerText.includes("nowhere")`)
	b.to("9:15: go to line 9, column 15")
	b.press(kb.Enter)
	b.until(shadow + `.activeElement !== null`)
	b.press("draft")
	b.until(`document.getElementById("found").innerText.includes("draftnowhere")`)
	b.keepsPolicy()
}

// TestAuthoringWithoutScripts writes, checks, saves and runs a text where a browser runs no scripts.
func TestAuthoringWithoutScripts(t *testing.T) {
	s, b := authoring(t)
	call(b, setScripts, scriptsOff)
	b.open(s.base + "/cascades/cascades/hello.json")
	require.Empty(t, b.text("#keys"))
	write := func(text string) {
		t.Helper()
		b.to("text")
		b.ctrl("a")
		call(b, input.InsertText, input.InsertTextParams{Text: text})
	}
	write(strings.Replace(hello, "instructions", "instructons", 1))
	b.picture("authoring-plain")
	b.small("without scripts")
	b.to("Check")
	b.submit()
	require.Contains(t, b.text("#found"), "instructons")
	b.to("Save")
	b.submit()
	require.Contains(t, b.text(".note.bad"), "the text has errors, and is not saved with them.")
	write(strings.Replace(hello, "Check it.", "Check it twice.", 1))
	b.to("Save")
	b.submit()
	require.Equal(t, "Saved.", b.text(".note.good"))
	b.to("input-0")
	b.press("boats")
	b.to("Run")
	b.submit()
	require.True(t, strings.HasPrefix(js[string](b, "location.pathname"), "/sessions/"), js[string](b, "document.body.innerText"))
}

// allOfAxe returns every finding of axe with the rules that it has by itself, also those that it does not call serious.
func (b *tab) allOfAxe() []string {
	b.t.Helper()
	b.axe() // which is loaded by then
	return js[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target.flat() + " " + n.html.slice(0, 160))))`)
}

// TestAuthoringAxe has axe look at texts that are longer than their frame, and at the buttons that lead to what is wrong in them.
func TestAuthoringAxe(t *testing.T) {
	s, b := authoring(t)
	s.File("cascades/long.json", strings.Replace(hello, `"draft"`, `"draft", "instructons": "x"`, 1)+strings.Repeat("\n", 200))
	s.File("cascades/long.yaml", helloYAML+"    instructons: x\n"+strings.Repeat("\n", 200))
	for _, address := range []string{"", "/cascades/long.json", "/cascades/long.yaml", "/new?name=cascades/fresh.json", "/new?name=a.txt"} {
		b.open(s.base + "/cascades" + address)
		if strings.HasPrefix(address, "/cascades") {
			b.until(shadow + ` !== null && document.querySelector("#found button") !== null`)
			require.True(t, js[bool](b, shadow+`.querySelector(".cm-scroller").scrollHeight > `+shadow+`.querySelector(".cm-scroller").clientHeight`))
		}
		require.Empty(t, b.allOfAxe(), address)
		b.small(address)
	}
	b.keepsPolicy()
}

// TestAuthoringDraft: a text that was written while the login ended is offered again when the file is opened again, and is no
// draft any more when it was saved.
func TestAuthoringDraft(t *testing.T) {
	s, b := authoring(t)
	const file = "/cascades/cascades/hello.json"
	shown := `document.getElementById("editor").className === "on" && `
	b.open(s.base + file)
	b.until(shown + `document.getElementById("state").textContent === "ok"`)
	b.to("editor")
	b.ctrl(kb.Home)
	b.press(kb.ArrowDown + kb.End)
	b.enterKey()
	b.press(`"description": "My words.",`)
	b.until(shadow + `.querySelector(".cm-content").innerText.includes("My words.") && document.getElementById("state").textContent === "ok"`)
	js[int](b, `fetch("/page/leave", {method: "POST", body: new URLSearchParams({token: document.querySelector(".bar [name=token]").value})}).then((r) => r.status)`)
	b.press(" ")
	b.until(`document.getElementById("state").textContent.startsWith("This page was closed: the text is not checked, and cannot be saved. This tab keeps it as a draft")`)
	b.to("Save")
	b.submit()
	require.Contains(t, js[string](b, "document.body.innerText"), "Open the page again.")

	b.open(s.newAddress())
	b.open(s.base + file)
	b.until(shown + `!document.getElementById("draft").hidden`)
	require.NotContains(t, js[string](b, shadow+`.querySelector(".cm-content").innerText`), "My words.")
	require.Empty(t, b.allOfAxe(), "draft")
	b.picture("authoring-draft")
	b.small("draft")
	b.to("useDraft")
	b.press(kb.Enter)
	b.until(shadow + `.querySelector(".cm-content").innerText.includes("My words.")`)
	b.to("Save")
	b.submit()
	require.Equal(t, "Saved.", b.text(".note.good"))
	text, err := os.ReadFile(s.Path("cascades/hello.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"description": "My words.",`)
	b.until(shown + `document.getElementById("state").textContent === "ok"`)
	require.True(t, js[bool](b, `document.getElementById("draft").hidden && sessionStorage.getItem("draft of cascades/hello.json") === null`))
	b.keepsPolicy()
}

// TestAuthoringHidden: the live check says which character that is not seen was pasted, and where; Save says it, too, and keeps the text.
func TestAuthoringHidden(t *testing.T) {
	s, b := authoring(t)
	b.open(s.base + "/cascades/cascades/hello.json")
	b.until(shadow + ` !== null && document.getElementById("state").textContent === "ok"`)
	b.to("editor")
	b.ctrl(kb.Home)
	b.press(kb.ArrowDown + kb.End + kb.ArrowLeft + kb.ArrowLeft)
	call(b, input.InsertText, input.InsertTextParams{Text: "\u200bpasted"})
	b.until(`document.getElementById("found").innerText.includes("U+200B (zero width space) is a character that is not seen")`)
	require.Contains(t, b.text("#found"), "2:23")
	b.to("Save")
	b.submit()
	require.Contains(t, b.text(".note.bad"), "The text has characters that are not seen: U+200B (zero width space) at 2:23. Nothing was changed.")
	b.until(shadow + ` !== null && ` + shadow + `.querySelector(".cm-content").innerText.includes("pasted")`)
	b.picture("authoring-hidden")
	s.File("cascades/hello.json", strings.Replace(hello, "Check it.", "Check it well.", 1))
	b.to("editor")
	b.press("x")
	b.until(`document.getElementById("fileNote").textContent === "The file has changed since it was opened here."`)
	b.keepsPolicy()
}

// TestAuthoringNew begins a cascade in the list; it is a file when it is saved.
func TestAuthoringNew(t *testing.T) {
	s, b := authoring(t)
	b.open(s.base + "/cascades")
	b.to("name")
	b.press("cascades/fresh.txt")
	b.submit()
	require.Contains(t, b.text(".note.bad"), "cascades/fresh.txt does not end in .json, .yaml or .yml.")
	b.picture("authoring-refused")
	b.small("refused")
	b.open(s.base + "/cascades")
	b.to("name")
	b.press("cascades/fresh.json")
	b.submit()
	b.until(shadow + ` !== null && document.getElementById("state").textContent === "ok"`)
	b.picture("authoring-new")
	require.NoFileExists(t, s.Path("cascades/fresh.json"))
	b.to("Save")
	b.submit()
	require.Equal(t, "Saved.", b.text(".note.good"))
	require.FileExists(t, s.Path("cascades/fresh.json"))
	b.keepsPolicy()
}
