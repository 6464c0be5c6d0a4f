package snapshot

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestMasks(t *testing.T) {
	t.Parallel()
	masks := append(PathMasks("/h/s/1/work", "/h/me/proj", "/h/me", []string{"/h/me/proj", "/data/logs", "/"}), Mask{"tok-123", "<TOKEN>"})
	for in, want := range map[string]string{
		"":                           "",
		"nothing":                    "nothing",
		"/h/me/proj":                 "/project",
		"/h/me/proj/a.go:3":          "/project/a.go:3",
		"/h/me/project":              "/home/user/project",
		"/h/me/proj-old/x":           "/home/user/proj-old/x",
		"/h/mean":                    "/h/mean",
		"see /h/s/1/work/o, /h/me":   "see /session/work/o, /home/user",
		"x/h/me/proj":                "x/h/me/proj",
		`{"a":"line\n/h/me/proj/x"}`: `{"a":"line\n/project/x"}`,
		"/data/logs/1 tok-123":       "/root/logs/1 <TOKEN>",
		"tok-1234 mytok-123":         "tok-1234 mytok-123",
	} {
		require.Equal(t, want, mask(in, masks), in)
	}
	require.Equal(t, map[string]any{"/project": []any{"<TOKEN>", json.Number("1")}},
		mask(map[string]any{"/h/me/proj": []any{"tok-123", json.Number("1")}}, masks))
}

// A message that masks change has another hash, and what names it by that names it still, also
// through another message.
func TestMaskedMessagesAreStillNamed(t *testing.T) {
	t.Parallel()
	secret := echo.NewText(echo.RoleAssistant, echo.KindAnswer, "it is tok-123")
	names := echo.NewText(echo.RoleAssistant, echo.KindAnswer, "recall "+string(secret.Hash()))
	namesThat := echo.NewText(echo.RoleAssistant, echo.KindAnswer, "recall "+string(names.Hash()))
	var entries []*echo.Entry
	for _, m := range []*echo.Message{secret, names, namesThat} {
		entries = append(entries, &echo.Entry{NodeType: echo.NodeModelCall, Message: m, ContentHash: m.Hash()})
	}
	out, err := maskEntries(entries, []Mask{{"tok-123", "<TOKEN>"}})
	require.NoError(t, err)
	require.Equal(t, "it is <TOKEN>", out[0].Message.Text())
	require.Equal(t, "recall "+string(out[0].Message.Hash()), out[1].Message.Text())
	require.Equal(t, "recall "+string(out[1].Message.Hash()), out[2].Message.Text())
	require.Equal(t, "it is tok-123", entries[0].Message.Text(), "the record itself stays")
}

func TestToolCallsStandInTheOrderOfTheModel(t *testing.T) {
	t.Parallel()
	call := func(key string) *echo.Entry {
		return &echo.Entry{NodeType: echo.NodeToolCall, Key: echo.MustKey(key), Tool: &echo.ToolUse{Name: "x", Arguments: "not JSON"}}
	}
	o := Observe([]*echo.Entry{
		call("a/attempt1/turn1/tool10"), call("a/attempt1/turn1/tool2"), call("a/attempt1/turn1/tool1"),
		call("a/attempt1/turn2/tool2"), call("a/attempt1/turn2/tool1"), call("b/attempt1/tool"),
	})
	require.Equal(t, `a/attempt1/turn1/tool1 x "not JSON"
a/attempt1/turn1/tool2 x "not JSON"
a/attempt1/turn1/tool10 x "not JSON"
a/attempt1/turn2/tool1 x "not JSON"
a/attempt1/turn2/tool2 x "not JSON"
b/attempt1/tool x "not JSON"
`, o.Text(Tools))
	require.Equal(t, "run: did not end\n", o.Text(Phases))
	require.Equal(t, "null\n", o.Text(Output))
}

func TestLongArgumentsAreShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", longest+1)
	got := shorten(map[string]any{"a": []any{long, "short"}}).(map[string]any)["a"].([]any)
	require.Equal(t, "short", got[1])
	require.Contains(t, got[0], "… (201 characters, sha256 ")
	require.NotEqual(t, got[0], shorten(long+"."), "another end has another digest")
}

func TestFilesAreWrittenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x"+Suffix)
	test := &Test{Version: Version, Name: "x", Cascade: "c.json", Match: []Aspect{State}, Answers: []Answer{}, Input: map[string]any{}}
	require.Equal(t, []Aspect{State}, test.Lacking())
	test.Expect.State = map[string]any{}
	require.Empty(t, test.Lacking(), "that nothing was stored is something to expect")
	require.NoError(t, test.Create(path))
	require.ErrorIs(t, test.Create(path), os.ErrExist)
	read, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, test, read)
	read.Name = "y"
	require.NoError(t, read.Update())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing is left beside it")
}
