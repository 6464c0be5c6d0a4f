package inspector_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// TestFrozenRequests: of every frozen session every request can be shown, readable and raw, with the texts as they were
// sent, and the life of each message of its last request.
func TestFrozenRequests(t *testing.T) {
	t.Parallel()
	for _, path := range inspectortest.Frozen(t, frozen) {
		home := t.TempDir()
		session := inspectortest.Copy(t, home, path)
		rec, err := journal.Read(path)
		require.NoError(t, err)
		r, err := inspect.New(session, rec.Entries)
		require.NoError(t, err)
		b := inspectortest.New(t, home, nil)
		base := "/sessions/" + session
		require.Equal(t, len(r.Calls) > 0, strings.Contains(b.Open(base+"/matrix"), `class="matrix"`), path)
		list := b.Open(base + "/calls")
		require.Equal(t, len(r.Calls), strings.Count(list, `<th scope="row"><a href="`+base+`/calls/`), path)
		for i := range r.Calls {
			c := &r.Calls[i]
			address := fmt.Sprintf("%s/calls/%s", base, c.Key)
			require.Contains(t, list, `href="`+address+`"`)
			text := b.Open(address)
			shown, err := r.Show(c)
			require.NoError(t, err)
			require.Equal(t, len(shown.Messages) > 0, strings.Contains(text, `id="m1"`), "%s %s", path, c.Key)
			for _, fact := range []string{"<dd>" + quantity.Grouped(c.ContextSize) + "</dd>", "<dd>" + quantity.Grouped(c.FullHistorySize) + "</dd>", "<dd>" + quantity.Grouped(c.SharedSize) + "</dd>"} {
				require.Contains(t, text, fact, "%s %s", path, c.Key)
			}
			b.Open(address + "?raw=1")
			if i < len(r.Calls)-1 {
				continue
			}
			for _, f := range shown.Forms {
				x, err := r.Explain(string(f.Hash))
				require.NoError(t, err)
				life := b.Open(base + "/life/" + string(f.Hash))
				require.Equal(t, len(x.Uses), strings.Count(life, `<th scope="row">`), "%s %s", path, f.Hash)
			}
		}
	}
}

// TestBreak: a request says what changed since the one before, where their common beginning ends, and what that cost.
func TestBreak(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	entries := inspectortest.Conversation("m")
	facts := echo.NewEntry(echo.RunKey().Named(echo.StepFacts, "m"), echo.ModelFacts{Tariff: &echo.Tariff{Input: 10, Cached: 1, Output: 20}})
	facts.NodeType = echo.NodeValue
	more := again(entries, 3)
	inspectortest.Write(t, home, "made", append(append([]*echo.Entry{facts}, entries...), more...)...)
	b := inspectortest.New(t, home, nil)
	text := b.Open("/sessions/made/calls/2")
	require.Contains(t, text, "the first 0 messages are equal, 0 tokens")
	require.Contains(t, text, "was sent full (m) and is sent masked (m)")
	require.NotContains(t, text, `class="break"`, "nothing behind it was sent before")
	require.Regexp(t, `<del><span class="sign">- </span>Task: m</del>`, text)
	require.Regexp(t, `<ins><span class="sign">\+ </span>Masked: m</ins>`, text)
	text = b.Open("/sessions/made/calls/3")
	require.Contains(t, text, `class="break"`)
	require.Regexp(t, `2 messages behind it are the same as before and are sent again outside of it: 100 tokens, which cost \$0\.0009 more than from the cache`, text)
	life := b.Open("/sessions/made/life/" + string(entries[3].Message.Hash()))
	require.Contains(t, life, "<div><dt>In requests</dt><dd>2</dd></div>")
	require.Contains(t, life, "<div><dt>Tokens in all of them</dt><dd>100</dd></div>")
	require.Contains(t, life, "<div><dt>Cost in all, estimated</dt><dd>$0.0010</dd></div>")
}

// again returns one more turn, whose request has the first message in another form than the one before.
func again(entries []*echo.Entry, turn int) []*echo.Entry {
	at := echo.PhaseKey("draft", 1).Attempt(1).Turn(turn)
	e := echo.NewEntry(at.Step(echo.StepContext), echo.Carry{})
	was := entries[5].Selection
	s := *was
	s.Spans = []echo.Span{
		{Count: 1, Form: "full", Reason: "kept", Hashes: was.Spans[0].Hashes, Tokens: []int64{50}},
		was.Spans[1],
		{From: 3, Count: 1, Form: "full", Reason: "kept", Hashes: []echo.Hash{entries[6].Message.Hash()}, Tokens: []int64{20}},
	}
	e.Selection, e.Model = &s, "m"
	usd := 0.001
	answer := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("done")})
	return []*echo.Entry{e, {NodeType: echo.NodeModelCall, Key: at.Step(echo.StepModel), Model: "m", Message: answer, CostUSD: &usd, Usage: &echo.Usage{In: 200, Out: 1}}}
}

// TestHostileRequests: whatever was said, the screens of requests and messages show it as text.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	lives := regexp.MustCompile(`href="(/sessions/hostile/life/[0-9a-f]+)`)
	for _, text := range inspectortest.Hostile() {
		home := t.TempDir()
		text = strings.ToValidUTF8(text, "\uFFFD") // as a record has it
		inspectortest.Write(t, home, "hostile", inspectortest.Conversation(text)...)
		b := inspectortest.New(t, home, nil)
		seen := map[string]bool{}
		for _, address := range []string{"", "/calls", "/calls/1", "/calls/2", "/calls/1?raw=1", "/calls/2?raw=1", "/matrix", "/bill"} {
			w := b.Ask(http.MethodGet, "/sessions/hostile"+address, nil)
			require.Contains(t, []int{http.StatusOK, http.StatusUnprocessableEntity}, w.Code, "%s %.100q", address, text)
			inspectortest.Harmless(t, address, w.Body.String())
			for _, m := range lives.FindAllStringSubmatch(w.Body.String(), -1) {
				seen[m[1]] = true
			}
		}
		require.GreaterOrEqual(t, len(seen), 3, "%.100q", text)
		for address := range seen {
			inspectortest.Harmless(t, address, b.Open(address))
			inspectortest.Harmless(t, address, b.Open(address+"?whole=1"))
		}
	}
}

// TestBytes: a page of a long request, and a list of many calls, have a bounded size, and the list has no text of a message.
func TestBytes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	secret := strings.Repeat("only in bodies ", 10_000)
	entries := inspectortest.Conversation("m")
	entries[4].Message = echo.NewToolResult(echo.ToolCall{ID: "call_1", Name: "read"}, echo.Text(secret), false)
	entries[5].Selection.Spans[1].Hashes[1] = entries[4].Message.Hash()
	inspectortest.Write(t, home, "long", entries...)
	b := inspectortest.New(t, home, nil)
	require.NotContains(t, b.Open("/sessions/long/calls"), "only in bodies")
	require.NotContains(t, b.Open("/sessions/long"), "only in bodies")
	text := b.Open("/sessions/long/calls/2")
	require.Contains(t, text, "only in bodies")
	require.Less(t, len(text), 40_000)
	require.Contains(t, text, "The whole message, ")
	require.Greater(t, len(b.Open("/sessions/long/life/"+string(entries[4].Message.Hash())+"?whole=1")), len(secret))
	_, found, err := (&archive.Archive{Home: home}).Entries(context.Background(), "long")
	require.NoError(t, err)
	require.Len(t, found, len(entries))
}
