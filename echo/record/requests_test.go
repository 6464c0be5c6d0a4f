package record

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// record builds the entries of a session.
type record struct{ entries []*echo.Entry }

func (r *record) add(n echo.NodeType, key string, m *echo.Message) *echo.Entry {
	e := &echo.Entry{Seq: uint64(len(r.entries) + 1), NodeType: n, Key: echo.MustKey(key), Message: m}
	r.entries = append(r.entries, e)
	return e
}

// sel adds a selection of these messages, all sent in full.
func (r *record) sel(key string, messages ...*echo.Message) {
	s := echo.Span{Count: len(messages), Form: "full", Reason: "recent", Tokens: make([]int64, len(messages))}
	for _, m := range messages {
		s.Hashes = append(s.Hashes, m.Hash())
	}
	r.add(echo.NodeSelection, key, nil).Selection = &echo.Selection{Spans: []echo.Span{s}}
}

func text(role echo.Role, kind echo.Kind, s string) *echo.Message { return echo.NewText(role, kind, s) }

// TestRequests reads a record with results that ended in another order than they were called in, a
// validator, a tool as validator, a summary, a recount, and a second visit.
func TestRequests(t *testing.T) {
	t.Parallel()
	var rec record
	task := text(echo.RoleUser, echo.KindTask, "task")
	calls := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{{ID: "1", Name: "x"}, {ID: "2", Name: "x"}}})
	first, second := echo.NewToolResult(calls.ToolCalls()[0], echo.Text("first"), false), echo.NewToolResult(calls.ToolCalls()[1], echo.Text("second"), false)
	answer, retry := text(echo.RoleAssistant, echo.KindAnswer, "answer"), text(echo.RoleUser, echo.KindRetry, "again")
	other := text(echo.RoleAssistant, echo.KindAnswer, "not of the history")
	rec.add(echo.NodePhaseStart, "p/start", nil)
	rec.add(echo.NodeMessage, "p/task", task)
	rec.sel("p/attempt1/turn1/context", task)
	rec.add(echo.NodeModelCall, "p/attempt1/turn1/model", calls)
	rec.add(echo.NodeToolCall, "p/attempt1/turn1/tool2", second)
	rec.add(echo.NodeToolCall, "p/attempt1/turn1/tool1", first)
	rec.add(echo.NodeModelCall, "p/attempt1/turn2/compact1/model", other)
	rec.add(echo.NodeMessage, "p/attempt1/turn2/summary1", text(echo.RoleUser, echo.KindSummary, "summary"))
	rec.add(echo.NodeModelCall, "p/attempt1/turn2/recount1/model", other)
	rec.sel("p/attempt1/turn2/context", task, calls, first, second)
	rec.add(echo.NodeModelCall, "p/attempt1/turn2/model", nil) // refused
	rec.sel("p/attempt1/turn2/context2", task, calls, first, second)
	rec.add(echo.NodeModelCall, "p/attempt1/turn2/model2", answer)
	rec.add(echo.NodeModelCall, "p/attempt1/turn2/validate/fair/model", other)
	rec.add(echo.NodeToolCall, "p/attempt1/turn2/validate/check", first)
	rec.add(echo.NodeMessage, "p/attempt2/retry", retry)
	rec.sel("p/attempt2/turn1/context", task, calls, first, second, answer, retry)
	rec.add(echo.NodePhaseEnd, "p/end", nil)
	rec.add(echo.NodePhaseStart, "p~2/start", nil)
	rec.add(echo.NodeMessage, "p~2/task", task)
	rec.sel("p~2/attempt1/turn1/context", task)

	r := NewRequests()
	var got []string
	for _, e := range rec.entries {
		req, err := r.Read(e)
		require.NoError(t, err)
		if req == nil {
			continue
		}
		line := req.Key().String()
		for i := range req.Sent {
			for _, m := range req.Messages(i) {
				line += " " + string(m.Kind()) + ":" + m.Text()
			}
		}
		got = append(got, line)
	}
	require.Equal(t, []string{
		"p/attempt1/turn1/model task:task",
		"p/attempt1/turn2/model task:task answer: tool_result:first tool_result:second",
		"p/attempt1/turn2/model2 task:task answer: tool_result:first tool_result:second",
		"p/attempt2/turn1/model task:task answer: tool_result:first tool_result:second answer:answer retry:again",
		"p~2/attempt1/turn1/model task:task",
	}, got)
}

func TestRequestsThatDoNotFit(t *testing.T) {
	t.Parallel()
	task, other := text(echo.RoleUser, echo.KindTask, "task"), text(echo.RoleUser, echo.KindTask, "other")
	for want, selected := range map[string][]*echo.Message{
		"entry 3 (p/attempt1/turn1/context): the selection names 2 messages, the history has 1": {task, other},
		"entry 3 (p/attempt1/turn1/context): the selection names 0 messages, the history has 1": nil,
		fmt.Sprintf("entry 3 (p/attempt1/turn1/context): message 1 of the selection has the hash %s, that of the history (entry 2) has %s",
			other.Hash(), task.Hash()): {other},
	} {
		var rec record
		rec.add(echo.NodePhaseStart, "p/start", nil)
		rec.add(echo.NodeMessage, "p/task", task)
		rec.sel("p/attempt1/turn1/context", selected...)
		r := NewRequests()
		var errs []error
		for _, e := range rec.entries {
			_, err := r.Read(e)
			errs = append(errs, err)
		}
		require.Equal(t, []error{nil, nil}, errs[:2])
		require.EqualError(t, errs[2], want)
	}
}

func TestRequestsStandAsThoughLaterOnesHadNotCome(t *testing.T) {
	t.Parallel()
	var rec record
	messages := []*echo.Message{text(echo.RoleUser, echo.KindTask, "0")}
	rec.add(echo.NodeMessage, "p/task", messages[0])
	for i := 1; i < 20; i++ {
		rec.sel(fmt.Sprintf("p/attempt1/turn%d/context", i), messages...)
		messages = append(messages, text(echo.RoleAssistant, echo.KindAnswer, fmt.Sprint(i)))
		rec.add(echo.NodeModelCall, fmt.Sprintf("p/attempt1/turn%d/model", i), messages[i])
	}
	r := NewRequests()
	var histories [][]*echo.Entry
	for _, e := range rec.entries {
		req, err := r.Read(e)
		require.NoError(t, err)
		if req != nil {
			histories = append(histories, req.History)
		}
	}
	require.Len(t, histories, 19)
	for i, h := range histories {
		require.Len(t, h, i+1)
		require.True(t, slices.EqualFunc(h, messages[:i+1], func(e *echo.Entry, m *echo.Message) bool { return e.Message == m }))
	}
}

// TestRequestsAreRendered: what was sent is rendered in the dialect of the model of the visit.
func TestRequestsAreRendered(t *testing.T) {
	t.Parallel()
	call := echo.ToolCall{ID: "c1", Name: "look", Arguments: `{"at":1}`}
	task := text(echo.RoleUser, echo.KindTask, "task")
	answer := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call}})
	result, masked := echo.NewToolResult(call, echo.Text("a long result"), true), echo.NewToolResult(call, echo.Text("[masked]"), true)
	native := []string{"user task", "assistant ", "tool [masked]"}
	prompted := []string{"user task", "assistant ```json\n{\"tool\": \"look\", \"arguments\": {\"at\":1}}\n```", "user Tool error of look (c1):\n[masked]"}
	for data, want := range map[string][]string{
		`{"visit": 1}`: native,
		`{"visit": 1, "context": {"dialect": "native"}}`:   native,
		`{"visit": 1, "context": "of another shape"}`:      native,
		`{"visit": 1, "context": {"dialect": "prompted"}}`: prompted,
	} {
		var rec record
		rec.add(echo.NodePhaseStart, "p/start", nil).Data = []byte(data)
		rec.add(echo.NodeMessage, "p/task", task)
		rec.add(echo.NodeModelCall, "p/attempt1/turn1/model", answer)
		last := rec.add(echo.NodeToolCall, "p/attempt1/turn1/tool1", result)
		rec.sel("p/attempt1/turn2/context", task, answer, result)
		rec.entries[4].Selection.Spans = append(rec.entries[4].Selection.Spans, echo.Span{
			From: 2, Count: 1, Form: "masked", Reason: "aged", Hashes: []echo.Hash{result.Hash()}, Tokens: []int64{3}, Sent: [][]*echo.Message{{masked}},
		})
		r := NewRequests()
		for _, e := range rec.entries {
			req, err := r.Read(e)
			require.NoError(t, err)
			if req == nil {
				continue
			}
			var got []string
			for i := range req.Sent {
				for _, m := range req.Rendered(i) {
					got = append(got, string(m.Role())+" "+m.Text())
				}
			}
			require.Equal(t, want, got, data)
			require.Same(t, masked, req.Messages(2)[0])
		}
		if want[2] == native[2] {
			require.Same(t, result, r.Rendered(last))
		} else {
			require.Equal(t, "Tool error of look (c1):\na long result", r.Rendered(last).Text())
		}
		require.Nil(t, r.Rendered(rec.entries[0]))
	}
}

// A visit that was stopped is continued after its end: what it was sent so far belongs to the next
// request. One that completed is forgotten.
func TestRequestsAfterAStop(t *testing.T) {
	t.Parallel()
	task := text(echo.RoleUser, echo.KindTask, "task")
	for _, stopped := range []bool{true, false} {
		var rec record
		rec.add(echo.NodePhaseStart, "p/start", nil)
		rec.add(echo.NodeMessage, "p/task", task)
		rec.sel("p/attempt1/turn1/context", task)
		rec.add(echo.NodeModelCall, "p/attempt1/turn1/model", nil)
		end := rec.add(echo.NodePhaseEnd, "p/end", nil)
		if stopped {
			end.Error = &echo.Failure{Kind: "interrupted", Message: "stopped"}
		}
		rec.add(echo.NodeResume, "run/resume", nil)
		rec.sel("p/attempt1/turn1/context2", task)
		var sent, failed int
		for req, err := range RequestsOf(rec.entries) {
			if err != nil {
				failed++
				continue
			}
			require.Equal(t, []*echo.Message{task}, req.Messages(0))
			sent++
		}
		require.Equal(t, map[bool][2]int{true: {2, 0}, false: {1, 1}}[stopped], [2]int{sent, failed})
	}
}
