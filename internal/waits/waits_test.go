package waits_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/waits"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const session = "ship"

// deskOf has a home with one session, which waits for each of these under the keys k1/wait, k2/wait, ...
func deskOf(t *testing.T, list ...echo.Wait) waits.Desk {
	t.Helper()
	d := waits.Desk{Home: t.TempDir(), Now: func() time.Time { return began.Add(time.Hour) }}
	write(t, d.Home, journal.Header{SessionID: session}, list, 0)
	return d
}

// write makes a session that waits, of which the first so many are answered.
func write(t *testing.T, home string, h journal.Header, list []echo.Wait, answered int) {
	t.Helper()
	h.Rules, h.StartedAt, h.Cascade, h.Input = 1, began, json.RawMessage(`{"cascade_id":"c"}`), json.RawMessage(`{}`)
	j, err := journal.Create(config.SessionDir(home, h.SessionID), h)
	require.NoError(t, err)
	seq := uint64(0)
	add := func(e *echo.Entry) {
		seq++
		e.SessionID, e.Seq, e.At, e.CascadeID, e.Phase = h.SessionID, seq, began.Add(time.Duration(seq)*time.Second), "c", "a"
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}
	for i, w := range list {
		e := &echo.Entry{Key: keyOf(i)}
		e.Set(w)
		add(e)
	}
	for i := range answered {
		e := &echo.Entry{Key: keyOf(i)}
		e.Set(echo.Answer{Value: true, At: began})
		add(e)
	}
	end := &echo.Entry{Key: echo.MustKey("run/end")}
	end.Set(echo.RunEnd{Status: echo.StatusWaiting, Reason: echo.StopWaiting})
	add(end)
	j.Flush()
	require.NoError(t, j.Close(t.Context()))
}

func keyOf(i int) echo.Key { return echo.MustKey(fmt.Sprintf("a/attempt1/turn%d/tool1/wait", i+1)) }

func idOf(i int) string { return echo.WaitID(session, keyOf(i)) }

func question(f echo.Form) echo.Wait {
	if f.Question == "" {
		f.Question = "Well?"
	}
	return echo.Wait{Kind: echo.WaitQuestion, Form: &f}
}

func find(t *testing.T, d waits.Desk, i int) *waits.Wait {
	t.Helper()
	w, err := d.Find(t.Context(), idOf(i))
	require.NoError(t, err)
	return w
}

func TestList(t *testing.T) {
	t.Parallel()
	d := deskOf(t, question(echo.Form{Kind: echo.FormText}), echo.Wait{Kind: echo.WaitSignal, Signal: "go", Timeout: 90, By: echo.AwaitedBy{Note: "of the build"}}, approval())
	write(t, d.Home, journal.Header{SessionID: "child", Parent: session, Root: session}, []echo.Wait{question(echo.Form{Kind: echo.FormText, Question: "And?"})}, 0)
	write(t, d.Home, journal.Header{SessionID: "other"}, []echo.Wait{question(echo.Form{Kind: echo.FormText}), question(echo.Form{Kind: echo.FormText})}, 1)
	require.NoError(t, os.MkdirAll(config.SessionDir(d.Home, "broken"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(config.SessionDir(d.Home, "broken"), journal.File), []byte("{"), 0o600))

	all, err := d.List(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, all, 5, "one of the other session is answered")
	for i, w := range all[1:] {
		require.False(t, w.Since.Before(all[i].Since), "the oldest is first")
	}
	own, err := d.List(t.Context(), session)
	require.NoError(t, err)
	require.Len(t, own, 4, "its child's too")
	byID := map[string]*waits.Wait{}
	for _, w := range own {
		byID[w.ID] = w
		require.Equal(t, session, w.Root)
	}
	signal := byID[idOf(1)]
	require.Equal(t, `signal "go" of the build`, signal.Asked)
	require.Equal(t, began.Add(92*time.Second), *signal.Deadline)
	require.False(t, signal.IsReady(signal.Deadline.Add(-1)))
	require.True(t, signal.IsReady(*signal.Deadline))
	require.Equal(t, `deploy {"to":"prod"}`, byID[idOf(2)].Asked)
	require.Equal(t, "approval of deploy", byID[idOf(2)].For())
	require.Equal(t, "an answer", byID[idOf(0)].For())
	require.Equal(t, `the signal "go"`, signal.For())
}

func TestFind(t *testing.T) {
	t.Parallel()
	many := make([]echo.Wait, 40) // so many that two begin with the same character
	for i := range many {
		many[i] = question(echo.Form{Kind: echo.FormConfirmation})
	}
	d := deskOf(t, many...)
	w, err := d.Find(t.Context(), idOf(3))
	require.NoError(t, err)
	require.Equal(t, keyOf(3), w.Key)
	w, err = d.Find(t.Context(), idOf(3)[:9])
	require.NoError(t, err)
	require.Equal(t, idOf(3), w.ID)

	all, err := d.List(t.Context(), "")
	require.NoError(t, err)
	begin := ""
	var ids []string
	for _, first := range "0123456789abcdefghjkmnpqrstvwxyz" {
		ids = nil
		for _, w := range all {
			if strings.HasPrefix(w.ID, string(first)) {
				ids = append(ids, w.ID)
			}
		}
		if len(ids) > 1 {
			begin = string(first)
			break
		}
	}
	require.NotEmpty(t, begin)
	_, err = d.Find(t.Context(), begin)
	require.EqualError(t, err, fmt.Sprintf("%q is the beginning of %d waits: %s", begin, len(ids), strings.Join(ids, ", ")))
	require.True(t, failure.Is(err, failure.UnknownWait))
	for _, given := range []string{"", "u", "../../etc/passwd", echo.WaitID("elsewhere", keyOf(0))} {
		_, err = d.Find(t.Context(), given)
		require.EqualError(t, err, fmt.Sprintf("there is no open wait %q", given))
		require.True(t, failure.Is(err, failure.UnknownWait))
	}
}

// TestFindWhatIsAnsweredOnTheRecord asks for a wait that is not open any more.
func TestFindWhatIsAnsweredOnTheRecord(t *testing.T) {
	t.Parallel()
	d := waits.Desk{Home: t.TempDir()}
	write(t, d.Home, journal.Header{SessionID: session}, []echo.Wait{question(echo.Form{Kind: echo.FormText})}, 1)
	require.NoError(t, waits.Box(d.Home, session).Answer(idOf(0), echo.Answer{Value: "x", By: "ann", Via: echo.ViaCommand, At: began}))
	_, err := d.Find(t.Context(), idOf(0))
	require.EqualError(t, err, "the wait "+idOf(0)+" was answered by ann (command) at "+began.Local().Format("2006-01-02 15:04:05"))
	require.True(t, failure.Is(err, failure.AlreadyAnswered))
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	d := deskOf(t, question(echo.Form{Kind: echo.FormText}), echo.Wait{Kind: echo.WaitSignal, Signal: "go"}, echo.Wait{Kind: echo.WaitInput, Form: &echo.Form{Kind: echo.FormText}, Timeout: 60})
	given := waits.Given{Value: "fine", By: "ann", Via: echo.ViaCommand}
	require.NoError(t, d.Answer(find(t, d, 0), given))
	got, err := waits.Box(d.Home, session).Answered(idOf(0))
	require.NoError(t, err)
	require.Equal(t, &echo.Answer{Value: "fine", By: "ann", Via: echo.ViaCommand, At: began.Add(time.Hour)}, got)
	require.Equal(t, got, find(t, d, 0).Answer, "it is open until the run takes the answer")
	require.True(t, find(t, d, 0).IsReady(began))

	given.By = "ben"
	err = d.Answer(find(t, d, 0), given)
	require.EqualError(t, err, "the wait "+idOf(0)+" was answered by ann (command) at "+began.Add(time.Hour).Local().Format("2006-01-02 15:04:05"))
	require.True(t, failure.Is(err, failure.AlreadyAnswered))
	require.ErrorAs(t, err, new(*mailbox.TakenError))

	err = d.Answer(find(t, d, 1), given)
	require.EqualError(t, err, "the wait "+idOf(1)+` is for the signal "go" and is not answered`)
	require.True(t, failure.Is(err, failure.InvalidRequest))

	late := find(t, d, 2)
	err = d.Answer(late, given)
	require.EqualError(t, err, "the wait "+idOf(2)+" ended without an answer at "+late.Deadline.Local().Format("2006-01-02 15:04:05"))
	require.True(t, failure.Is(err, failure.AlreadyAnswered))
	d.Now = func() time.Time { return late.Deadline.Add(-time.Nanosecond) }
	require.NoError(t, d.Answer(late, given))
	d.Now = func() time.Time { return late.Deadline.Add(time.Hour) }
	require.ErrorAs(t, d.Answer(find(t, d, 2), given), new(*mailbox.TakenError), "it was answered in time, and not taken yet")
}

func approval() echo.Wait {
	return waiting.Approval(echo.AwaitedCall{
		Tool: "deploy", Arguments: json.RawMessage(`{"to":"prod"}`), Cascade: "0123456789abcdef",
		Schema: json.RawMessage(`{"type":"object","required":["to"],"additionalProperties":false,"properties":{"to":{"enum":["prod","staging"]}}}`),
	})
}

// A decision is listed with the output that it is on, which the record has where the model wrote it.
func TestDecisionsHaveTheirOutput(t *testing.T) {
	t.Parallel()
	asks := echo.Wait{Kind: echo.WaitDecision, Form: &echo.Form{Kind: echo.FormChoice, Question: "Fine?", Options: []echo.Option{{ID: "yes"}}}}
	for text, want := range map[string]string{
		"The draft.\n<decision>{\"question\":\"Fine?\"}</decision>\nIts end.": "The draft.\n\nIts end.",
		"[redacted]":                            "[redacted]",
		"<decision>{\"question\":1}</decision>": "<decision>{\"question\":1}</decision>",
		"A draft <decision>{}":                  "A draft <decision>{}",
		"":                                      "",
	} {
		d := waits.Desk{Home: t.TempDir()}
		j, err := journal.Create(config.SessionDir(d.Home, session), journal.Header{SessionID: session, Rules: 1, StartedAt: began, Cascade: json.RawMessage(`{"cascade_id":"c"}`), Input: json.RawMessage(`{}`)})
		require.NoError(t, err)
		wait := echo.NewEntry(echo.MustKey("a/attempt2/turn1/wait"), asks)
		for i, e := range []*echo.Entry{
			{NodeType: echo.NodeModelCall, Key: echo.MustKey("a/attempt1/turn1/model"), Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "before")},
			{NodeType: echo.NodeModelCall, Key: echo.MustKey("a/attempt2/turn1/model"), Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, text)},
			{NodeType: echo.NodeModelCall, Key: echo.MustKey("b/attempt1/turn1/model"), Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "of another branch")},
			wait,
		} {
			e.SessionID, e.Seq, e.At, e.CascadeID = session, uint64(i+1), began, "c"
			e.SetKeyFields()
			if e.Message != nil {
				e.ContentHash = e.Message.Hash()
			}
			require.NoError(t, j.Write(e))
		}
		j.Flush()
		require.NoError(t, j.Close(t.Context()))
		list, err := d.List(t.Context(), "")
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, want, list[0].Output)
		live := waits.Of(&asks, list[0].Place, began)
		require.NoError(t, d.WithOutput(live))
		require.Equal(t, want, live.Output)
	}
	require.NoError(t, waits.Desk{}.WithOutput(&waits.Wait{Kind: echo.WaitInput}), "nothing is read")
	require.ErrorContains(t, waits.Desk{Home: t.TempDir()}.WithOutput(&waits.Wait{Kind: echo.WaitDecision, Place: waits.Place{Session: session}}), "no such file")
}

// What stands in a list of a call hides nothing.
func TestAskedHidesNothing(t *testing.T) {
	t.Parallel()
	w := approval()
	w.Call.Arguments = json.RawMessage(`{"to":"pay\u202e001\u200b<"}`)
	require.Equal(t, `deploy {"to":"pay\u202e001\u200b<"}`, find(t, deskOf(t, w), 0).Asked)
	edit := waits.Decided{Answer: echo.Answer{Value: map[string]any{"decision": "edit", "arguments": map[string]any{"to": "a\u200bb"}}}}
	require.Equal(t, `edit: {"to":"a\u200bb"}`, edit.Text())
}

func TestAnswerIsOfWhatIsShown(t *testing.T) {
	t.Parallel()
	d := deskOf(t, approval())
	w := find(t, d, 0)
	err := d.Answer(w, waits.Given{Value: "allow", Shown: "0000000000000000"})
	require.EqualError(t, err, fmt.Sprintf(`the wait %s does not show what the answer is for: it shows %q, and the answer says "0000000000000000"`, idOf(0), w.Shown))
	require.True(t, failure.Is(err, failure.AlreadyAnswered))
	require.NoError(t, d.Answer(w, waits.Given{Value: "allow", Shown: w.Shown}))
	got, err := waits.Box(d.Home, session).Answered(idOf(0))
	require.NoError(t, err)
	require.Equal(t, w.Shown, got.Shown)
	require.Equal(t, map[string]any{"decision": "allow"}, got.Value)
}

// TestAnswersOfEachKind has for each kind of form what answers it, as it is recorded, and what does not.
func TestAnswersOfEachKind(t *testing.T) {
	t.Parallel()
	options := []echo.Option{{ID: "a"}, {ID: "b"}}
	form := question(echo.Form{Kind: echo.FormFields, Fields: []echo.Field{
		{Name: "who", Kind: echo.FormText, Required: true}, {Name: "sure", Kind: echo.FormConfirmation}, {Name: "which", Kind: echo.FormChoice, Options: options},
	}})
	reviewed := `the answer is {"approved": true or false, "feedback": "..."}`
	decided := `the answer is {"decision": "allow"}, {"decision": "deny", "reason": "..."} or {"decision": "edit", "arguments": {...}}`
	ofSecret := waiting.Approval(echo.AwaitedCall{
		Tool: "deploy", Arguments: json.RawMessage(`{"n":"<b>","to":["[value of KEY]"]}`), Cascade: "0123456789abcdef",
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"string"},"to":{"type":"array","items":{"type":"string","pattern":"^[-a-z0-9]+$"}}}}`),
	})
	type object = map[string]any
	for _, test := range []struct {
		name  string
		wait  echo.Wait
		value any
		want  any
		err   string
	}{
		{"yes", question(echo.Form{Kind: echo.FormConfirmation}), "Yes", true, ""},
		{"true", question(echo.Form{Kind: echo.FormConfirmation}), true, true, ""},
		{"maybe", question(echo.Form{Kind: echo.FormConfirmation}), "maybe", nil, "the answer is yes or no"},
		{"choice", question(echo.Form{Kind: echo.FormChoice, Options: options}), "b", "b", ""},
		{"no option", question(echo.Form{Kind: echo.FormChoice, Options: options}), "c", nil, "the answer is one of the options: a, b"},
		{"own text", question(echo.Form{Kind: echo.FormChoice, Options: options, Custom: true}), "c", "c", ""},
		{"several", question(echo.Form{Kind: echo.FormMultiChoice, Options: options}), "b, a", []any{"b", "a"}, ""},
		{"several in a list", question(echo.Form{Kind: echo.FormMultiChoice, Options: options}), []any{"a"}, []any{"a"}, ""},
		{"twice", question(echo.Form{Kind: echo.FormMultiChoice, Options: options}), "a,a", nil, `"a" is chosen twice`},
		{"none of several", question(echo.Form{Kind: echo.FormMultiChoice, Options: options}), []any{}, nil, "the answer is a list of options: a, b"},
		{"rating", question(echo.Form{Kind: echo.FormRating, Most: 5}), "5", json.Number("5"), ""},
		{"too high", question(echo.Form{Kind: echo.FormRating, Most: 5}), json.Number("6"), nil, "the answer is a whole number from 1 to 5"},
		{"half", question(echo.Form{Kind: echo.FormRating, Most: 5}), json.Number("2.5"), nil, "the answer is a whole number from 1 to 5"},
		{"text", question(echo.Form{Kind: echo.FormText}), "a\xffb", "a\ufffdb", ""},
		{"empty", question(echo.Form{Kind: echo.FormText}), " ", nil, "the answer is a text that is not empty"},
		{"no text", question(echo.Form{Kind: echo.FormText}), json.Number("1"), nil, "the answer is a text that is not empty"},
		{"long", question(echo.Form{Kind: echo.FormText}), strings.Repeat("x", waiting.MaxText+1), nil, fmt.Sprintf("the text has %d bytes, at most %d are taken", waiting.MaxText+1, waiting.MaxText)},
		{"review", question(echo.Form{Kind: echo.FormReview}), "no", object{"approved": false}, ""},
		{"review with feedback", question(echo.Form{Kind: echo.FormReview}), object{"approved": true, "feedback": "nice"}, object{"approved": true, "feedback": "nice"}, ""},
		{"no review", question(echo.Form{Kind: echo.FormReview}), "perhaps", nil, reviewed},
		{"review of another form", question(echo.Form{Kind: echo.FormReview}), object{"approved": "yes"}, nil, `"approved" is true or false`},
		{"review with more", question(echo.Form{Kind: echo.FormReview}), object{"approved": true, "x": 1}, nil, `a review has no "x"`},
		{"form", form, object{"who": "me", "sure": "no", "which": "a"}, object{"who": "me", "sure": false, "which": "a"}, ""},
		{"form without what it may lack", form, object{"who": "me", "sure": ""}, object{"who": "me"}, ""},
		{"form without a field", form, object{"sure": "no"}, nil, `the field "who": it is required`},
		{"form with a wrong field", form, object{"who": "me", "which": "z"}, nil, `the field "which": the answer is one of the options: a, b`},
		{"form with another field", form, object{"who": "me", "x": "z"}, nil, `the field "x": the form has no such field; it has who, sure, which`},
		{"no form", form, "me", nil, "the answer is an object with a value for each field: who, sure, which"},
		{"deny", approval(), object{"decision": "deny", "reason": "no"}, object{"decision": "deny", "reason": "no"}, ""},
		{"edit", approval(), object{"decision": "edit", "arguments": object{"to": "staging"}}, object{"decision": "edit", "arguments": object{"to": "staging"}}, ""},
		{"edit that does not fit", approval(), object{"decision": "edit", "arguments": object{"to": "mars"}}, nil, "the arguments do not match the schema of deploy: "},
		{"edit that changes nothing", approval(), object{"decision": "edit", "arguments": object{"to": "prod"}}, nil, "the arguments are the ones that were shown: allow the call, or change something"},
		{"edit that keeps a secret", ofSecret, object{"decision": "edit", "arguments": object{"to": []any{"-[value of KEY]"}, "n": "[text: value of X]"}}, object{"decision": "edit", "arguments": object{"to": []any{"-[value of KEY]"}, "n": "[text: value of X]"}}, ""},
		{"edit that keeps all of a secret", ofSecret, object{"decision": "edit", "arguments": object{"n": "<b>", "to": []any{"[value of KEY]"}}}, nil, "the arguments are the ones that were shown"},
		{
			"edit that names another secret", ofSecret,
			object{"decision": "edit", "arguments": object{"to": []any{"[value of OTHER]"}}},
			nil,
			"the arguments have [value of OTHER], and those that were shown do not: an edit can only keep the secrets of its call; the text itself is written as [text: value of OTHER]",
		},
		{"edit with a text where no secret may be", ofSecret, object{"decision": "edit", "arguments": object{"to": "[value of KEY]"}}, nil, "the arguments do not match the schema of deploy: /to: "},
		{"edit with a text that does not fit", ofSecret, object{"decision": "edit", "arguments": object{"to": []any{"[value of KEY]", "X"}}}, nil, "the arguments do not match the schema of deploy: /to/1: "},
		{"edit of nothing", approval(), object{"decision": "edit"}, nil, "an edit needs arguments"},
		{"allow with arguments", approval(), object{"decision": "allow", "arguments": object{}}, nil, "only an edit has arguments, and the decision is allow"},
		{"no decision", approval(), "yes", nil, `the decision is "yes": it is allow, deny or edit`},
		{"list", approval(), []any{"allow"}, nil, decided},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, test.wait)
			err := d.Answer(find(t, d, 0), waits.Given{Value: test.value, By: "ann", Via: echo.ViaCommand})
			if test.err != "" {
				require.ErrorContains(t, err, "the answer to wait "+idOf(0)+" is not taken: "+test.err)
				require.True(t, failure.Is(err, failure.InvalidAnswer))
				require.NoDirExists(t, waits.Box(d.Home, session).Dir)
				return
			}
			require.NoError(t, err)
			got, err := waits.Box(d.Home, session).Answered(idOf(0))
			require.NoError(t, err)
			require.Equal(t, test.want, got.Value)
		})
	}
}

func TestSignal(t *testing.T) {
	t.Parallel()
	d := deskOf(t, echo.Wait{Kind: echo.WaitSignal, Signal: "go"}, echo.Wait{Kind: echo.WaitSignal, Signal: "late", Timeout: 1})
	a := echo.Answer{Letter: "l1", Value: "x", By: "ann", Via: echo.ViaCommand, At: began.Add(time.Hour)}
	for _, test := range []struct {
		session, name string
		kind          failure.Kind
		err           string
	}{
		{"", "", failure.InvalidRequest, "the name of a signal is empty"},
		{"", " ", failure.InvalidRequest, "the name of a signal is empty"},
		{"", strings.Repeat("x", 201), failure.InvalidRequest, "the name of a signal has at most 200 characters, not 201"},
		{"nobody", "go", failure.UnknownSession, "there is no session nobody on this machine"},
		{"../ship", "go", failure.UnknownSession, `"../ship" is no id of a session`},
	} {
		err := d.Signal(test.session, test.name, a)
		require.EqualError(t, err, test.err)
		require.True(t, failure.Is(err, test.kind))
	}
	require.NoDirExists(t, waits.HomeBox(d.Home).Dir)
	require.NoDirExists(t, config.SessionDir(d.Home, "nobody"))

	has := func(i int) bool {
		t.Helper()
		has, err := d.HasSignal(find(t, d, i))
		require.NoError(t, err)
		return has
	}
	require.False(t, has(0))
	require.NoError(t, d.Signal("", "go", a))
	require.True(t, has(0), "one for whoever waits first")
	require.NoError(t, d.Signal(session, "late", a))
	require.False(t, has(1), "it came after the end of the wait")
	a.Letter, a.At = "l2", began
	require.NoError(t, d.Signal(session, "late", a))
	require.True(t, has(1))

	// Another one takes the signal. What the wait itself has taken is its own still.
	_, err := waits.HomeBox(d.Home).Take("go", waits.Claimant("other", keyOf(0)), time.Time{})
	require.NoError(t, err)
	require.False(t, has(0))
	_, err = waits.Box(d.Home, session).Take("late", waits.Claimant(session, keyOf(1)), time.Time{})
	require.NoError(t, err)
	require.True(t, has(1))
}
