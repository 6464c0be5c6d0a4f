package modeltext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func TestFindJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"whole":                 {" {\"a\": 1}\n", `{"a": 1}`},
		"scalar":                {"42", "42"},
		"block":                 {"Here it is:\n```json\n{\"a\": 1}\n```\nDone.", `{"a": 1}`},
		"last valid block":      {"```json\n[1]\n```\n```json\n[2]\n```\n```json\n[\n```", "[2]"},
		"unclosed block":        {"```json\n[3]", "[3]"},
		"object inside text":    {"The answer is {\"a\": {\"b\": 2}}.", `{"a": {"b": 2}}`},
		"array inside text":     {"The answer is [1, 2].", "[1, 2]"},
		"nothing":               {"The answer is 42.", ""},
		"braces that are prose": {"a {b} c", ""},
		"empty":                 {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := FindJSON(tc.text)
			require.Equal(t, tc.want != "", ok)
			require.Equal(t, tc.want, string(got))
		})
	}
}

func TestJSONBlocks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"two":                       {"a\n```json\n1\n```\nb\n```json\n2\n```", []string{"1", "2"}},
		"behind text":               {"I call: ```json\n1\n```", []string{"1"}},
		"on one line":               {"```json 1```\n```json\n2\n```", []string{"1", "2"}},
		"more backticks":            {"````json\n1\n```\n2\n````", []string{"1\n```\n2"}},
		"quoted":                    {"The file says:\n> ```json\n> 1\n> ```\ndone", nil},
		"inside a longer fence":     {"````\n```json\n1\n```\n````\n```json\n2\n```", []string{"2"}},
		"inside a block of text":    {"```text\n```json\n1\n```\n```json\n2\n```", []string{"2"}},
		"after a fence left open":   {"```go\nx\n```json\n1", []string{"1"}},
		"after a block of one line": {"```go\nx\n```\n```json\n1\n```", []string{"1"}},
		"nothing but an open fence": {"```", nil},
		"windows line ends":         {"```json\r\n1\r\n```\r\n```json\r\n2\r\n```", []string{"1", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := jsonBlocks(tc.text)
			for i := range got {
				got[i] = strings.TrimSpace(got[i])
			}
			require.Equal(t, tc.want, got)
		})
	}
}

// Whatever a model writes, its calls have names and unique ids, and what is taken for JSON is JSON.
func FuzzModelText(f *testing.F) {
	for _, s := range []string{
		"", "```json\n{\"tool\": \"a\", \"arguments\": {}}\n```", "```json\n[{\"tool\":\"a\"}]```", "```json\n{\"tool\": \"a\", {\n```",
		"```json```json", "{[}]", "\"tool\"", "```json\n\"tool\"\n```",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := Calls(echo.NewText(echo.RoleAssistant, echo.KindAnswer, s), effect.Site{Attempt: 1, Turn: 2})
		ids := map[string]bool{}
		for _, c := range m.ToolCalls() {
			require.NotEmpty(t, c.Name)
			require.False(t, ids[c.ID])
			ids[c.ID] = true
		}
		require.True(t, json.Valid(m.JSON()))
		if raw, ok := FindJSON(s); ok {
			require.True(t, json.Valid(raw))
		}
	})
}

// FirstObject looks into values from the beginning, and its work is bounded whatever the text is.
func TestFirstObject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"valid":1}`:                         "1",
		`a {b} {"valid":{"x":2}} {"valid":3}`: `{"x":2}`,
		`{"a":[{"valid":4}]}`:                 "4",
		"{ \n\t\"valid\": 5 }":                "5",
		`{"valid":6`:                          "",
		`{"a":{"valid":7}`:                    "7",
		`{"VALID":8}`:                         "",
		``:                                    "",
		`{}`:                                  "",
		`{"valid":9,"valid":10}`:              "10",
		strings.Repeat(`{"a":`, 200_000):      "",
		strings.Repeat(`{"a":1},`, 50_000) + `{"valid":11}`: "11",
		strings.Repeat(`{"a`, 500_000):                      "",
	} {
		members, ok := FirstObject(text, "valid")
		require.Equal(t, want != "", ok, "%.50s", text)
		require.Equal(t, want, string(members["valid"]), "%.50s", text)
	}
}

// Objects finds one after the other, and does not look into those that it has found.
func TestObjects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"a":1} and {"a":2}{"b":3}{"a":4}`:    {"1", "2", "4"},
		`{"a":{"a":1}} {"b":{"a":2}}`:          {`{"a":1}`, "2"},
		`{"a":"{\"a\":1}"}`:                    {`"{\"a\":1}"`},
		`{"a":1`:                               nil,
		`[{"a":1},{"a":`:                       {"1"},
		``:                                     nil,
		strings.Repeat(`{"a":1}`, 100_000)[7:]: nil,
	} {
		var got []string
		for members := range Objects(text, "a") {
			got = append(got, string(members["a"]))
		}
		if want == nil && len(text) > 1000 {
			require.NotEmpty(t, got, "its work is bounded")
			require.Less(t, len(got), 99_999)
			continue
		}
		require.Equal(t, want, got, text)
	}
	for range Objects(`{"a":1}{"a":2}`, "a") {
		break // it may be left
	}
}
