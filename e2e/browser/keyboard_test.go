//go:build unix

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/server/page/pagetest"
)

// focused says what has the focus: what it is called, and what it is.
const focused = `(() => { const e = document.activeElement; if (!e || e === document.body) return "";
	const name = e.labels?.length ? e.labels[0].innerText : e.getAttribute("aria-label") ?? e.innerText ?? "";
	return (e.id || e.value && e.type === "radio" && e.name + "=" + e.value || e.value && e.type === "checkbox" && e.name + "=" + e.value || name.trim().split("\n")[0]); })()`

// described is what a screen reader says of what has the focus: the name and the description.
const described = `["labelledby", "describedby"].map(a => document.getElementById(document.activeElement.getAttribute("aria-" + a)).innerText).join(": ")`

// press presses keys.
func (b *tab) press(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }

// to presses Tab until something has the focus. What has it can be seen: the focus is drawn.
func (b *tab) to(what string) {
	b.t.Helper()
	var met []string
	for range 40 {
		b.press(kb.Tab)
		at := js[string](b, focused)
		require.NotEqual(b.t, "none", js[string](b, `(() => { const e = document.activeElement; const drawn = e.closest(".pick") ?? e;
			return e === document.body ? "body" : getComputedStyle(drawn).outlineStyle; })()`), "the focus on %s cannot be seen", at)
		if at == what {
			return
		}
		met = append(met, at)
	}
	require.Fail(b.t, "Tab does not come to "+what, "%q", met)
}

// submit presses Enter, and waits for the page that follows.
func (b *tab) submit() {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void]("window.before = true"))
	b.press(kb.Enter)
	b.until("document.readyState === 'complete' && !window.before")
}

// until waits for an expression to be true.
func (b *tab) until(expression string) {
	b.t.Helper()
	for b.ctx.Err() == nil {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression)) // fails while a page goes and another one comes
		if err == nil && ok {
			return
		}
	}
	require.Fail(b.t, "it does not come true: "+expression)
}

// TestByKeyboard answers a wait of each kind by the keyboard alone, from the list on.
func TestByKeyboard(t *testing.T) {
	s := newSite(t, pagetest.All())
	b := enter(t, s)
	type object = map[string]any
	for _, tt := range []struct {
		name string
		do   func()
		want any
	}{
		{"confirmation", func() { b.to("Yes") }, true},
		{"choice", func() { b.to("answer=now"); b.press(" " + kb.ArrowDown); b.to("Send") }, "later"},
		{"multi_choice", func() { b.to("answer=eu"); b.press(" "); b.to("answer=ap"); b.press(" "); b.to("Send") }, []any{"eu", "ap"}},
		{"rating", func() { b.to("answer=1"); b.press(" " + kb.ArrowRight + kb.ArrowRight); b.to("Send") }, "3"},
		{"text", func() { b.to("answer"); b.press("Thank you\nall"); b.to("Send") }, "Thank you\nall"},
		{"form", func() {
			b.to("field.who")
			b.press("ann")
			b.to("field.when=now")
			b.press(" ")
			b.to("field.where=blog")
			b.press(" ")
			b.to("field.sure=yes")
			b.press(" " + kb.ArrowRight)
			b.to("Send")
		}, object{"who": "ann", "when": "now", "where": []any{"blog"}, "sure": false}},
		{"review", func() { b.to("feedback"); b.press("too long"); b.to("It is not right") }, object{"approved": false, "feedback": "too long"}},
		{"candidates", func() { b.to("answer=A"); b.press(" " + kb.ArrowDown); b.to("why"); b.press("warm"); b.to("Send") }, object{"winner": "B", "why": "warm"}},
		{"ranking", func() {
			for i, place := range []string{"2", "3", "1"} {
				b.to(fmt.Sprintf("rank-%d", i))
				b.press(place)
			}
			b.to("why")
			b.press("short")
			b.to("Send")
		}, object{"ranking": []any{"C", "A", "B"}, "why": "short"}},
		{"ratings", func() {
			for i, label := range []string{"A", "B", "C"} {
				b.to(fmt.Sprintf("tab-%d", max(i-1, 0)))
				if i > 0 {
					b.press(kb.ArrowRight)
				}
				b.to("rate." + label + "=1")
				b.press(" " + kb.ArrowRight)
				if i < 2 { // back to the tabs
					b.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur(); document.getElementById('main').focus()"))
				}
			}
			b.to("Send")
		}, nil},
		{"approval", func() { b.to("this call"); b.to("Allow") }, object{"decision": "allow"}},
	} {
		b.open(s.base + "/waits")
		b.to(linkOf(s, tt.name))
		b.submit()
		require.Equal(t, s.url(tt.name), js[string](b, "location.href"))
		tt.do()
		b.submit()
		require.Equal(t, s.url(tt.name)+"?answered", js[string](b, "location.href"), "%s: %s", tt.name, b.text("main"))
		b.until(`document.querySelector("[role=status]:focus") !== null`) // a page that is shown has the focus a moment later
		require.Contains(t, b.text("[role=status]:focus"), "Your answer counts: answered by ", tt.name)
		a := s.answered(tt.name)
		require.NotNil(t, a, tt.name)
		require.Equal(t, echo.ViaPage, a.Via)
		require.NotEmpty(t, a.By)
		if tt.want != nil {
			require.Equal(t, fmt.Sprint(tt.want), fmt.Sprint(a.Value), tt.name)
		}
	}
	require.Contains(t, fmt.Sprint(s.answered("ratings").Value), "ratings:map[A:2 B:2 C:2]")
	b.open(s.url("confirmation"))
	b.picture("answered")
}

// linkOf returns what the list calls a wait. Those that have one name are told apart by their order.
func linkOf(s *site, name string) string { return "wait-" + pagetest.ID(s.list, name) }

// TestEditByKeyboard edits a call: what changes is shown before it is sent, and nothing is sent without.
func TestEditByKeyboard(t *testing.T) {
	s := newSite(t, []pagetest.Named{pagetest.Approval()})
	b := enter(t, s)
	b.open(s.url("approval"))
	b.to("arguments")
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.press(`{"to": "moon"}`)
	b.to("Show what changes")
	b.submit()
	require.Contains(t, b.text("[role=alert]"), "The answer was not taken: the arguments do not match the schema of deploy: ")
	require.Nil(t, s.answered("approval"))
	b.to("arguments")
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.press(`{"to": "staging", "version": "1.4.0"}`)
	b.to("Show what changes")
	b.submit()
	require.Nil(t, s.answered("approval"))
	b.golden("edit")
	b.picture("edit")
	require.Equal(t, []string{`-   "regions": [`, `-     "eu",`, `-     "us"`, `-   ],`, `-   "to": "prod",`, `+   "to": "staging",`},
		js[[]string](b, `[...document.querySelectorAll(".diff del, .diff ins")].map(e => e.innerText)`))
	require.Equal(t, "edited", js[string](b, focused), "what changes has the focus: it is read first")
	require.Equal(t, "What changes: Nothing was sent yet. 5 lines are removed, 1 is added.", js[string](b, described))
	b.press(kb.Enter) // of somebody who presses Enter once more than needed
	b.press(" ")
	require.Equal(t, "edited", js[string](b, focused))
	require.Nil(t, s.answered("approval"), "an edit was sent that nobody has read")
	b.press(kb.Tab)
	require.Equal(t, "The arguments with what changes", js[string](b, focused), "which can be scrolled")
	b.press(kb.Tab)
	require.Equal(t, "Run with these arguments", js[string](b, focused))
	b.submit()
	require.Equal(t, map[string]any{"decision": "edit", "arguments": map[string]any{"to": "staging", "version": "1.4.0"}}, s.answered("approval").Value)
	require.Equal(t, pagetest.Approval().Wait.Shown, s.answered("approval").Shown)
}

// TestWithoutScript: the forms work in a browser that runs no scripts.
func TestWithoutScript(t *testing.T) {
	s := newSite(t, pagetest.All())
	b := enter(t, s)
	call(b, setScripts, scriptsOff)
	b.open(s.url("text"))
	b.to("answer")
	b.press("plain")
	b.to("Send")
	b.press(kb.Enter)
	b.until("location.search === '?answered' && document.readyState === 'complete'")
	require.Equal(t, "plain", s.answered("text").Value)
}
