package waiting

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func read(t testing.TB, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	return v
}

func asText(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

var (
	colours = []echo.Option{{ID: "red"}, {ID: "blue", Label: "Blue"}, {ID: ""}, {ID: "a,b"}}
	fields  = []echo.Field{
		{Name: "who", Kind: echo.FormText, Required: true},
		{Name: "how", Kind: echo.FormRating, Most: 3},
		{Name: "sure", Kind: echo.FormConfirmation},
		{Name: "which", Kind: echo.FormMultiChoice, Options: colours[:2]},
	}
)

func TestCheck(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxText+1)
	for _, c := range []struct {
		form        echo.Form
		value, want string // want: a value of JSON, or the error after a !
	}{
		{echo.Form{Kind: echo.FormConfirmation}, `true`, `true`},
		{echo.Form{Kind: echo.FormConfirmation}, `" Yes "`, `true`},
		{echo.Form{Kind: echo.FormConfirmation}, `"n"`, `false`},
		{echo.Form{Kind: echo.FormConfirmation}, `1`, `!the answer is yes or no`},
		{echo.Form{Kind: echo.FormConfirmation}, `"maybe"`, `!the answer is yes or no`},
		{echo.Form{Kind: echo.FormChoice, Options: colours}, `"blue"`, `"blue"`},
		{echo.Form{Kind: echo.FormChoice, Options: colours}, `"Blue"`, `!the answer is one of the options: red, blue, , a,b`},
		{echo.Form{Kind: echo.FormChoice, Options: colours[:2]}, `["red"]`, `!the answer is one of the options: red, blue`},
		{echo.Form{Kind: echo.FormChoice, Options: colours[:2], Custom: true}, `"mauve"`, `"mauve"`},
		{echo.Form{Kind: echo.FormChoice, Options: colours[:2], Custom: true}, `"  "`, `!the answer is one of the options: red, blue`},
		{echo.Form{Kind: echo.FormChoice, Options: colours[:2], Custom: true}, `"` + long + `"`, fmt.Sprintf("!the text has %d bytes, at most %d are taken", MaxText+1, MaxText)},
		{echo.Form{Kind: echo.FormMultiChoice, Options: colours[:2]}, `["blue","red"]`, `["blue","red"]`},
		{echo.Form{Kind: echo.FormMultiChoice, Options: colours[:2]}, `"blue, red"`, `["blue","red"]`},
		{echo.Form{Kind: echo.FormMultiChoice, Options: colours}, `["a,b"]`, `["a,b"]`},
		{echo.Form{Kind: echo.FormMultiChoice, Options: colours}, `"a,b"`, `["a,b"]`},
		{echo.Form{Kind: echo.FormMultiChoice, Options: colours[:2]}, `["red","red"]`, `!"red" is chosen twice`},
		{echo.Form{Kind: echo.FormMultiChoice, Options: colours[:2]}, `[]`, `!the answer is a list of options: red, blue`},
		{echo.Form{Kind: echo.FormMultiChoice, Options: colours[:2]}, `[1]`, `!the answer is one of the options: red, blue`},
		{echo.Form{Kind: echo.FormRating, Most: 5}, `5`, `5`},
		{echo.Form{Kind: echo.FormRating, Most: 5}, `" 3 "`, `3`},
		{echo.Form{Kind: echo.FormRating, Most: 5}, `0`, `!the answer is a whole number from 1 to 5`},
		{echo.Form{Kind: echo.FormRating, Most: 5}, `6`, `!the answer is a whole number from 1 to 5`},
		{echo.Form{Kind: echo.FormRating, Most: 5}, `1.0`, `!the answer is a whole number from 1 to 5`},
		{echo.Form{Kind: echo.FormRating, Most: 5}, `1e0`, `!the answer is a whole number from 1 to 5`},
		{echo.Form{Kind: echo.FormText}, `"a "`, `"a "`},
		{echo.Form{Kind: echo.FormText}, `""`, `!the answer is a text that is not empty`},
		{echo.Form{Kind: echo.FormText}, `{}`, `!the answer is a text that is not empty`},
		{echo.Form{Kind: echo.FormReview}, `"yes"`, `{"approved":true}`},
		{echo.Form{Kind: echo.FormReview}, `{"approved":false,"feedback":"again"}`, `{"approved":false,"feedback":"again"}`},
		{echo.Form{Kind: echo.FormReview}, `{"approved":"yes"}`, `!"approved" is true or false`},
		{echo.Form{Kind: echo.FormReview}, `{"approved":true,"feedback":1}`, fmt.Sprintf(`!"feedback" is a text of at most %d bytes`, MaxText)},
		{echo.Form{Kind: echo.FormReview}, `{"approved":true,"by":"me"}`, `!a review has no "by"`},
		{echo.Form{Kind: echo.FormReview}, `"perhaps"`, `!the answer is {"approved": true or false, "feedback": "..."}`},
		{echo.Form{Kind: echo.FormFields, Fields: fields}, `{"who":"me","how":2,"sure":"no","which":["red"]}`, `{"how":2,"sure":false,"which":["red"],"who":"me"}`},
		{echo.Form{Kind: echo.FormFields, Fields: fields}, `{"who":"me","how":null,"sure":""}`, `{"who":"me"}`},
		{echo.Form{Kind: echo.FormFields, Fields: fields}, `{"how":2}`, `!the field "who": it is required`},
		{echo.Form{Kind: echo.FormFields, Fields: fields}, `{"who":"me","how":4}`, `!the field "how": the answer is a whole number from 1 to 3`},
		{echo.Form{Kind: echo.FormFields, Fields: fields}, `{"who":"me","what":1}`, `!the field "what": the form has no such field; it has who, how, sure, which`},
		{echo.Form{Kind: echo.FormFields, Fields: fields}, `"me"`, `!the answer is an object with a value for each field: who, how, sure, which`},
		{echo.Form{Kind: echo.FormApproval}, `true`, `!a form of the kind "approval" is not answered this way`},
		{echo.Form{Kind: "other"}, `true`, `!a form of the kind "other" is not answered this way`},
	} {
		got, err := Check(&c.form, read(t, c.value))
		if why, fails := strings.CutPrefix(c.want, "!"); fails {
			require.EqualError(t, err, why, "%s of %.60s", c.form.Kind, c.value)
			require.ErrorAs(t, err, new(*FormError))
			continue
		}
		require.NoError(t, err, "%s of %.60s", c.form.Kind, c.value)
		require.JSONEq(t, c.want, asText(t, got))
	}
}

// Whatever a model or a program gives, each hint makes the form that it says, or says why it does not.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, args string
		kind       echo.FormKind
		problem    string
	}{
		{ToolAsk, `{"question":"q"}`, echo.FormText, ""},
		{ToolAsk, `{"question":"q","ui_hint":"confirmation"}`, echo.FormConfirmation, ""},
		{ToolAsk, `{"question":"q","ui_hint":"rating"}`, echo.FormRating, ""},
		{ToolAsk, `{"question":"q","ui_hint":"review"}`, echo.FormReview, ""},
		{ToolAsk, `{"question":"q","ui_hint":"text"}`, echo.FormText, ""},
		{ToolAskForm, `{"question":"q"}`, echo.FormText, ""},
		{ToolAskForm, `{"question":"q","options":["a",{"id":"b"}]}`, echo.FormChoice, ""},
		{ToolAskForm, `{"question":"q","options":["a"],"ui_hint":"multi_choice"}`, echo.FormMultiChoice, ""},
		{ToolAskForm, `{"question":"q","options":["a"],"ui_hint":"rating"}`, "", "A rating has no options."},
		{ToolAskForm, `{"question":"q","ui_hint":"choice"}`, "", "A choice needs options."},
		{ToolAskForm, `{"question":"q","options":["a","a"]}`, "", `Two options have the id "a".`},
		{ToolAskForm, `{"question":"q","options":["a",{"id":"a"}]}`, "", `Two options have the id "a".`},
		{ToolAskForm, `{"question":"q","options":[" "]}`, "", "An option has an empty id."},
		{ToolAskForm, `{"question":"q","options":["a\nb"]}`, "", `The id "a\nb" of an option has a line break, or a character that is not seen. Write it as one line.`},
		{ToolDecision, `{"question":"q","options":[{"id":"\u001b[2Ja"}]}`, "", `The id "\u001b[2Ja" of an option has a line break, or a character that is not seen. Write it as one line.`},
		{ToolAskForm, `{"question":"q","options":[7]}`, "", "An option is a text, or an object with an id."},
		{ToolDecision, `{"question":"q","options":[{"id":"a","label":"A","description":"d","style":"s"}],"allow_custom":true,"timeout_seconds":2}`, echo.FormChoice, ""},
		{ToolDecision, `{"question":"q","options":[]}`, "", "A choice needs options."},
	} {
		w, problem, err := Of(c.tool, json.RawMessage(c.args))
		require.NoError(t, err, c.args)
		require.Equal(t, c.problem, problem, c.args)
		if problem != "" {
			continue
		}
		require.Equal(t, c.kind, w.Form.Kind, c.args)
		require.Equal(t, echo.WaitQuestion, w.Kind)
		require.Equal(t, c.kind == echo.FormRating, w.Form.Most == DefaultMost)
	}
	w, problem, err := Of(ToolAwait, json.RawMessage(`{"signal_name":"go","timeout":3,"description":"d"}`))
	require.NoError(t, err)
	require.Empty(t, problem)
	require.Equal(t, echo.Wait{Kind: echo.WaitSignal, Signal: "go", Timeout: 3, By: echo.AwaitedBy{Tool: ToolAwait, Note: "d"}}, w)
	w, _, err = Of(ToolAskForm, json.RawMessage(`{"question":"q","data":{"b":[1]}}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"b": []any{json.Number("1")}}, w.Form.Data)
	require.Empty(t, w.Form.Context)
	_, _, err = Of(ToolAsk, json.RawMessage(`[]`))
	require.ErrorContains(t, err, "read arguments of ask_human")
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, tool string
		want          bool
	}{
		{"deploy", "deploy", true},
		{"deploy", "deploys", false},
		{"dep*", "deploy", true},
		{"*", "", true},
		{"*", "a/b", true},
		{"write_*", "write_", true},
		{"*_file", "write_file", true},
		{"w*_*e", "write_file", true},
		{"w*_*x", "write_file", false},
		{"a*a", "a", false},
		{"a*b*c", "acb", false},
		{"[x", "[x", true},
		{"mcp*", "mcp/server.tool", true},
		{"[a-z]*", "deploy", false},
		{"depl?y", "deploy", false},
		{`dep\*`, `dep\loy`, true},
		{"", "deploy", false},
	} {
		require.Equal(t, c.want, Needs([]string{"other", c.pattern}, c.tool), "%s of %s", c.tool, c.pattern)
	}
	require.False(t, Needs(nil, "deploy"))
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{ "b" : 1.50, "a":[ 1e3 ,null ] }`:    `{"a":[1e3,null],"b":1.50}`,
		`{"n":12345678901234567890123,"z":-0}`: `{"n":12345678901234567890123,"z":-0}`,
		`{"a":1,"a":2}`:                        `{"a":2}`,
		`{"t":"<&>\u00e9\/"}`:                  `{"t":"<&>é/"}`,
		"{\"t\":\"a\u2028b\"}":                 `{"t":"a\u2028b"}`,
		`{}`:                                   `{}`,
		`{"deep":{"z":{"y":1,"x":2},"a":[{"c":1,"b":2}]}}`: `{"deep":{"a":[{"b":2,"c":1}],"z":{"x":2,"y":1}}}`,
	} {
		got, err := Canonical(json.RawMessage(args))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		again, err := Canonical(got)
		require.NoError(t, err)
		require.Equal(t, want, string(again))
	}
	for args, why := range map[string]string{
		`{`: "read arguments: unexpected EOF", ``: "read arguments: EOF", `{} {}`: "read arguments: something follows the JSON value", `{}x`: "read arguments: something follows the JSON value",
	} {
		_, err := Canonical(json.RawMessage(args))
		require.EqualError(t, err, why, args)
	}
}

// The hash of an approval covers all that decides what runs: each change of it is another hash.
func TestHashCoversWhatRuns(t *testing.T) {
	t.Parallel()
	call := func(tool, args, cascade string) echo.Hash {
		canonical, err := Canonical(json.RawMessage(args))
		require.NoError(t, err)
		w := Approval(echo.AwaitedCall{Tool: tool, Arguments: canonical, Cascade: cascade})
		require.Equal(t, w.Shown, w.Call.Hash())
		return w.Shown
	}
	const args, cascade = `{"a":{"b":["x",1,true,null]},"c":"d"}`, "0123456789abcdef"
	of := call("deploy", args, cascade)
	require.Equal(t, of, call("deploy", ` {"c": "d", "a": {"b":["x", 1,true,null]}}`, cascade), "the same call")
	seen := map[echo.Hash]string{of: "the call"}
	differs := func(what string, h echo.Hash) {
		require.NotContains(t, seen, h, what)
		seen[h] = what
	}
	for i := range cascade { // every digit of the cascade
		differs(fmt.Sprint("cascade ", i), call("deploy", args, cascade[:i]+"f"+strings.Repeat("f", len(cascade)-i)))
		if i == len(cascade)-2 {
			break
		}
	}
	for i := range "deploy" { // every letter of the tool
		differs(fmt.Sprint("tool ", i), call("deploy"[:i]+"_"+"deploy"[i+1:], args, cascade))
	}
	differs("a longer tool", call("deploys", args, cascade))
	for i := range args { // every byte of the arguments that leaves them JSON
		for _, by := range []byte(`0127xyztf"{}[],:`) {
			changed := args[:i] + string(by) + args[i+1:]
			canonical, err := Canonical(json.RawMessage(changed))
			same, _ := Canonical(json.RawMessage(args))
			if err != nil || string(canonical) == string(same) {
				continue
			}
			differs(changed, call("deploy", changed, cascade))
		}
	}
	// Nothing moves from one part into another.
	differs("quotes", call(`deploy","x":"y`, args, cascade))
	differs("moved", call("deploy", `{"a":{"b":["x",1,true,null]},"c":"d","cascade":"0123456789abcdef","tool":"deploy"}`, ""))
	require.Greater(t, len(seen), 60)
}

func fits(args json.RawMessage) (string, error) {
	var v struct{ N *float64 }
	if json.Unmarshal(args, &v) != nil {
		return "no object", nil //nolint:nilerr // the problem says it
	}
	if v.N != nil && *v.N > 5 {
		return "n is at most 5", nil
	}
	return "", nil
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const shape = `!the answer is {"decision": "allow"}, {"decision": "deny", "reason": "..."} or {"decision": "edit", "arguments": {...}}`
	for _, c := range []struct{ value, want string }{
		{`"allow"`, `{"decision":"allow"}`},
		{`{"decision":"allow","reason":"fine"}`, `{"decision":"allow","reason":"fine"}`},
		{`{"decision":"deny","reason":"no"}`, `{"decision":"deny","reason":"no"}`},
		{`{"decision":"edit","arguments":{"b":1.50,"a":2}}`, `{"decision":"edit","arguments":{"a":2,"b":1.50}}`},
		{`"edit"`, `!an edit needs arguments`},
		{`{"decision":"edit","arguments":{"n":6}}`, `!n is at most 5`},
		{`{"decision":"edit","arguments":[1]}`, `!no object`},
		{`{"decision":"allow","arguments":{}}`, `!only an edit has arguments, and the decision is allow`},
		{`{"decision":"Allow"}`, `!the decision is "Allow": it is allow, deny or edit`},
		{`{}`, `!the decision is "": it is allow, deny or edit`},
		{`true`, shape},
		{`["allow"]`, shape},
		{`{"decision":"allow","tool":"other"}`, shape},
		{`{"decision":"deny","reason":"` + strings.Repeat("x", MaxText+1) + `"}`, fmt.Sprintf("!the reason has %d bytes, at most %d are taken", MaxText+1, MaxText)},
		{`null`, `!the decision is "": it is allow, deny or edit`},
	} {
		d, err := Decide(read(t, c.value), fits)
		if why, fails := strings.CutPrefix(c.want, "!"); fails {
			require.EqualError(t, err, why, "%.80s", c.value)
			require.ErrorAs(t, err, new(*FormError))
			continue
		}
		require.NoError(t, err, c.value)
		require.JSONEq(t, c.want, asText(t, d.Value()))
		require.Equal(t, d.Verdict == Deny, Denies(d.Value()))
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{`true`, `"red"`, `["red","blue"]`, `3`, `{"approved":true}`, `{"who":"x"}`, `"\ud800"`, `null`} {
		f.Add(text, byte(0))
	}
	forms := []echo.Form{
		{Kind: echo.FormConfirmation},
		{Kind: echo.FormChoice, Options: colours},
		{Kind: echo.FormChoice, Options: colours[:1], Custom: true},
		{Kind: echo.FormMultiChoice, Options: colours},
		{Kind: echo.FormRating, Most: 5},
		{Kind: echo.FormText},
		{Kind: echo.FormReview},
		{Kind: echo.FormFields, Fields: fields},
		{Kind: echo.FormApproval},
	}
	f.Fuzz(func(t *testing.T, text string, kind byte) {
		var v any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			return
		}
		form := &forms[int(kind)%len(forms)]
		got, err := Check(form, v)
		if err != nil {
			require.ErrorAs(t, err, new(*FormError))
			return
		}
		again, err := Check(form, read(t, asText(t, got)))
		require.NoError(t, err, "what is accepted is accepted again")
		require.Equal(t, asText(t, got), asText(t, again))
	})
}

func FuzzDecide(f *testing.F) {
	for _, text := range []string{`"allow"`, `{"decision":"deny","reason":"no"}`, `{"decision":"edit","arguments":{"n":1}}`, `{"decision":"edit","arguments":null}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			return
		}
		d, err := Decide(v, fits)
		if err != nil {
			require.ErrorAs(t, err, new(*FormError))
			return
		}
		again, err := Decide(read(t, asText(t, d.Value())), fits)
		require.NoError(t, err, "what is accepted is accepted again")
		require.Equal(t, d, again)
	})
}

func TestTold(t *testing.T) {
	t.Parallel()
	signal := &echo.Wait{Kind: echo.WaitSignal, Signal: `a"b`}
	for _, c := range []struct {
		wait   *echo.Wait
		answer echo.Answer
		text   string
		failed bool
	}{
		{signal, echo.Answer{Value: map[string]any{"n": json.Number("1")}}, `{"_route": "fired", "signal_name": "a\"b", "payload": {"n":1}}`, false},
		{signal, echo.Answer{Value: "x"}, `{"_route": "fired", "signal_name": "a\"b", "payload": "x"}`, false},
		{signal, echo.Answer{}, `{"_route": "fired", "signal_name": "a\"b", "payload": null}`, false},
		{signal, echo.Answer{TimedOut: true}, `{"_route": "timeout", "signal_name": "a\"b"}`, false},
		{&echo.Wait{Kind: echo.WaitQuestion}, echo.Answer{Value: true}, "true", false},
		{&echo.Wait{Kind: echo.WaitQuestion}, echo.Answer{TimedOut: true}, "Nobody has answered in time. Go on with what you know, and say what you have assumed.", true},
	} {
		text, failed := Told(c.wait, &c.answer)
		require.Equal(t, c.text, text)
		require.Equal(t, c.failed, failed)
		if c.wait == signal {
			require.True(t, json.Valid([]byte(text)))
		}
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	w := &echo.Wait{Kind: echo.WaitInput, Form: &echo.Form{Question: "Ok?"}, Timeout: 2, Default: "yes"}
	value, told, err := Settled(w, &echo.Answer{Value: "no"})
	require.NoError(t, err)
	require.Equal(t, []any{"no", "A person was asked: Ok?\nThe answer: no"}, []any{value, told})
	late := &echo.Answer{TimedOut: true}
	for expiry, want := range map[echo.OnTimeout][]any{
		echo.TimeoutContinue: {nil, "A person was asked: Ok?\nNobody has answered in time."},
		echo.TimeoutDefault:  {"yes", "A person was asked: Ok?\nNobody has answered in time. The default is taken: yes"},
	} {
		w.Expiry = expiry
		value, told, err = Settled(w, late)
		require.NoError(t, err)
		require.Equal(t, want, []any{value, told})
	}
	w.Expiry = echo.TimeoutFail
	_, _, err = Settled(w, late)
	require.EqualError(t, err, `nobody has answered "Ok?" within 2 seconds, and on_timeout is fail`)
}

// An earlier approval counts only for arguments of which a person would see everything.
func TestReadable(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{
		`{}`:                                 true,
		`{"a":[1,{"b":"two\n\tlines é 世"}]}`: true,
		`[]`:                                 false,
		`null`:                               false,
		`{`:                                  false,
		`{"a":"[value of KEY]"}`:             false,
		`{"a":["x",{"[value of KEY]":1}]}`:   false,
		`{"a":"x\u202ey"}`:                   false,
		`{"a":"x\u0000"}`:                    false,
		`{"a":"\u001b[2J"}`:                  false,
		`{"a":"\ufffd"}`:                     false,
		"{\"a\":\"\xff\"}":                   false,
	} {
		require.Equal(t, want, Readable(json.RawMessage(args)), args)
	}
	require.True(t, Allows("allow"))
	require.False(t, Allows("deny"))
	require.False(t, Allows(map[string]any{"decision": "edit", "arguments": map[string]any{}}))
}

// What a model writes as a decision is asked, or said to be wrong; nothing of it can lead to a phase that the file does not name.
func TestAsk(t *testing.T) {
	t.Parallel()
	p := Points{Routing: map[string]string{"no": ActionAbort, "later": "shelf"}, Targets: []string{"shelf"}, Retries: 1}
	for text, want := range map[string]string{
		"nothing":                   "",
		"talk of <decision> blocks": "",
		`<decision>{"question":"q"`: "The decision has no end: </decision> is missing.",
		`<decision>{"question":"q"}</decision><decision>{}</decision>`:                "There are several decisions in the answer, and one can be asked at a time.",
		`<decision>{"question":}</decision>`:                                          "The decision is no JSON object that can be read: invalid character '}' looking for beginning of value.",
		`<decision>{"question":"q","options":[]}</decision>`:                          "The decision has 0 options; it needs 1 to 64.",
		`<decision>{"options":["a"]}</decision>`:                                      `The decision has no "question".`,
		`<decision>{"question":"q","options":["a","a"]}</decision>`:                   `The decision: Two options have the id "a".`,
		`<decision>{"question":"q","options":[{"id":"a","action":"end"}]}</decision>`: `The option "a" of the decision leads to "end". What can follow: _continue, _retry, _abort, shelf.`,
	} {
		got := p.Ask(text)
		require.Nil(t, got.Form, text)
		require.Equal(t, want, got.Problem, text)
		require.Equal(t, text, got.Rest)
	}
	got := p.Ask("Before.\n<decision> {\"question\":\"q\",\"options\":[\"no\",{\"id\":\"later\",\"action\":\"_retry\"},\"later2\",{\"id\":\"x\",\"action\":\"shelf\"}]}</decision>\n After.")
	require.Equal(t, "Before.\n\nAfter.", got.Rest)
	require.Equal(t, []string{ActionAbort, ActionRetry, ActionContinue, "shelf"}, got.Form.Actions)
	p.Retries = 0
	require.True(t, p.Ask(`<decision>{"question":"q","options":[{"id":"a","action":"_retry"}]}</decision>`).Spent)
	require.Contains(t, p.HowToDecide(), "It can also be the phase that runs next: shelf.")
}

func TestCheckFeedback(t *testing.T) {
	t.Parallel()
	f := &echo.Form{Kind: echo.FormChoice, Options: colours[:2], Feedback: true}
	for value, want := range map[string]string{
		`"red"`:                             `"red"`,
		`{"choice":"red"}`:                  `"red"`,
		`{"choice":"red","feedback":" "}`:   `"red"`,
		`{"choice":"red","feedback":"x"}`:   `{"choice":"red","feedback":"x"}`,
		`{"choice":"green","feedback":"x"}`: "!the answer is one of the options: red, blue",
		`{"choice":"red","feedback":1}`:     `!"feedback" is a text of at most 262144 bytes`,
		`{"choice":"red","feed":"x"}`:       `!a decision has no "feed": the answer is {"choice": "...", "feedback": "..."}`,
		`{}`:                                "!the answer is one of the options: red, blue",
	} {
		got, err := Check(f, read(t, value))
		if why, fails := strings.CutPrefix(want, "!"); fails {
			require.EqualError(t, err, why, value)
			continue
		}
		require.NoError(t, err)
		require.JSONEq(t, want, asText(t, got))
	}
	f.Feedback = false
	_, err := Check(f, read(t, `{"choice":"red"}`))
	require.Error(t, err)
}

func FuzzAsk(f *testing.F) {
	f.Add(`x<decision>{"question":"q","options":["a",{"id":"b","action":"_retry"}]}</decision>y`)
	f.Fuzz(func(t *testing.T, text string) {
		p := Points{Routing: map[string]string{"a": "next"}, Targets: []string{"next"}, Retries: 1}
		got := p.Ask(text)
		if got.Form == nil {
			return
		}
		require.Len(t, got.Form.Actions, len(got.Form.Options))
		for i, action := range got.Form.Actions {
			require.True(t, IsAction(action) || action == "next")
			_, _, follows := Chosen(got.Form, got.Form.Options[i].ID)
			require.Equal(t, action, follows)
		}
	})
}
