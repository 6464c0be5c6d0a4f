package lookup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// recalling is a session with a few messages in two phases.
func recalling(t *testing.T) (*echo.Session, map[string]*echo.Message) {
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
			first.History = append(first.History, echo.Item{Message: m, Attempt: 1, Turn: 3})
			continue
		}
		second.History = append(second.History, echo.Item{Message: m, Attempt: 1})
	}
	return s, ms
}

func TestRecallPages(t *testing.T) {
	t.Parallel()
	s, ms := recalling(t)
	page := func(name string, offset, limit int) (string, bool) {
		o, problem := find(s, string(ms[name].Hash()))
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
	s, ms := recalling(t)
	h := string(ms["long"].Hash())
	for _, given := range []string{h, h[:6], " " + strings.ToUpper(h[:9]) + "\n"} {
		o, problem := find(s, given)
		require.Empty(t, problem)
		require.Same(t, ms["long"], o.message)
	}
	for given, want := range map[string]string{
		h[:5]:              fmt.Sprintf("%q is no hash: give the 16 digits that stand in the placeholder, or the first 6 or more of them.", h[:5]),
		"the first result": `"the first result" is no hash: give the 16 digits that stand in the placeholder, or the first 6 or more of them.`,
		"../../etc/passwd": `"../../etc/passwd" is no hash: give the 16 digits that stand in the placeholder, or the first 6 or more of them.`,
		"0000000000000000": "No message of this session has the hash 0000000000000000. Copy the hash from the placeholder, or call the tool again.",
	} {
		_, problem := find(s, given)
		require.Equal(t, want, problem)
	}
}

// Two messages whose hashes begin alike are told apart by more digits.
func TestRecallOfAnAmbiguousPrefix(t *testing.T) {
	t.Parallel()
	s, _ := recalling(t)
	seen := map[string]*echo.Message{}
	for i := 0; ; i++ { // a collision of 24 bits comes within some thousands of messages
		m := echo.NewText(echo.RoleUser, echo.KindTask, fmt.Sprint("message ", i))
		prefix := string(m.Hash()[:6])
		if other := seen[prefix]; other != nil {
			s.Phases[1].History = append(s.Phases[1].History, echo.Item{Message: other, Attempt: 1, Turn: 0})
			s.Phases[1].History = append(s.Phases[1].History, echo.Item{Message: m, Attempt: 1})
			_, problem := find(s, prefix)
			require.Equal(t, fmt.Sprintf("2 messages have a hash that begins with %s: %s, %s. Give more digits.", prefix, other.Hash(), m.Hash()), problem)
			o, problem := find(s, string(m.Hash()))
			require.Empty(t, problem)
			require.Same(t, m, o.message)
			return
		}
		seen[prefix] = m
	}
}
