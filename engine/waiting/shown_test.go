package waiting

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/secret"
)

// A call is shown as it was recorded where only secrets are between them, and as it is now where anything else is.
func TestShown(t *testing.T) {
	t.Parallel()
	mask := secret.New(secret.Value{Name: "KEY", Value: "s3cret-of-monday"})
	call := func(tool, args, cascade string) echo.AwaitedCall {
		return echo.AwaitedCall{Tool: tool, Arguments: json.RawMessage(args), Cascade: cascade, Schema: json.RawMessage(`{}`)}
	}
	const raw, masked, other = `{"key":"s3cret-of-monday","n":1}`, `{"key":"[value of KEY]","n":1}`, `{"key":"s3cret-of-monday","n":2}`
	now := call("deploy", raw, "c1")
	require.Equal(t, masked, string(Show(now, mask, nil).Call.Arguments))
	for name, tt := range map[string]struct {
		was  echo.AwaitedCall
		want string
	}{
		"as now":          {call("deploy", masked, "c1"), masked},
		"with the secret": {call("deploy", raw, "c1"), raw},
		"another number":  {call("deploy", other, "c1"), masked},
		"another tool":    {call("look", raw, "c1"), masked},
		"another cascade": {call("deploy", raw, "c2"), masked},
	} {
		recorded := echo.NewEntry(echo.MustKey("a/wait"), Approval(tt.was))
		require.Equal(t, tt.want, string(Show(now, mask, recorded).Call.Arguments), name)
	}
	question := echo.NewEntry(echo.MustKey("a/wait"), echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText}})
	require.Equal(t, masked, string(Show(now, mask, question).Call.Arguments))
	torn := &echo.Entry{NodeType: echo.NodeWait, Data: json.RawMessage(`{`)}
	require.Equal(t, masked, string(Show(now, mask, torn).Call.Arguments))
}

// A text that looks like a secret is shown as the text that it is, and no two texts are shown in the same way.
func TestShowTellsTextsFromSecrets(t *testing.T) {
	t.Parallel()
	mask := secret.New(secret.Value{Name: "KEY", Value: "s3cret-of-monday"})
	seen := map[string]string{}
	for text, want := range map[string]string{
		"s3cret-of-monday": "[value of KEY]", "[value of KEY]": "[text: value of KEY]", "[text: value of KEY]": "[text: text: value of KEY]",
		"[[value of KEY] s3cret-of-monday]": "[[text: value of KEY] [value of KEY]]", "[value of ": "[text: value of ", "[value ofs": "[value ofs",
		"[value of s3cret-of-monday]": "[text: value of [value of KEY]]", "[text: s3cret-of-monday": "[text: [value of KEY]", "[text: ": "[text: ", "<é>": "<é>",
	} {
		args, err := encoded(map[string]any{text: text})
		require.NoError(t, err)
		shown := Show(echo.AwaitedCall{Tool: "deploy", Arguments: args}, mask, nil)
		expected, err := encoded(map[string]any{want: want})
		require.NoError(t, err)
		require.Equal(t, string(expected), string(shown.Call.Arguments))
		require.NotContains(t, seen, want)
		seen[want] = text
		require.Empty(t, unknownMarkIn(shown.Call.Arguments, shown.Call.Arguments))
		runs, err := shown.Runs(shown.Call.Arguments, true)
		require.NoError(t, err)
		require.Equal(t, string(args), string(runs), "an edit that keeps everything runs as the call does")
	}
}

// Marks that an edit keeps stand for what runs in their place; in another place for what they first stand for.
func TestRuns(t *testing.T) {
	t.Parallel()
	mask := secret.New(secret.Value{Name: "KEY", Value: "s3cret-of-monday"}, secret.Value{Name: "OTHER", Value: "s3cret-of-others"})
	const args = `{"a":"Basic czNjcmV0LW9mLW1vbmRheQ==","b":["s3cret-of-monday","x"],"n":1.50}`
	shown := Show(echo.AwaitedCall{Tool: "deploy", Arguments: json.RawMessage(args)}, mask, nil)
	require.Equal(t, `{"a":"Basic [value of KEY]","b":["[value of KEY]","x"],"n":1.50}`, string(shown.Call.Arguments))
	for edit, want := range map[string]string{
		string(shown.Call.Arguments):                       args,
		`{"n":2,"a":"Bearer [value of KEY]!"}`:             `{"a":"Bearer czNjcmV0LW9mLW1vbmRheQ==!","n":2}`,
		`{"b":["[value of KEY]","-[value of KEY]-"]}`:      `{"b":["s3cret-of-monday","-czNjcmV0LW9mLW1vbmRheQ==-"]}`,
		`{"a":"[text: value of OTHER] [text: value of K"}`: `{"a":"[value of OTHER] [value of K"}`,
		`{"a":"[value of "}`:                               `{"a":"[value of "}`,
		`{"[value of KEY]":"<b>"}`:                         `{"czNjcmV0LW9mLW1vbmRheQ==":"<b>"}`,
	} {
		runs, err := shown.Runs(json.RawMessage(edit), true)
		require.NoError(t, err, edit)
		require.Equal(t, want, string(runs), edit)
	}
	const other = `{"b":["[value of OTHER]"]}`
	require.Equal(t, "[value of OTHER]", unknownMarkIn(shown.Call.Arguments, json.RawMessage(other)))
	_, err := shown.Runs(json.RawMessage(other), true)
	require.EqualError(t, err, "the arguments have [value of OTHER], and those that were shown do not: an edit can only keep the secrets of its call; the text itself is written as [text: value of OTHER]")
	runs, err := shown.Runs(json.RawMessage(other), false)
	require.NoError(t, err)
	require.Equal(t, other, string(runs), "what has run has run")
	_, err = shown.Runs(json.RawMessage("{"), true)
	require.ErrorContains(t, err, "read arguments")
}

// A wait from when texts that look like marks were shown as they are is shown so again, and its edits mean what they did.
func TestRunsOfOldWaits(t *testing.T) {
	t.Parallel()
	mask := secret.New(secret.Value{Name: "KEY", Value: "s3cret-of-monday"})
	now := echo.AwaitedCall{Tool: "deploy", Arguments: json.RawMessage(`{"a":"[value of KEY] <b>","b":"s3cret-of-monday"}`)}
	was := now
	was.Arguments = json.RawMessage(`{"a":"[value of KEY] \u003cb\u003e","b":"[value of KEY]"}`) // as JSON is recorded
	shown := Show(now, mask, echo.NewEntry(echo.MustKey("a/wait"), Approval(was)))
	require.Equal(t, `{"a":"[value of KEY] <b>","b":"[value of KEY]"}`, string(shown.Call.Arguments))
	runs, err := shown.Runs(json.RawMessage(`{"a":"[value of KEY] [text: value of X]","b":"[value of KEY]"}`), true)
	require.NoError(t, err)
	require.Equal(t, `{"a":"[value of KEY] [text: value of X]","b":"s3cret-of-monday"}`, string(runs))
}
