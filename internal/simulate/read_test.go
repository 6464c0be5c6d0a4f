package simulate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

const short = `[{"role":"system","content":"be brief"},{"role":"user","content":"go"},` +
	`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{}"}}]},` +
	`{"role":"tool","tool_call_id":"a","content":"seen"},{"role":"user","content":"and?"},{"role":"assistant","content":"done"}]`

func TestReadConversation(t *testing.T) {
	t.Parallel()
	all, err := Read("x.jsonl", strings.NewReader("\n"+short+"\r\n\n{\"messages\": "+short+", \"id\": 7}"))
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, []int{2, 4}, []int{all[0].Number, all[1].Number}, "numbers are those of the lines")
	c := all[0]
	require.Equal(t, 2, c.Calls())
	type shape struct {
		role echo.Role
		kind echo.Kind
		turn int
	}
	var got []shape
	for _, it := range c.Items {
		require.Equal(t, 1, it.Attempt)
		got = append(got, shape{it.Message.Role(), it.Message.Kind(), it.Turn})
	}
	require.Equal(t, []shape{
		{"system", "system", 0},
		{"user", "task", 0},
		{"assistant", "answer", 1},
		{"tool", "tool_result", 1},
		{"user", "turn_prompt", 1},
		{"assistant", "answer", 2},
	}, got)
	require.Equal(t, "look", c.Items[3].Message.Tool(), "a result is that of its call's tool")
	for i := range c.Items {
		require.Equal(t, c.Items[i].Message.Hash(), all[1].Items[i].Message.Hash())
	}
	p := c.points()
	require.Equal(t, []int{2, 5}, []int{p[0].at, p[1].at})
	require.Equal(t, []int{1, 2}, []int{p[0].turn, p[1].turn})
}

// A conversation may begin with the assistant, which then answers nothing.
func TestReadConversationThatBeginsWithTheAssistant(t *testing.T) {
	t.Parallel()
	all, err := Read("x", strings.NewReader(`[{"role":"assistant","content":"hello"},{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"}]`))
	require.NoError(t, err)
	p := all[0].points()
	require.Len(t, p, 1)
	require.Equal(t, 2, p[0].turn, "the greeting was a turn, though no call")
}

// An id that is used again gets another name, and the result that answers it.
func TestReadMakesCallIDsUnique(t *testing.T) {
	t.Parallel()
	call := func(ids ...string) string {
		var calls, results []string
		for _, id := range ids {
			calls = append(calls, `{"id":"`+id+`","type":"function","function":{"name":"f","arguments":"{}"}}`)
			results = append(results, `{"role":"tool","tool_call_id":"`+id+`","content":"r"}`)
		}
		return `{"role":"assistant","content":"","tool_calls":[` + strings.Join(calls, ",") + `]},` + strings.Join(results, ",")
	}
	long := strings.Repeat("x", longestID)
	line := `[{"role":"user","content":"go"},` + strings.Join([]string{
		call("a"), call("a", "b"), call("a_2"), call("c", "c"), call(long), call(long),
	}, ",") + `,{"role":"tool","tool_call_id":"nobody","content":"r"}]`
	all, err := Read("x", strings.NewReader(line))
	require.NoError(t, err)
	var asked, answered []string
	for _, it := range all[0].Items {
		for _, c := range it.Message.ToolCalls() {
			asked = append(asked, c.ID)
		}
		if it.Message.Role() == echo.RoleTool {
			answered = append(answered, it.Message.ToolCallID())
		}
	}
	cut := long[:longestID-2] + "_2"
	require.Equal(t, []string{"a", "a_2", "b", "a_2_2", "c", "c_2", long, cut}, asked)
	require.Equal(t, append(asked, "nobody"), answered, "an orphan stays as it is")
}

func TestReadKeepsContentAndArguments(t *testing.T) {
	t.Parallel()
	all, err := Read("x", strings.NewReader(`[{"role":"developer","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"no"},`+
		`{"type":"image_url","image_url":{"url":"data:,"}}]},{"role":"assistant","refusal":null,"function_call":null,"tool_calls":[`+
		`{"id":"1","function":{"name":"f","arguments":"{\"a\":1"}},{"id":"2","function":{"name":"g","arguments":{"b": [2]}}}]},`+
		`{"role":"tool","tool_call_id":"2","name":"other"}]`))
	require.NoError(t, err)
	items := all[0].Items
	require.Equal(t, echo.RoleSystem, items[0].Message.Role())
	require.Equal(t, []echo.Part{{Type: echo.PartText, Text: "a"}, {Type: echo.PartText, Text: "no"}, {Type: echo.PartImage, URL: "data:,"}},
		items[0].Message.Parts())
	calls := items[1].Message.ToolCalls()
	require.Equal(t, `{"a":1`, calls[0].Arguments, "what the model wrote stays, right or wrong")
	require.Equal(t, `{"b": [2]}`, calls[1].Arguments)
	require.Equal(t, "g", items[2].Message.Tool())
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                 "read x.jsonl: there is no conversation in it",
		"\n \n":            "read x.jsonl: there is no conversation in it",
		short + "\n7":      "x.jsonl:2: this is not a conversation, a JSON array of chat messages: found a number",
		`"text"`:           "x.jsonl:1: this is not a conversation, a JSON array of chat messages: found a string",
		`{"a":1}`:          `x.jsonl:1: this is not a conversation, a JSON array of chat messages: the object has no "messages"`,
		`{"messages":"a"}`: `x.jsonl:1: this is not a conversation, a JSON array of chat messages: "messages" is a string`,
		`[{"role":"user"`:  "x.jsonl:1: this is not a conversation, a JSON array of chat messages: unexpected end of JSON input at byte 15",
		`[]`:               "x.jsonl:1: the conversation has no messages",
		`[7]`:              "x.jsonl:1: message 1: found a number",
		`[{"role":"user","content":"a"},{"content":"a"}]`:                     "x.jsonl:1: message 2: there is no role",
		`[{"role":"robot"}]`:                                                  `x.jsonl:1: message 1: role "robot" is none of system, developer, user, assistant, tool`,
		`[{"role":5}]`:                                                        `x.jsonl:1: message 1: "role" is a number`,
		`[{"role":"user","content":7}]`:                                       "x.jsonl:1: message 1: content is neither a text nor a list of parts",
		`[{"role":"user","content":[7]}]`:                                     "x.jsonl:1: message 1: content: found a number",
		`[{"role":"user","content":[{"type":"input_audio"}]}]`:                `x.jsonl:1: message 1: content: part 1 has the type "input_audio"; text, image_url and refusal are known`,
		`[{"role":"tool","content":"a"}]`:                                     "x.jsonl:1: message 1: a tool message needs a tool_call_id",
		`[{"role":"user","content":"a","tool_calls":[{"id":"a"}]}]`:           "x.jsonl:1: message 1: a user message cannot have tool_calls",
		`[{"role":"assistant","tool_calls":[{"id":"a"}]}]`:                    "x.jsonl:1: message 1: tool call 1: it has no arguments",
		`[{"role":"assistant","tool_calls":[{"function":{"arguments":""}}]}]`: "x.jsonl:1: message 1: tool call 1: it has no id or no function name",
		`[{"role":"assistant","function_call":{"name":"f"}}]`:                 "x.jsonl:1: message 1: function_call is the form before tool_calls and is not read: write the call as tool_calls",
	} {
		_, err := Read("x.jsonl", strings.NewReader(text))
		require.EqualError(t, err, want, text)
	}
	var line *LineError
	_, err := Read("x.jsonl", strings.NewReader("\n[]"))
	require.ErrorAs(t, err, &line)
	require.Equal(t, 2, line.Line)
}

// Lines have no limit: one of five million bytes is read.
func TestReadHugeLine(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 5<<20)
	all, err := Read("x", strings.NewReader(`[{"role":"user","content":"`+text+`"},{"role":"assistant","content":"a"}]`))
	require.NoError(t, err)
	require.Len(t, all[0].Items[0].Message.Text(), len(text))
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	_, err := ReadFile(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte(short), 0o600))
	all, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, path+":1", all[0].String())
	require.NoError(t, os.WriteFile(path, []byte(`{"windlass_journal":99}`+"\n"), 0o600))
	_, err = ReadFile(path)
	var version *journal.VersionError
	require.ErrorAs(t, err, &version, "a journal is known by its header")
}

func FuzzRead(f *testing.F) {
	f.Add(short)
	f.Add(`{"messages":[{"role":"assistant","tool_calls":[{"id":"é","function":{"name":"f","arguments":{}}}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Read("x", strings.NewReader(text))
		var line *LineError
		if err != nil && !errors.As(err, &line) && !errors.Is(err, ErrNoConversations) {
			t.Fatal(err)
		}
		for _, c := range all {
			newChecker(c)
			used := map[string]bool{}
			for _, it := range c.Items {
				for _, call := range it.Message.ToolCalls() {
					if used[call.ID] {
						t.Fatalf("the id %q is used twice", call.ID)
					}
					used[call.ID] = true
				}
			}
		}
	})
}
