package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// recalling is a visit whose session has a few messages in two phases.
func recalling(t *testing.T) (*visit, map[string]*echo.Message) {
	t.Helper()
	s := echo.NewSession("s")
	image := echo.Part{Type: echo.PartImage, URL: "data:image/png;base64,AAAA"}
	link := echo.Part{Type: echo.PartImage, URL: "https://host/a.png"}
	call := echo.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a.go"}`}
	ms := map[string]*echo.Message{
		"long":   echo.NewToolResult(call, echo.Text(strings.Repeat("äb", 5000)), false),
		"failed": echo.NewToolResult(call, echo.Text("no such file"), true),
		"empty":  echo.NewToolResult(call, echo.Text(""), false),
		"call":   echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("I read."), ToolCalls: []echo.ToolCall{call}}),
		"images": echo.Seal(echo.Draft{Role: echo.RoleTool, Kind: echo.KindToolResult, Tool: "draw", ToolCallID: "c2", Parts: []echo.Part{{Type: echo.PartText, Text: "two"}, image, link}}),
	}
	first, second := s.Begin("first"), s.Begin("second")
	for name, m := range ms {
		if name == "long" {
			first.Append(m, 1, 3)
			continue
		}
		second.Append(m, 1, 0)
	}
	return &visit{run: &run{session: s}, record: second}, ms
}

func TestRecallPages(t *testing.T) {
	t.Parallel()
	v, ms := recalling(t)
	page := func(name string, offset, limit int) (string, bool) {
		o, problem := v.find(string(ms[name].Hash()))
		require.Empty(t, problem)
		return o.page(offset, limit)
	}
	hash := ms["long"].Hash()
	text, failed := page("long", 0, 4)
	require.False(t, failed)
	require.Equal(t, fmt.Sprintf("[%s, result of read in phase first, turn 3: characters 1 to 4 of 10000; read on with offset 4]\näbäb", hash), text)
	text, _ = page("long", 9999, 4000)
	require.Equal(t, fmt.Sprintf("[%s, result of read in phase first, turn 3: characters 10000 to 10000 of 10000]\nb", hash), text)
	text, failed = page("long", 10_000, 1)
	require.True(t, failed)
	require.Equal(t, fmt.Sprintf("Offset 10000 is behind the end: the message %s has 10000 characters.", hash), text)
	text, _ = page("failed", 0, recallDefault)
	require.Equal(t, fmt.Sprintf("[%s, failed result of read in phase second: characters 1 to 12 of 12]\nno such file", ms["failed"].Hash()), text)
	text, failed = page("empty", 0, recallDefault)
	require.False(t, failed)
	require.Equal(t, fmt.Sprintf("[%s, result of read in phase second: characters 0 to 0 of 0]\n", ms["empty"].Hash()), text)
	text, _ = page("call", 0, recallDefault)
	require.True(t, strings.HasSuffix(text, "]\nI read.\ncalls read with {\"path\":\"a.go\"}"), text)
	require.Contains(t, text, "assistant message in phase second")
	text, _ = page("images", 0, recallDefault)
	require.True(t, strings.HasSuffix(text, "]\ntwo\n[image of type image/png, 26 bytes as sent]\n[image https://host/a.png]"), text)

	// The pages put together are the message.
	whole, offset := "", 0
	for offset < 10_000 {
		text, failed := page("long", offset, 3333)
		require.False(t, failed)
		_, body, _ := strings.Cut(text, "]\n")
		whole += body
		offset += 3333
	}
	require.Equal(t, ms["long"].Text(), whole)
}

func TestRecallFindsByPrefix(t *testing.T) {
	t.Parallel()
	v, ms := recalling(t)
	h := string(ms["long"].Hash())
	for _, given := range []string{h, h[:6], " " + strings.ToUpper(h[:9]) + "\n"} {
		o, problem := v.find(given)
		require.Empty(t, problem)
		require.Same(t, ms["long"], o.message)
	}
	for given, want := range map[string]string{
		h[:5]:              fmt.Sprintf("%q is no hash: give the 16 digits that stand in the placeholder, or the first 6 or more of them.", h[:5]),
		"the first result": `"the first result" is no hash: give the 16 digits that stand in the placeholder, or the first 6 or more of them.`,
		"../../etc/passwd": `"../../etc/passwd" is no hash: give the 16 digits that stand in the placeholder, or the first 6 or more of them.`,
		"0000000000000000": "No message of this session has the hash 0000000000000000. Copy the hash from the placeholder, or call the tool again.",
	} {
		_, problem := v.find(given)
		require.Equal(t, want, problem)
	}
}

// Two messages whose hashes begin alike are told apart by more digits.
func TestRecallOfAnAmbiguousPrefix(t *testing.T) {
	t.Parallel()
	v, _ := recalling(t)
	seen := map[string]*echo.Message{}
	for i := 0; ; i++ { // a collision of 24 bits comes within some thousands of messages
		m := echo.NewText(echo.RoleUser, echo.KindTask, fmt.Sprint("message ", i))
		prefix := string(m.Hash()[:6])
		if other := seen[prefix]; other != nil {
			v.record.Append(other, 1, 0)
			v.record.Append(m, 1, 0)
			_, problem := v.find(prefix)
			require.Equal(t, fmt.Sprintf("2 messages have a hash that begins with %s: %s, %s. Give more digits.", prefix, other.Hash(), m.Hash()), problem)
			o, problem := v.find(string(m.Hash()))
			require.Empty(t, problem)
			require.Same(t, m, o.message)
			return
		}
		seen[prefix] = m
	}
}

// A model that reads masked results again is answered, is not scolded for it, and the record says that it did.
func TestReadingAgainIsCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.tools.addBig("big", 3000)
	b.model.answers = readBig(10)[:10]
	for i := range 3 { // results 0, 1 and 2 are masked by now: the calls are made again
		b.model.answers = append(b.model.answers, call("big", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i := range 3 { // and 3, 4 and 5 are recalled
		b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			hash := b.resultOf(fmt.Sprintf(`{"n":%d}`, i+3))
			return call("recall", fmt.Sprintf(`{"hash":%q,"limit":100}`, hash[:8]))(req)
		})
	}
	b.model.answers = append(b.model.answers, call("recall", `{"hash":"nothing"}`), say("done"))
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["big"],`+everyTurn+`}]}`, nil)
	require.NoError(t, err)
	ph := res.Phases[0]
	require.Equal(t, []int{3, 3}, []int{ph.Recalls, ph.Rereads})
	last := b.model.requests[len(b.model.requests)-1].Messages
	require.NotContains(t, bytesOf(last), "You made the same call")
	require.Contains(t, bytesOf(last), "characters 1 to 100 of 3000; read on with offset 100]")
	require.Contains(t, bytesOf(last), "is no hash")
	require.Contains(t, b.entries.warnings(), fmt.Sprintf("6 of %d masked tool results were read again (3 recalls, 3 repeated calls): "+
		"masking is too eager here; raise intra_context.mask_observations_after (now 2), or name the tool in intra_context.exclude_tools (big)", ph.MaskedResults))
	end := b.entries.of(echo.NodePhaseEnd)[0]
	require.Contains(t, string(end.Data), `"recalls":3,"rereads":3`)
}

// resultOf returns the hash of what big said to some arguments.
func (b *testBundle) resultOf(arguments string) string {
	for _, e := range b.entries.of(echo.NodeToolCall) {
		if e.Tool.Name == "big" && e.Tool.Arguments == arguments {
			return string(e.ContentHash)
		}
	}
	b.t.Fatalf("no call with %s", arguments)
	return ""
}

// Repeating what is still there to be seen is noticed as ever; every attempt may read anew what the one before read.
func TestRepeatsOfWhatIsShownAreNoticed(t *testing.T) {
	t.Parallel()
	b := setup(t, call("big", `{}`), call("big", `{}`), say("bad"), call("big", `{}`), say("two words"))
	b.tools.addBig("big", 3000)
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["big"],"rules":{"max_attempts":2,"loop_until":"min_words:2"},`+everyTurn+`}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, bytesOf(b.model.requests[2].Messages), "You made the same call")
	require.Zero(t, res.Phases[0].Rereads)
	require.Empty(t, b.entries.warnings())
}

// recall can be listed by a phase, and reads what other phases saw.
func TestRecallReachesOtherPhases(t *testing.T) {
	t.Parallel()
	b := setup(t, call("big", `{"n":1}`), say("out a"))
	b.tools.addBig("big", 50)
	b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		return call("recall", fmt.Sprintf(`{"hash":%q}`, b.resultOf(`{"n":1}`)))(req)
	}, say("out b"))
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A","tackle":["big"]},{"name":"b","instructions":"B","tackle":["recall"]}]}`, nil)
	require.NoError(t, err)
	last := b.model.requests[3].Messages
	require.Contains(t, last[len(last)-1].Text(), "result of big in phase a, turn 1: characters 1 to 50 of 50]")
}
