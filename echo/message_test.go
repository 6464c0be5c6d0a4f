package echo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestSealEncodesInTheShapeOfTheProtocol(t *testing.T) {
	t.Parallel()
	call := ToolCall{ID: "c1", Name: "read_file", Arguments: `{"path":"a\"b"}`}
	for name, tc := range map[string]struct {
		draft Draft
		want  string
	}{
		"text":       {Draft{Role: RoleUser, Parts: Text("hello\n\"you\" \u2028 é")}, `{"content":"hello\n\"you\" ` + "\u2028" + ` é","role":"user"}`},
		"empty":      {Draft{Role: RoleAssistant}, `{"content":"","role":"assistant"}`},
		"control":    {Draft{Role: RoleUser, Parts: Text("\x00\x1f\b\f\t\r")}, `{"content":"\u0000\u001f\b\f\t\r","role":"user"}`},
		"not utf-8":  {Draft{Role: RoleUser, Parts: Text("a\xffb")}, "{\"content\":\"a\uFFFDb\",\"role\":\"user\"}"},
		"two parts":  {Draft{Role: RoleUser, Parts: []Part{{Type: PartText, Text: "see"}, {Type: PartImage, URL: "data:image/png;base64,AA=="}}}, `{"content":[{"text":"see","type":"text"},{"image_url":{"url":"data:image/png;base64,AA=="},"type":"image_url"}],"role":"user"}`},
		"calls only": {Draft{Role: RoleAssistant, ToolCalls: []ToolCall{call}}, `{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"path\":\"a\\\"b\"}","name":"read_file"},"id":"c1","type":"function"}]}`},
		"result":     {Draft{Role: RoleTool, Parts: Text("ok"), ToolCallID: "c1"}, `{"content":"ok","role":"tool","tool_call_id":"c1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := Seal(tc.draft)
			require.Equal(t, tc.want, string(m.JSON()))
			require.True(t, json.Valid(m.JSON()))
			require.Equal(t, sha256.Sum256(m.JSON()), m.Digest())
		})
	}
}

// The hash covers role, content and tool calls, and nothing else: what is known under it can be
// found again whatever call it answered and whatever else the engine noted.
func TestHashCoversRoleContentAndToolCalls(t *testing.T) {
	t.Parallel()
	base := Draft{Role: RoleTool, Parts: Text("ok"), ToolCallID: "c1", Tool: "a", Kind: KindToolResult}
	sum := sha256.Sum256([]byte(`{"content":"ok","role":"tool"}`))
	require.Equal(t, Hash(hex.EncodeToString(sum[:])[:16]), Seal(base).Hash())

	same := base
	same.ToolCallID, same.Tool, same.Kind, same.Failed = "c2", "b", KindContext, true
	require.Equal(t, Seal(base).Hash(), Seal(same).Hash())
	require.NotEqual(t, Seal(base).Digest(), Seal(same).Digest(), "the digest covers what is sent")

	for name, other := range map[string]Draft{
		"role":    {Role: RoleUser, Parts: Text("ok")},
		"content": {Role: RoleTool, Parts: Text("ok "), ToolCallID: "c1"},
		"parts":   {Role: RoleTool, Parts: []Part{{Type: PartText, Text: "o"}, {Type: PartText, Text: "k"}}, ToolCallID: "c1"},
		"calls":   {Role: RoleAssistant, Parts: Text("ok"), ToolCalls: []ToolCall{{ID: "c", Name: "n"}}},
	} {
		require.NotEqual(t, Seal(base).Hash(), Seal(other).Hash(), name)
	}
}

func TestMessageSurvivesJSON(t *testing.T) {
	t.Parallel()
	m := Seal(Draft{
		Role: RoleAssistant, Kind: KindAnswer, Parts: Text("a\u2028b"),
		ToolCalls: []ToolCall{{ID: "1", Name: "n", Arguments: "not json"}},
	})
	b, err := json.Marshal(m)
	require.NoError(t, err)
	var back Message
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, m.JSON(), back.JSON())
	require.Equal(t, m.Hash(), back.Hash())
	require.Equal(t, m.Draft(), back.Draft())
	require.ErrorContains(t, json.Unmarshal([]byte(`{"role":1}`), &back), "read message")
}

func TestTextJoinsTextParts(t *testing.T) {
	t.Parallel()
	m := Seal(Draft{Role: RoleUser, Parts: []Part{{Type: PartText, Text: "a"}, {Type: PartImage, URL: "u"}, {Type: PartText, Text: "b"}}})
	require.Equal(t, "a\nb", m.Text())
	require.Equal(t, `[{"text":"a","type":"text"},{"image_url":{"url":"u"},"type":"image_url"},{"text":"b","type":"text"}]`, string(m.ContentJSON()))
	require.Empty(t, m.ToolCallsJSON())
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\/", "\x00\x7f", "\u2028\u2029", "\xc3\x28", strings.Repeat("é", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		enc := AppendString(nil, s)
		var back string
		require.NoError(t, json.Unmarshal(enc, &back))
		require.Equal(t, strings.ToValidUTF8(back, "\uFFFD"), back)
		if utf8.ValidString(s) {
			require.Equal(t, s, back)
		}
		require.Equal(t, enc, AppendString(nil, back), "encoding is stable")
		require.False(t, bytes.ContainsAny(enc, "\n\r\t\x00"), "a line of the journal stays a line")
	})
}

// A message that has a call may always call by its mark, and hardly any other does.
func TestMarksOfCalls(t *testing.T) {
	t.Parallel()
	calls := []ToolCall{{ID: "call_1"}, {ID: ""}, {ID: "é"}}
	m := Seal(Draft{Role: RoleAssistant, ToolCalls: calls})
	for _, c := range calls {
		require.True(t, m.MayCall(MarkOf(c.ID)))
	}
	one, others := Seal(Draft{Role: RoleAssistant, ToolCalls: calls[:1]}), 0
	for i := range 1000 {
		if one.MayCall(MarkOf(fmt.Sprintf("call_%d", 2+i))) {
			others++
		}
	}
	require.Less(t, others, 100)
	require.False(t, NewText(RoleUser, KindTask, "x").MayCall(MarkOf("call_1")))
}
