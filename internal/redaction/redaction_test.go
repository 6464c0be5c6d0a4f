package redaction_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/redaction"
)

const secret = "canary-5f2c9e7a11d04b6f"

// recording returns a recording with these entries.
func recording(t *testing.T, input, cascade string, entries ...*echo.Entry) *journal.Recording {
	t.Helper()
	h := journal.Header{Rules: 1, SessionID: "s1", Input: json.RawMessage(input), Cascade: json.RawMessage(cascade), Options: json.RawMessage(`{"dir":"/x"}`)}
	head, err := json.Marshal(h)
	require.NoError(t, err)
	var in map[string]any
	require.NoError(t, json.Unmarshal(h.Input, &in))
	all := append([]*echo.Entry{echo.NewEntry(echo.MustKey("run/start"), echo.RunStart{Input: in, WorkDir: "/x/work", Header: head})}, entries...)
	for i, e := range all {
		e.SessionID, e.Seq = "s1", uint64(i+1)
		e.SetKeyFields()
		if e.Message != nil {
			e.ContentHash = e.Message.Hash()
		}
	}
	return &journal.Recording{Header: h, Entries: all}
}

func message(key string, m *echo.Message) *echo.Entry {
	return &echo.Entry{NodeType: echo.NodeMessage, Key: echo.MustKey(key), Message: m}
}

func user(text string) *echo.Message { return echo.NewText(echo.RoleUser, echo.KindTask, text) }

// after returns the entries as a plan leaves them, and all of them in JSON.
func after(t *testing.T, rec *journal.Recording, p *redaction.Plan) ([]*echo.Entry, string) {
	t.Helper()
	head, err := json.Marshal(p.Header)
	require.NoError(t, err)
	text := string(head)
	var out []*echo.Entry
	for _, e := range rec.Entries {
		now, err := p.Change(e)
		require.NoError(t, err)
		require.Equal(t, slices.Contains(p.Entries, e.Seq), now != nil)
		if now == nil {
			now = e
		}
		require.Equal(t, []any{e.Seq, e.ContentHash, e.Key, e.NodeType}, []any{now.Seq, now.ContentHash, now.Key, now.NodeType})
		require.NoError(t, now.CheckRedacted(p.Header.Redacted()))
		line, err := now.AppendJSON(nil)
		require.NoError(t, err)
		text += string(line)
		out = append(out, now)
	}
	return out, text
}

func TestFind(t *testing.T) {
	t.Parallel()
	m := user("a")
	rec := recording(t, `{}`, `{}`, message("p/task", m), message("p/task", user("b")))
	h, err := redaction.Find("s1", string(m.Hash()[:12]), rec.Entries)
	require.NoError(t, err)
	require.Equal(t, m.Hash(), h)
	for given, text := range map[string]string{
		"":                  `"" is no content hash: that has 16 hexadecimal digits in lower case, of which the first 12 are enough`,
		"0123456789a":       `"0123456789a" is no content hash`,
		"0123456789ABCDEF":  `"0123456789ABCDEF" is no content hash`,
		"01234567\n9abcdef": `"01234567\n9abcdef" is no content hash`,
		"0123456789abcdef0": `"0123456789abcdef0" is no content hash`,
		"0123456789abcdef":  "session s1 has no message with the content hash 0123456789abcdef: it has 2 messages",
	} {
		_, err := redaction.Find("s1", given, rec.Entries)
		require.ErrorContains(t, err, text)
	}
	two := []*echo.Entry{}
	for _, h := range []echo.Hash{"0123456789abcde0", "0123456789abcde1"} {
		d := m.Draft()
		d.Redacted = &echo.Redacted{Hash: h}
		two = append(two, message("p/task", echo.Seal(d)))
	}
	_, err = redaction.Find("s1", "0123456789ab", two)
	require.EqualError(t, err, "several messages have content hashes that begin with 0123456789ab: 0123456789abcde0, 0123456789abcde1")
}

// TestEveryPlace: the text of a message is in none of the places where an engine puts it.
func TestEveryPlace(t *testing.T) {
	t.Parallel()
	text := "The key is " + secret + ".\nUse it \"well\"."
	args := fmt.Sprintf(`{"content":%q,"n":4711,"force":true,"path":"x"}`, text)
	answer := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(text), ToolCalls: []echo.ToolCall{{ID: "c1", Name: "write_file", Arguments: args}}})
	masked := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Parts: echo.Text("[cut] " + secret)})
	rec := recording(t, fmt.Sprintf(`{"n":1.50,"topic":%q}`, secret+"."), fmt.Sprintf(`{"cascade_id":"c","phases":[{"instructions":%q}]}`, text),
		&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("p/attempt1/turn1/model"), Message: answer},
		&echo.Entry{
			NodeType: echo.NodeToolCall, Key: echo.MustKey("p/attempt1/turn1/tool1"), Tool: &echo.ToolUse{Name: "write_file", CallID: "c1", Arguments: args},
			Message: echo.NewToolResult(echo.ToolCall{ID: "c1"}, echo.Text("cannot write "+text), true), Error: &echo.Failure{Kind: "failed", Message: "cannot write The key is " + secret + "."},
		},
		&echo.Entry{NodeType: echo.NodeSelection, Key: echo.MustKey("p/attempt1/turn2/context"), Data: json.RawMessage(`{}`), Selection: &echo.Selection{Spans: []echo.Span{{
			Count: 1, Form: "masked", Hashes: []echo.Hash{answer.Hash()}, Tokens: []int64{5}, Sent: [][]*echo.Message{{masked, nil}},
		}}}},
		echo.NewEntry(echo.MustKey("p/attempt1/turn1/state/k"), echo.State{Key: "k", Value: text}),
		echo.NewEntry(echo.MustKey("p/attempt1/turn2/handoff"), echo.Handoff{Task: "The key is " + secret + ". Use it \"well\"."}),
		echo.NewEntry(echo.MustKey("p/end"), echo.PhaseEnd{Status: echo.StatusCompleted, Output: text}),
		message("q/context1", user("From p:\n"+text)),
		message("q/task", user("Quote "+secret)),
		message("q/task", user("Other.")),
	)
	p, err := redaction.New(rec, answer.Hash(), redaction.Options{At: time.Unix(0, 0).UTC(), Reason: "r"})
	require.NoError(t, err)
	entries, whole := after(t, rec, p)
	require.Equal(t, 1, strings.Count(whole, secret), "only in the other message, which is reported")
	require.Equal(t, []redaction.Place{{Seq: 9, Node: echo.NodeMessage, Hash: rec.Entries[8].ContentHash}}, p.Left)
	require.NotContains(t, whole, "4711")
	require.Contains(t, string(entries[0].Data), `"work_dir":"/x/work"`)
	require.Equal(t, `{"content":"[redacted `+string(answer.Hash())+`: 50 characters]","force":true,"n":0,"path":"[redacted `+string(answer.Hash())+`: 1 characters]"}`, entries[1].Message.ToolCalls()[0].Arguments)
	require.Equal(t, entries[1].Message.ToolCalls()[0].Arguments, entries[2].Tool.Arguments)
	require.Equal(t, &echo.Redacted{Hash: answer.Hash(), Of: []echo.Hash{answer.Hash()}, Tokens: int64(len(answer.JSON())+3) / 4, Bytes: len(answer.JSON())}, entries[1].Message.Redacted())
	require.Equal(t, `{"n":1.50,"topic":"[redacted `+string(answer.Hash())+`: 24 characters]"}`, string(p.Header.Input))

	p, err = redaction.New(rec, answer.Hash(), redaction.Options{Parts: true})
	require.NoError(t, err)
	_, whole = after(t, rec, p)
	require.NotContains(t, whole, secret)
	require.Empty(t, p.Left)

	rec.Header.Redactions = p.Header.Redactions
	p, err = redaction.New(rec, answer.Hash(), redaction.Options{})
	require.NoError(t, err)
	require.True(t, p.Already)
	require.Empty(t, p.Entries)
}

// TestChildrenInARedaction: what a message gave to a child, and what a child gave to it, is taken out of the
// record of the parent; names and ids stay.
func TestChildrenInARedaction(t *testing.T) {
	t.Parallel()
	args := fmt.Sprintf(`{"cascade":"review_of_everything","input":{"text":%q,"pin":4711}}`, secret)
	answer := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{{ID: "c1", Name: "spawn_cascade", Arguments: args}}})
	tool := echo.MustKey("p/attempt1/turn1/tool1")
	start := echo.ChildStart{
		Session: "01jchild", Name: "review_of_everything", How: echo.ChildTool, Cascade: "review_of_everything", Hash: "0123456789abcdef",
		Input: map[string]any{"text": secret, "pin": json.Number("4711")}, State: map[string]any{"k": "About " + secret},
	}
	none := echo.FoundCascade{Name: secret, Problem: "there is none"}
	found := echo.FoundCascade{
		Name: "review_of_everything", Cascade: json.RawMessage(`{"cascade_id":"review_of_everything","phases":[{"name":"a","instructions":"Say ` + secret + `."}]}`),
		Problem: "no " + secret,
	}
	rec := recording(t, `{}`, `{"cascade_id":"c","phases":[{"name":"p","instructions":"x"}]}`,
		&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("p/attempt1/turn1/model"), Message: answer, Data: json.RawMessage(`{}`)},
		echo.NewEntry(tool.Step(echo.StepCascade), found),
		echo.NewEntry(echo.MustKey("p/attempt1/turn1/tool2/cascade"), none),
		echo.NewEntry(tool, start),
		echo.NewEntry(tool, echo.ChildEnd{Session: "01jchild", Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: map[string]any{"said": secret}, State: map[string]any{"k": secret}}),
		echo.NewEntry(echo.MustKey("p/attempt1/turn1/ward1/verdict/fair"), echo.Verdict{Validator: "fair", Ward: "turn", Mode: "retry", Reason: "has " + secret}),
		echo.NewEntry(echo.MustKey("p/item2/stopped"), echo.Stopped{Item: 1}),
		&echo.Entry{NodeType: echo.NodeToolCall, Key: tool, Tool: &echo.ToolUse{Name: "spawn_cascade", CallID: "c1", Arguments: args}, Message: echo.NewToolResult(echo.ToolCall{ID: "c1"}, echo.Text("done"), false)},
	)
	p, err := redaction.New(rec, answer.Hash(), redaction.Options{Parts: true})
	require.NoError(t, err)
	entries, whole := after(t, rec, p)
	require.NotContains(t, whole, secret)
	require.NotContains(t, whole, "4711")
	require.Empty(t, p.Left)
	now, err := echo.Read[echo.ChildStart](entries[4])
	require.NoError(t, err)
	require.Equal(t, []string{"01jchild", "review_of_everything", "0123456789abcdef"}, []string{now.Session, now.Name, now.Hash})
	end, err := echo.Read[echo.ChildEnd](entries[5])
	require.NoError(t, err)
	require.Equal(t, "01jchild", end.Session)
	require.Equal(t, rec.Entries[7].Data, entries[7].Data)
	require.Contains(t, string(entries[2].Data), `{"cascade_id":"review_of_everything","phases":[{"name":"a"`)
}

// TestStateOfAChild: the state that a child begins with is in its header and in its first entry. What a
// message has of it is taken out there, and found by the redaction of a message of another session.
func TestStateOfAChild(t *testing.T) {
	t.Parallel()
	task := user("Sum up: the key " + secret + ", and no more.")
	rec := recording(t, `{}`, `{"cascade_id":"c","phases":[{"name":"p","instructions":"Sum up: {{ state.note }}, and no more."}]}`, message("p/task", task))
	rec.Header.Options = json.RawMessage(`{"dir":"/x","state":{"note":"the key ` + secret + `","n":12,"other":[{"deep":"` + secret + `"}]},"offline":true}`)
	start, err := echo.Read[echo.RunStart](rec.Entries[0])
	require.NoError(t, err)
	start.Header = must(json.Marshal(rec.Header))
	rec.Entries[0].Set(start)

	p, err := redaction.New(rec, task.Hash(), redaction.Options{})
	require.NoError(t, err)
	_, whole := after(t, rec, p)
	require.NotContains(t, whole, secret)
	require.Empty(t, p.Left)
	require.Equal(t, []uint64{1, 2}, p.Redaction.Entries, "a replay takes what follows from the start as it is recorded")
	require.Regexp(t, `^{"dir":"/x","state":{"note":"\[redacted [^"]*","n":12,"other":\[{"deep":"\[redacted [^"]*"}]},"offline":true}$`, string(p.Header.Options))

	places, err := p.Parts.Places(rec)
	require.NoError(t, err)
	require.Equal(t, redaction.Place{}, places[0], "the header of another session")
	rec.Header.Options = json.RawMessage(`{"state":1e`)
	_, err = redaction.New(rec, task.Hash(), redaction.Options{})
	require.ErrorContains(t, err, "redact the state that the session began with: read JSON: ")
}

// TestOthersStay: in random sessions no entry changes that has nothing of the message.
func TestOthersStay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"alpha", "beta <&>", "gamma\n", "\u2028", secret, "a line that is long enough to count as one", "1", "[redacted 0123456789abcdef: 3 characters]"}
	some := func() string {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
		return b.String()
	}
	for range 200 {
		var entries []*echo.Entry
		for i := range 12 {
			e := message("p/task", user(some()))
			if i%3 == 0 {
				e.Tool = &echo.ToolUse{Name: "t", CallID: "c", Arguments: string(must(json.Marshal(map[string]string{"a": some()})))}
			}
			if i%4 == 0 {
				e.NodeType, e.Data = echo.NodeWarning, must(json.Marshal(map[string]string{"message": some()}))
			}
			entries = append(entries, e)
		}
		rec := recording(t, `{"a":"b"}`, `{}`, entries...)
		m := entries[random.IntN(len(entries))].Message
		p, err := redaction.New(rec, m.Hash(), redaction.Options{})
		require.NoError(t, err)
		now, whole := after(t, rec, p)
		text := strings.TrimSpace(m.Text())
		quoted := strings.Trim(string(must(json.Marshal(text))), `"`)
		if len(text) >= 8 {
			require.NotContains(t, whole, quoted)
		}
		for i, e := range rec.Entries[1:] {
			if e.Message.Hash() == m.Hash() {
				require.Equal(t, m.Hash(), now[i+1].Message.Redacted().Hash)
				continue
			}
			var args struct{ A string }
			var data struct{ Message string }
			if e.Tool != nil {
				require.NoError(t, json.Unmarshal([]byte(e.Tool.Arguments), &args))
			}
			if len(e.Data) > 0 {
				require.NoError(t, json.Unmarshal(e.Data, &data))
			}
			if all := e.Message.Text() + args.A + data.Message; !has(all, m.Text()) {
				require.NotContains(t, p.Entries, e.Seq, "%q\n%q", all, m.Text())
			}
		}
	}
}

// has reports whether a text has another one, or a line or a long word of it.
func has(all, text string) bool {
	for _, l := range append(strings.Split(text, "\n"), text) {
		if l = strings.TrimSpace(l); len(l) >= 4 && strings.Contains(all, l) {
			return true
		}
	}
	return strings.Contains(text, secret) && strings.Contains(all, secret)
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// A model is told the last lines of what a check has printed: they are taken out of what it is told.
func TestEndOfAnOutput(t *testing.T) {
	t.Parallel()
	for name, printed := range map[string]string{
		"lines":    strings.Repeat("ok\n", 300) + "at " + secret + "\n[exit status 1]",
		"one line": strings.Repeat("ok ", 5000) + secret + " [exit status 1]",
		"both":     "ok\n" + strings.Repeat("ok ", 5000) + secret + " [exit status 1]",
	} {
		output := echo.NewToolResult(echo.ToolCall{ID: "c1"}, echo.Text(printed), true)
		rec := recording(t, `{}`, `{}`,
			&echo.Entry{NodeType: echo.NodeToolCall, Key: echo.MustKey("p/attempt1/turn1/validate/lint"), Tool: &echo.ToolUse{Name: "lint"}, Message: output},
			message("p/attempt2/retry", echo.NewText(echo.RoleUser, echo.KindRetry, "Your answer was not accepted: "+excerpt.Verdict(printed)+"\n\nCorrect this.")),
		)
		plan, err := redaction.New(rec, output.Hash(), redaction.Options{At: time.Unix(0, 0)})
		require.NoError(t, err, name)
		_, text := after(t, rec, plan)
		require.NotContains(t, text, secret, name)
		require.Contains(t, text, "Correct this.", name)
	}
}

// A handoff shortens what it copies: without the full stop, in one line, cut. Such a copy goes whole.
func TestShortenedCopies(t *testing.T) {
	t.Parallel()
	answer := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("The pass is " + secret + ", keep\nit.")})
	rec := recording(t, `{}`, `{"cascade_id":"c","phases":[{"instructions":"x"}]}`,
		&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("p/attempt1/turn1/model"), Message: answer},
		echo.NewEntry(echo.MustKey("p/attempt1/turn1/handoff"), echo.Handoff{Continuation: "Done: phase p: The pass is " + secret + ", keep it; phase q: other."}),
		echo.NewEntry(echo.MustKey("q/attempt1/turn1/handoff"), echo.Handoff{
			Continuation: "Nothing of it.", Done: []echo.HandoffItem{{Source: "p", Text: "The pass is " + secret[:len(secret)-2] + "…"}},
		}),
	)
	p, err := redaction.New(rec, answer.Hash(), redaction.Options{At: time.Unix(0, 0).UTC()})
	require.NoError(t, err)
	_, whole := after(t, rec, p)
	require.NotContains(t, whole, secret[:len(secret)-2])
	require.Contains(t, whole, "Nothing of it.")
	require.Empty(t, p.Left)
}
