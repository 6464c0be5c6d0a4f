package echo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomSent returns what may become of a message.
func randomSent(r *rand.Rand, m *Message) Sent {
	s := Sent{Hash: m.Hash(), Form: "full", Reason: []string{"recent", "kept"}[r.IntN(2)], Tokens: r.Int64N(1000), Full: true}
	switch r.IntN(4) {
	case 0:
		s.Form, s.Reason, s.Full = "masked", "aged", false
		s.As = []*Message{NewText(RoleTool, KindToolResult, "[masked "+string(s.Hash)+"]")}
	case 1:
		s.Form, s.Reason, s.Full, s.Tokens = "dropped", "slid", false, 0
	case 2:
		s.Reason, s.Full = "repaired", false
		s.As = []*Message{m, NewText(RoleTool, KindToolResult, "no response")}
	}
	return s
}

// spansOf writes what became of the messages in places as spans.
func spansOf(view []Sent, places []int) []Span {
	var spans []Span
	for _, i := range places {
		s := view[i]
		n := len(spans)
		if n == 0 || spans[n-1].From+spans[n-1].Count != i || spans[n-1].Form != s.Form || spans[n-1].Reason != s.Reason ||
			(spans[n-1].Sent == nil) != s.Full {
			spans = append(spans, Span{From: i, Form: s.Form, Reason: s.Reason})
			n++
		}
		sp := &spans[n-1]
		sp.Count++
		sp.Hashes, sp.Tokens = append(sp.Hashes, s.Hash), append(sp.Tokens, s.Tokens)
		if !s.Full {
			sp.Sent = append(sp.Sent, s.As)
		}
	}
	return spans
}

// throughJSON returns an entry as the journal gives it back.
func throughJSON(t *testing.T, e *Entry) *Entry {
	t.Helper()
	b, err := json.Marshal(e)
	require.NoError(t, err)
	back := &Entry{}
	require.NoError(t, json.Unmarshal(b, back))
	return back
}

// written writes out what became of messages; nothing for a message may be nil or an empty list.
func written(view []Sent) []string {
	var out []string
	for _, s := range view {
		line := fmt.Sprintf("%s %s %s %d %v", s.Hash, s.Form, s.Reason, s.Tokens, s.Full)
		for _, m := range s.As {
			line += " " + string(m.JSON())
		}
		out = append(out, line)
	}
	return out
}

// TestSelectionsComeBack writes random views as deltas, through JSON, and holds what is read against the views.
func TestSelectionsComeBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		reader := NewSelectionReader()
		views := map[string][]Sent{}
		for call := range 60 {
			visit := []string{"a", "b", "a~2"}[r.IntN(3)]
			if r.IntN(15) == 0 {
				delete(views, visit)
				_, err := reader.Read(&Entry{NodeType: NodePhaseStart, Key: MustKey(visit + "/start")})
				require.NoError(t, err)
			}
			view, known := views[visit]
			var changed []int
			for i := range view {
				if r.IntN(5) == 0 {
					view[i] = randomSent(r, NewText(RoleUser, KindTask, fmt.Sprint(seed, call, i)))
					changed = append(changed, i)
				}
			}
			for range r.IntN(4) {
				changed = append(changed, len(view))
				view = append(view, randomSent(r, NewText(RoleUser, KindTask, fmt.Sprint(seed, call, len(view)))))
			}
			views[visit] = view
			sel := &Selection{Delta: known, Spans: spansOf(view, changed)}
			if known && r.IntN(10) == 0 { // a whole one in between is allowed as well
				sel = &Selection{Spans: spansOf(view, upTo(len(view)))}
			}
			got, err := reader.Read(throughJSON(t, &Entry{NodeType: NodeSelection, Key: MustKey(visit + "/attempt1/turn1/context"), Selection: sel}))
			require.NoError(t, err)
			require.Equal(t, written(view), written(got))
		}
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestDamagedSelections(t *testing.T) {
	t.Parallel()
	two := Span{Count: 2, Form: "full", Reason: "recent", Hashes: []Hash{"a", "b"}, Tokens: []int64{1, 2}}
	bend := func(change func(*Span)) Span {
		s := two
		change(&s)
		return s
	}
	const at = "entry 7 (one/attempt1/turn2/context): "
	for want, sel := range map[string]Selection{
		at + "span 1 (full, 2 messages from 3): it does not continue the 2 messages before it": {
			Delta: true, Spans: []Span{bend(func(s *Span) { s.From = 3 })},
		},
		at + "span 1 (full, 2 messages from -1): it does not continue the 2 messages before it": {
			Delta: true, Spans: []Span{bend(func(s *Span) { s.From = -1 })},
		},
		at + "span 1 (full, 2 messages from 2): it does not continue the 0 messages before it": {
			Spans: []Span{bend(func(s *Span) { s.From = 2 })},
		},
		at + "span 2 (full, 2 messages from 0): it has 1 hashes": {
			Delta: true, Spans: []Span{two, bend(func(s *Span) { s.Hashes = s.Hashes[:1] })},
		},
		at + "span 1 (full, 2 messages from 0): it has 0 counts of tokens": {
			Delta: true, Spans: []Span{bend(func(s *Span) { s.Tokens = nil })},
		},
		at + "span 1 (full, 2 messages from 0): it says what was sent for 1 messages": {
			Delta: true, Spans: []Span{bend(func(s *Span) { s.Sent = [][]*Message{nil} })},
		},
		at + "span 1 (full, -2 messages from 0): it has 0 hashes": {
			Delta: true, Spans: []Span{{Count: -2, Form: "full"}},
		},
	} {
		r := NewSelectionReader()
		_, err := r.Read(&Entry{NodeType: NodeSelection, Key: MustKey("one/attempt1/turn1/context"), Selection: &Selection{Spans: []Span{two}}})
		require.NoError(t, err)
		_, err = r.Read(&Entry{Seq: 7, NodeType: NodeSelection, Key: MustKey("one/attempt1/turn2/context"), Selection: &sel})
		require.EqualError(t, err, want)
		_, err = r.Read(&Entry{Seq: 8, NodeType: NodeSelection, Key: MustKey("one/attempt1/turn3/context"), Selection: &Selection{Delta: true}})
		require.EqualError(t, err, "entry 8 (one/attempt1/turn3/context): the selection says what changed since the one before it, which is not there",
			"after damage nothing is read as if nothing had happened")
		got, err := r.Read(&Entry{Seq: 9, NodeType: NodeSelection, Key: MustKey("one/attempt1/turn4/context"), Selection: &Selection{Spans: []Span{two}}})
		require.NoError(t, err, "a selection that names every message is read again")
		require.Len(t, got, 2)
	}
}

// record builds the entries of a session.
type record struct{ entries []*Entry }

func (r *record) add(n NodeType, key string, m *Message) *Entry {
	e := &Entry{Seq: uint64(len(r.entries) + 1), NodeType: n, Key: MustKey(key), Message: m}
	r.entries = append(r.entries, e)
	return e
}

// sel adds a selection of these messages, all sent in full.
func (r *record) sel(key string, messages ...*Message) {
	s := Span{Count: len(messages), Form: "full", Reason: "recent", Tokens: make([]int64, len(messages))}
	for _, m := range messages {
		s.Hashes = append(s.Hashes, m.Hash())
	}
	r.add(NodeSelection, key, nil).Selection = &Selection{Spans: []Span{s}}
}

func text(role Role, kind Kind, s string) *Message { return NewText(role, kind, s) }

// TestRequests reads a record with results that ended in another order than they were called in, a validator, a tool as
// validator, a summary, a recount, and a second visit.
func TestRequests(t *testing.T) {
	t.Parallel()
	var rec record
	task := text(RoleUser, KindTask, "task")
	calls := Seal(Draft{Role: RoleAssistant, Kind: KindAnswer, ToolCalls: []ToolCall{{ID: "1", Name: "x"}, {ID: "2", Name: "x"}}})
	first, second := NewToolResult(calls.ToolCalls()[0], Text("first"), false), NewToolResult(calls.ToolCalls()[1], Text("second"), false)
	answer, retry := text(RoleAssistant, KindAnswer, "answer"), text(RoleUser, KindRetry, "again")
	other := text(RoleAssistant, KindAnswer, "not of the history")
	rec.add(NodePhaseStart, "p/start", nil)
	rec.add(NodeMessage, "p/task", task)
	rec.sel("p/attempt1/turn1/context", task)
	rec.add(NodeModelCall, "p/attempt1/turn1/model", calls)
	rec.add(NodeToolCall, "p/attempt1/turn1/tool2", second)
	rec.add(NodeToolCall, "p/attempt1/turn1/tool1", first)
	rec.add(NodeModelCall, "p/attempt1/turn2/compact1/model", other)
	rec.add(NodeMessage, "p/attempt1/turn2/summary1", text(RoleUser, KindSummary, "summary"))
	rec.add(NodeModelCall, "p/attempt1/turn2/recount1/model", other)
	rec.sel("p/attempt1/turn2/context", task, calls, first, second)
	rec.add(NodeModelCall, "p/attempt1/turn2/model", nil) // refused
	rec.sel("p/attempt1/turn2/context2", task, calls, first, second)
	rec.add(NodeModelCall, "p/attempt1/turn2/model2", answer)
	rec.add(NodeModelCall, "p/attempt1/turn2/validate/fair/model", other)
	rec.add(NodeToolCall, "p/attempt1/turn2/validate/check", first)
	rec.add(NodeMessage, "p/attempt2/retry", retry)
	rec.sel("p/attempt2/turn1/context", task, calls, first, second, answer, retry)
	rec.add(NodePhaseEnd, "p/end", nil)
	rec.add(NodePhaseStart, "p~2/start", nil)
	rec.add(NodeMessage, "p~2/task", task)
	rec.sel("p~2/attempt1/turn1/context", task)

	r := NewRequestReader()
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
	task, other := text(RoleUser, KindTask, "task"), text(RoleUser, KindTask, "other")
	for want, selected := range map[string][]*Message{
		"entry 3 (p/attempt1/turn1/context): the selection names 2 messages, the history has 1": {task, other},
		"entry 3 (p/attempt1/turn1/context): the selection names 0 messages, the history has 1": nil,
		fmt.Sprintf("entry 3 (p/attempt1/turn1/context): message 1 of the selection has the hash %s, that of the history (entry 2) has %s",
			other.Hash(), task.Hash()): {other},
	} {
		var rec record
		rec.add(NodePhaseStart, "p/start", nil)
		rec.add(NodeMessage, "p/task", task)
		rec.sel("p/attempt1/turn1/context", selected...)
		r := NewRequestReader()
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
	messages := []*Message{text(RoleUser, KindTask, "0")}
	rec.add(NodeMessage, "p/task", messages[0])
	for i := 1; i < 20; i++ {
		rec.sel(fmt.Sprintf("p/attempt1/turn%d/context", i), messages...)
		messages = append(messages, text(RoleAssistant, KindAnswer, fmt.Sprint(i)))
		rec.add(NodeModelCall, fmt.Sprintf("p/attempt1/turn%d/model", i), messages[i])
	}
	r := NewRequestReader()
	var histories [][]*Entry
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
		require.True(t, slices.EqualFunc(h, messages[:i+1], func(e *Entry, m *Message) bool { return e.Message == m }))
	}
}
