package autocontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// wireMessage is a message as a provider reads it.
type wireMessage struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// validSequence checks a request against the rules of the chat-completions protocol, from its
// bytes. It knows nothing of the code that made it.
func validSequence(t *testing.T, msgs []*echo.Message) {
	t.Helper()
	var pending []string
	used := map[string]bool{}
	last := ""
	for i, m := range msgs {
		var w wireMessage
		require.NoError(t, json.Unmarshal(m.JSON(), &w), "message %d", i)
		last = w.Role
		if w.Role == "tool" {
			at := slices.Index(pending, w.ToolCallID)
			require.GreaterOrEqual(t, at, 0, "message %d answers %q, which does not wait for a result", i, w.ToolCallID)
			pending = slices.Delete(pending, at, at+1)
			require.Empty(t, w.ToolCalls)
			continue
		}
		require.Empty(t, pending, "message %d (%s) comes before the results of %v", i, w.Role, pending)
		require.Contains(t, []string{"system", "user", "assistant"}, w.Role)
		if w.Role != "assistant" {
			require.Empty(t, w.ToolCalls)
			require.NotNil(t, w.Content)
		}
		for _, c := range w.ToolCalls {
			require.Equal(t, "function", c.Type)
			require.NotEmpty(t, c.ID)
			require.NotEmpty(t, c.Function.Name)
			require.False(t, used[c.ID], "id %s is used twice", c.ID)
			used[c.ID] = true
			pending = append(pending, c.ID)
		}
	}
	require.Empty(t, pending, "calls without results at the end")
	if len(msgs) > 0 {
		require.NotEqual(t, "assistant", last, "the model would have the last word")
	}
}

// checkRules checks a view against every rule of views.
func checkRules(t *testing.T, s autocontext.Settings, history []echo.Item, v *autocontext.View, c echo.Carry) {
	t.Helper()
	sent := autocontext.NewRenderer(s.Dialect).Render(v)
	validSequence(t, sent)
	require.Len(t, v.Items, len(history))
	foreign, plain := false, autocontext.NewRenderer(s.Dialect)
	whole := wholeOf(t, s, history)
	var size, full int64
	task, latest := -1, -1
	gone := echo.Retracted(history)
	newest := newestStanding(history)
	checkGroups(t, s, history, v)
	for i, it := range v.Items {
		if k := it.Message.Kind(); k.Stands() && newest[k] != i {
			require.Nil(t, it.Sent, "only the newest of what stands is sent")
			continue
		}
		if gone != nil && gone[i] {
			require.Nil(t, it.Sent, "what a person has taken back is not sent")
			require.Empty(t, it.After)
			continue
		}
		require.Same(t, history[i].Message, it.Message)
		foreign = foreign || history[i].Foreign != ""
		size += it.Tokens
		full += autocontext.Tokens(plain.Render(&autocontext.View{Items: []autocontext.Item{{Sent: whole[i]}}})[0])
		checkItem(t, s, history[i], whole[i], it)
		if m := it.Message; m.Role() == echo.RoleUser && m.Kind() != echo.KindContext {
			if m.Kind().Stands() {
				require.Equal(t, gone == nil || !gone[i], it.Sent == m, "what stands is sent")
				continue
			}
			if task < 0 {
				task = i
			}
			if m.Kind() != echo.KindNotice {
				latest = i
			}
		}
	}
	for _, i := range []int{task, latest} {
		if i >= 0 {
			require.Same(t, history[i].Message, v.Items[i].Sent, "the task and the latest request survive")
		}
	}
	r := v.Report()
	require.Equal(t, size, r.ContextSize)
	require.Equal(t, full, r.FullHistorySize)
	require.Equal(t, len(sent), r.MessageCount)
	require.LessOrEqual(t, r.SharedSize, r.ContextSize)
	var wire int64
	for _, m := range sent {
		wire += autocontext.Tokens(m)
	}
	require.Equal(t, wire, r.ContextSize, "the size is that of what is sent")
}

// newestStanding returns the index of the newest message of each kind that stands.
func newestStanding(history []echo.Item) map[echo.Kind]int {
	newest := map[echo.Kind]int{}
	for i := range history {
		newest[history[i].Message.Kind()] = i
	}
	return newest
}

// checkGroups: of groups before the newest so many nothing is sent but what survives, and for no other is that the reason.
func checkGroups(t *testing.T, s autocontext.Settings, history []echo.Item, v *autocontext.View) {
	t.Helper()
	if s.Groups == 0 {
		return
	}
	pinned := map[[2]int]bool{} // turns with a pinned message: calls and results stay together
	for _, it := range history {
		at := [2]int{it.Attempt, it.Turn}
		pinned[at] = pinned[at] || it.Pinned
	}
	numbers := echo.Groups(history)
	oldest := max(slices.Max(numbers)-s.Groups+1, 1)
	for i, it := range v.Items {
		m := it.Message
		survives := m.Role() == echo.RoleSystem || m.Kind() == echo.KindTask || echo.IsSaid(m) || m.Kind().Stands() || pinned[[2]int{history[i].Attempt, history[i].Turn}]
		out := numbers[i] > 0 && numbers[i] < oldest
		require.False(t, it.Reason == autocontext.ReasonGroup && !out)
		stand := it.Form == autocontext.FormSummary || it.Reason == autocontext.ReasonSlid // in place of others
		require.False(t, out && !survives && it.Sent != nil && !stand, "message %d, %s of group %d (%s %s)", i, m.Kind(), numbers[i], it.Form, it.Reason)
	}
}

// wholeOf returns what is sent of each message when nothing is left out, with the ids that it has then.
func wholeOf(t *testing.T, s autocontext.Settings, history []echo.Item) []*echo.Message {
	t.Helper()
	out := make([]*echo.Message, len(history))
	step, err := autocontext.NewBuilder(autocontext.Settings{OwnIDs: s.OwnIDs, Dialect: s.Dialect}).Build(history, echo.Carry{})
	require.NoError(t, err)
	for i, it := range step.View.Items {
		out[i] = it.Message
		if m := it.Sent; m != nil && m.Role() == it.Message.Role() && len(m.ToolCalls()) == len(it.Message.ToolCalls()) {
			out[i] = m
			require.Equal(t, withoutIDs(it.Message), withoutIDs(m))
		}
	}
	return out
}

// withoutIDs is what a message says beside the ids of calls.
func withoutIDs(m *echo.Message) echo.Draft {
	d := m.Draft()
	d.ToolCallID, d.ToolCalls = "", slices.Clone(d.ToolCalls)
	for i := range d.ToolCalls {
		d.ToolCalls[i].ID = ""
	}
	return d
}

// checkItem checks one message and what became of it.
func checkItem(t *testing.T, s autocontext.Settings, h echo.Item, m *echo.Message, it autocontext.Item) {
	t.Helper()
	if m.Role() == echo.RoleSystem {
		require.Same(t, m, it.Sent, "system messages survive")
	}
	if it.Sent == nil || it.Sent == m {
		return
	}
	if it.Form == autocontext.FormMasked || it.Form == autocontext.FormExcerpt {
		native := autocontext.Tokens(m)
		if len(m.ToolCalls()) == 0 {
			require.LessOrEqual(t, autocontext.Tokens(it.Sent), native+16, "what stands for a message is not longer (%s %s)", it.Form, it.Reason)
		}
	}
	if it.Form == autocontext.FormMasked && it.Sent.Role() == echo.RoleTool {
		require.Equal(t, m.ToolCallID(), it.Sent.ToolCallID())
		require.Contains(t, it.Sent.Text(), string(it.Message.Hash()), "a placeholder names the hash of the original")
	}
	for i, c := range it.Sent.ToolCalls() {
		require.Equal(t, m.ToolCalls()[i].ID, c.ID, "masking never removes calls")
		require.Equal(t, m.ToolCalls()[i].Name, c.Name)
		if json.Valid([]byte(m.ToolCalls()[i].Arguments)) {
			require.True(t, json.Valid([]byte(c.Arguments)), "arguments stay JSON: %s", c.Arguments)
		}
	}
}

// play runs a conversation call by call, as the engine does, and checks every view. It returns the
// bytes of all requests.
func play(t *testing.T, seed uint64, broken bool, turns int) [][]byte {
	t.Helper()
	w := newWorld(seed, broken)
	s := w.settings()
	history, calls := w.conversation(turns)
	b := autocontext.NewBuilder(s)
	reader := record.NewSelections()
	var c echo.Carry
	var out [][]byte
	asOf := 0
	for k, n := range append(calls, len(history)) {
		before := c
		before.Answered = nil
		step, err := build(t, w, b, history[:n], &c)
		var fit *autocontext.FitError
		if errors.As(err, &fit) {
			require.Positive(t, s.Limit)
			return out
		}
		require.NoError(t, err)
		c = step.Carry
		checkRules(t, s, history[:n], step.View, c)
		require.GreaterOrEqual(t, c.AsOf, asOf, "the frontier never goes back")
		asOf = c.AsOf
		checkFit(t, s, step.View)
		checkRecord(t, reader, step.View, k)
		out = append(out, bytesOf(s, step.View))
		checkFresh(t, w, s, history[:n], before, step, c)
		if w.IntN(3) == 0 {
			c = b.Used(c, step.View.Report().ContextSize+s.Fixed+int64(w.IntN(50)))
		}
		c.Cold = w.IntN(20) == 0
	}
	return out
}

// build answers asks until there is a view.
func build(t *testing.T, w *world, b *autocontext.Builder, history []echo.Item, c *echo.Carry) (autocontext.Step, error) {
	t.Helper()
	for range 4 {
		step, err := b.Build(history, *c)
		if err != nil || step.Ask == nil {
			return step, err
		}
		validSequence(t, step.Ask.Messages)
		*c, _ = b.Answer(step.Carry, step.Ask, w.answer(step.Ask))
	}
	t.Fatal("the builder keeps asking")
	return autocontext.Step{}, nil
}

func bytesOf(s autocontext.Settings, v *autocontext.View) []byte {
	var out []byte
	for _, m := range autocontext.NewRenderer(s.Dialect).Render(v) {
		out = append(out, m.JSON()...)
	}
	return out
}

// checkFit holds the view against the limit, in the count of the guard.
func checkFit(t *testing.T, s autocontext.Settings, v *autocontext.View) {
	t.Helper()
	if r := v.Report(); s.Limit > 0 && r.RequestSize > 0 && s.Strategy != cascade.BudgetFail {
		require.Less(t, r.RequestSize, s.Limit, "the guard keeps requests below the limit")
	}
}

// checkRecord puts the recorded selections together again and compares them with the view.
func checkRecord(t *testing.T, reader *record.Selections, v *autocontext.View, k int) {
	t.Helper()
	r := v.Report()
	require.Equal(t, k > 0, r.Delta)
	b, err := json.Marshal(r)
	require.NoError(t, err)
	var back echo.Selection
	require.NoError(t, json.Unmarshal(b, &back))
	sent, err := reader.Read(&echo.Entry{NodeType: echo.NodeSelection, Phase: "p", Selection: &back})
	require.NoError(t, err)
	require.Len(t, sent, len(v.Items))
	for i, it := range v.Items {
		require.Equal(t, it.Message.Hash(), sent[i].Hash)
		require.Equal(t, string(it.Form), sent[i].Form, "message %d", i)
		require.Equal(t, string(it.Reason), sent[i].Reason, "message %d", i)
		require.Equal(t, it.Tokens, sent[i].Tokens)
		plain := it.Sent == it.Message && len(it.After) == 0
		require.Equal(t, plain, sent[i].Full)
		if !plain {
			var want, got []string
			if it.Sent != nil {
				want = append(want, string(it.Sent.JSON()))
			}
			for _, m := range it.After {
				want = append(want, string(m.JSON()))
			}
			for _, m := range sent[i].As {
				got = append(got, string(m.JSON()))
			}
			require.Equal(t, want, got)
		}
	}
}

// checkFresh compares an incremental view with that of a builder that has seen nothing yet.
func checkFresh(t *testing.T, w *world, s autocontext.Settings, history []echo.Item, before echo.Carry, step autocontext.Step, after echo.Carry) {
	t.Helper()
	if w.IntN(4) > 0 || after.Summary != nil && (before.Summary == nil || before.Summary.Hash != after.Summary.Hash) || after.AsOf != before.AsOf && s.Policy.Guard.Recount == cascade.RecountProbe {
		return // an ask was answered at random in between
	}
	fresh, err := autocontext.NewBuilder(s).Build(history, before)
	require.NoError(t, err)
	if fresh.Ask != nil {
		return
	}
	require.Equal(t, after, fresh.Carry)
	require.True(t, bytes.Equal(bytesOf(s, step.View), bytesOf(s, fresh.View)), "a fresh builder makes the same view")
	a, f := step.View.Report(), fresh.View.Report()
	a.RequestSize, f.RequestSize, a.Spans, f.Spans = 0, 0, nil, nil
	require.Equal(t, a, f)
}

func TestEveryViewObeysTheRules(t *testing.T) {
	t.Parallel()
	for seed := range 200 { // the fuzz target below goes on from here
		t.Run(strconv.Itoa(seed), func(t *testing.T) { play(t, uint64(seed), seed%2 == 1, 4+seed%23) })
	}
}

func TestSameInputSameBytes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		require.Equal(t, play(t, seed, true, 15), play(t, seed, true, 15))
	}
}

func FuzzViews(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, seed%2 == 0, uint8(seed*3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, broken bool, turns uint8) { play(t, seed, broken, int(turns%40)) })
}
