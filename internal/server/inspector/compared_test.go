package inspector_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// TestWhatWasSentInPlaceOfOthers: of a message that another was sent for, the request has what was sent, all of it, and its life the
// original.
func TestWhatWasSentInPlaceOfOthers(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	entries := inspectortest.Conversation("m")
	long := echo.NewText(echo.RoleUser, echo.KindTask, strings.Repeat("in place of it ", 1000)+"the end")
	second := echo.NewText(echo.RoleAssistant, echo.KindAnswer, "and a second one")
	entries[5].Selection.Spans[0].Sent = [][]*echo.Message{{long, second}}
	inspectortest.Write(t, home, "made", entries...)
	b := inspectortest.New(t, home, nil)

	text := b.Open("/sessions/made/calls/2")
	require.Contains(t, text, "and a second one")
	require.NotContains(t, text, "the end")
	require.Contains(t, text, "<a href=\"/sessions/made/calls/2?whole=1\">The whole message, 9\u202f007 characters more</a>")
	raw := b.Open("/sessions/made/calls/2?raw=1")
	require.Contains(t, raw, "in place of it in place of it")
	require.Contains(t, raw, "and a second one", "both are shown")

	for _, address := range []string{"?whole=1", "?raw=1&whole=1"} {
		text = b.Open("/sessions/made/calls/2" + address)
		require.Contains(t, text, "the end", address)
		require.Contains(t, text, "and a second one", address)
		require.NotContains(t, text, "Result: m", "the others are not shown")
	}
	for _, position := range []string{"0", "-1", "9", "x", "1e3"} {
		w := b.Ask(http.MethodGet, "/sessions/made/calls/2?whole="+position, nil)
		require.Equal(t, http.StatusNotFound, w.Code)
		require.Contains(t, w.Body.String(), "The request has no message &#34;"+position+"&#34;.")
	}
}

// TestAgainst: a request can be held against any other; what changed at the end of a long message is shown.
func TestAgainst(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	entries := inspectortest.Conversation("m")
	lines := strings.Repeat("a line\n", 3000)
	entries[1].Message = echo.NewText(echo.RoleUser, echo.KindTask, lines+"old end")
	for _, e := range []*echo.Entry{entries[2], entries[5]} {
		e.Selection.Spans[0].Hashes[0] = entries[1].Message.Hash()
	}
	entries[5].Selection.Spans[0].Sent = [][]*echo.Message{{echo.NewText(echo.RoleUser, echo.KindTask, lines+"new end")}}
	inspectortest.Write(t, home, "made", append(entries, again(entries, 3)...)...)
	b := inspectortest.New(t, home, nil)

	text := b.Open("/sessions/made/calls/2")
	require.Contains(t, text, `<span class="gap">2997 lines the same</span>`)
	require.Regexp(t, `<del><span class="sign">- </span>old end</del>`, text)
	require.Regexp(t, `<ins><span class="sign">\+ </span>new end</ins>`, text)
	require.Contains(t, b.Open("/sessions/made/calls/3"), `Compared with <a href="/sessions/made/calls/draft/attempt1/turn2/model">`)
	text = b.Open("/sessions/made/calls/3?against=1")
	require.Contains(t, text, `Compared with <a href="/sessions/made/calls/draft/attempt1/turn1/model">`)
	require.Contains(t, text, "the first 1 messages are equal")
	require.Contains(t, text, `href="/sessions/made/calls/3?against=1&amp;raw=1"`, "it stays so in the other form")
	require.Contains(t, b.Open("/sessions/made/calls/1?against=draft/attempt1/turn3"), "No longer sent: 3")
	w := b.Ask(http.MethodGet, "/sessions/made/calls/1?against=nowhere", nil)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), "Session made has no model call &#34;nowhere&#34;; it has 3 calls, the nearest are")

	text = b.Open("/sessions/made/calls/2")
	for title, turn := range map[string]int{"First of this conversation": 1, "Before": 1, "Next": 3, "Last": 3} {
		require.Contains(t, text, fmt.Sprintf(`<a href="/sessions/made/calls/draft/attempt1/turn%d/model">%s</a>`, turn, title))
	}
	require.NotContains(t, b.Open("/sessions/made/calls/3"), ">Last</a>")
}

// TestRequestAsJSON: a request can be had as JSON: what it was sent, as the record says it.
func TestRequestAsJSON(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	entries := inspectortest.Conversation("m")
	inspectortest.Write(t, home, "made", entries...)
	b := inspectortest.New(t, home, nil)
	require.Contains(t, b.Open("/sessions/made/calls/2"), `<a href="/sessions/made/request/draft/attempt1/turn2/model" data-server download>JSON</a>`)
	w := b.Ask(http.MethodGet, "/sessions/made/request/draft/attempt1/turn2/model", nil)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, `attachment; filename="request-2.json"`, w.Header().Get("Content-Disposition"))
	r, err := inspect.New("made", entries)
	require.NoError(t, err)
	shown, err := r.Show(&r.Calls[1])
	require.NoError(t, err)
	want, err := json.Marshal(shown)
	require.NoError(t, err)
	require.JSONEq(t, string(want), w.Body.String())
	w = b.Ask(http.MethodGet, "/sessions/made/request/nowhere", nil)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Empty(t, w.Header().Get("Content-Disposition"))
}

// TestMenus: the request by which a model chose what comes into a phase has no links that lead nowhere, and no tools.
func TestMenus(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	menu := echo.NewEntry(echo.MustKey("draft/select/menu"), echo.Menu{Model: "cheap", Messages: []echo.MenuMessage{
		{Role: echo.RoleSystem, Text: "You choose."}, {Role: echo.RoleUser, Text: "m1 | assistant"},
	}})
	answer := &echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("draft/select/model"), Model: "cheap", Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, `{"ids":["m1"]}`)}
	inspectortest.Write(t, home, "made", append(inspectortest.Conversation("m"), menu, answer)...)
	b := inspectortest.New(t, home, nil)
	text := b.Open("/sessions/made/calls/draft/select/model")
	require.Contains(t, text, "m1 | assistant")
	require.Contains(t, text, `{&#34;ids&#34;:[&#34;m1&#34;]}`)
	require.NotContains(t, text, "/life/")
	require.Contains(t, b.Open("/sessions/made/calls/draft/select/model?against=1"), "No longer sent: 1")
}

// TestOfferedTools: a request names the tools that its phase offers, those of windlass among them.
func TestOfferedTools(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, x := range []struct{ journal, call, tools string }{
		{"rules2/fix_until_green", "fix/attempt1/turn1", "list_files; read_file, called once by the answer; write_file; go_test, called once by the answer"},
		{"rules2/rules2", "judge/attempt1/turn1", "route_to"},
	} {
		base := "/sessions/" + inspectortest.Copy(t, home, frozen+"/"+x.journal+".jsonl")
		text := inspectortest.New(t, home, nil).Open(base + "/calls/" + x.call)
		var got []string
		for _, m := range offeredTool.FindAllStringSubmatch(text, -1) {
			got = append(got, m[1]+m[2])
		}
		require.Equal(t, x.tools, strings.Join(got, "; "), x.journal)
	}
}

var offeredTool = regexp.MustCompile(`<li><code>(\w+)</code>([^<]*)</li>`)

// TestManyPages: a long request leads to its first and last page and to those around the one that is shown.
func TestManyPages(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inspectortest.Long{Calls: 200, Results: 9, Characters: 100, Every: 50}.Write(t, home, "long")
	b := inspectortest.New(t, home, nil)
	last := "/sessions/long/calls/" + inspectortest.CallKey(200)
	text := b.Open(last + "?page=10")
	require.Contains(t, text, `aria-current="page">10</a>`)
	for _, page := range []int{1, 7, 13, 20} {
		require.Contains(t, text, fmt.Sprintf(`href="%s?page=%d"`, last, page))
	}
	require.NotContains(t, text, "?page=6\"")
	require.Equal(t, 4, strings.Count(text, `<span aria-hidden="true">…</span>`), "two lists")
	require.Equal(t, 100, strings.Count(text, `<li class="message`))
	require.Contains(t, b.Open(last), `aria-current="page">20</a>`, "the newest is shown")
}
