package effect

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// What is redacted excuses what follows from it, and nothing else: who changes anything besides is
// found out.
func TestWhatARedactionExcuses(t *testing.T) {
	t.Parallel()
	secret := echo.NewText(echo.RoleUser, echo.KindTask, "the secret")
	mark := echo.RedactionMark(secret.Hash(), secret.Text())
	marked := func(m *echo.Message, text string) *echo.Message {
		d := m.Draft()
		d.Parts, d.Redacted = echo.Text(text), &echo.Redacted{Hash: m.Hash(), Of: []echo.Hash{secret.Hash()}}
		return echo.Seal(d)
	}
	text := func(s string) *echo.Message { return echo.NewText(echo.RoleUser, echo.KindTask, s) }
	at := func(seq uint64, node echo.NodeType, key string, set func(*echo.Entry)) *echo.Entry {
		e := &echo.Entry{Seq: seq, NodeType: node, Key: echo.MustKey(key)}
		if set != nil {
			set(e)
		}
		return e
	}
	data := func(s string) func(*echo.Entry) { return func(e *echo.Entry) { e.Data = json.RawMessage(s) } }
	said := func(m *echo.Message) func(*echo.Entry) { return func(e *echo.Entry) { e.Message = m } }
	size := func(n int64) func(*echo.Entry) {
		return func(e *echo.Entry) { e.Selection, e.Data = &echo.Selection{ContextSize: n}, json.RawMessage(`{}`) }
	}
	recording := []*echo.Entry{
		at(1, echo.NodeMessage, "p/task", said(text("before"))),
		at(2, echo.NodeMessage, "q/task", said(marked(secret, mark))),
		at(3, echo.NodeSelection, "q/attempt1/turn1/context", nil),
	}
	x := newRedacted(Redactions{Messages: []echo.Hash{secret.Hash()}}, recording)
	const later = uint64(9)
	for name, tt := range map[string]struct {
		recorded, now *echo.Entry
		excused       bool
	}{
		"a mark in a message":            {at(later, echo.NodeMessage, "r/task", said(marked(text("say the secret"), "say "+mark))), at(0, echo.NodeMessage, "r/task", said(text("say the secret now"))), true},
		"a mark of now":                  {at(later, echo.NodeMessage, "r/task", said(text("say the sec"))), at(0, echo.NodeMessage, "r/task", said(text("say "+mark))), true},
		"a message without a mark":       {at(later, echo.NodeMessage, "q/task", said(text("a"))), at(0, echo.NodeMessage, "q/task", said(text("b"))), false},
		"a mark, and another model":      {at(later, echo.NodeMessage, "r/task", func(e *echo.Entry) { e.Model, e.Message = "m", text(mark) }), at(0, echo.NodeMessage, "r/task", said(text("b"))), false},
		"a mark, and other data":         {at(later, echo.NodeMessage, "r/task", func(e *echo.Entry) { e.Data, e.Message = json.RawMessage(`{"a":1}`), text(mark) }), at(0, echo.NodeMessage, "r/task", said(text("b"))), false},
		"data with a mark":               {at(later, echo.NodeState, "r/state/k", data(`{"v":"`+mark+`"}`)), at(0, echo.NodeState, "r/state/k", data(`{"v":"b"}`)), true},
		"data without":                   {at(later, echo.NodeState, "q/state/k", data(`{"v":"a"}`)), at(0, echo.NodeState, "q/state/k", data(`{"v":"b"}`)), false},
		"what is sent after it":          {at(later, echo.NodeSelection, "q/attempt1/turn2/context", size(3)), at(0, echo.NodeSelection, "q/attempt1/turn2/context", size(4)), true},
		"what is sent elsewhere":         {at(later, echo.NodeSelection, "r/attempt1/turn2/context", size(3)), at(0, echo.NodeSelection, "r/attempt1/turn2/context", size(4)), false},
		"what was sent before it":        {at(1, echo.NodeSelection, "q/attempt1/turn1/context", size(3)), at(0, echo.NodeSelection, "q/attempt1/turn1/context", size(4)), false},
		"figures of a phase":             {at(later, echo.NodePhaseEnd, "q/end", data(`{"status":"completed","reason":"answered","model_calls":1,"masked_results":2}`)), at(0, echo.NodePhaseEnd, "q/end", data(`{"status":"completed","reason":"answered","model_calls":1}`)), true},
		"the calls of a phase":           {at(later, echo.NodePhaseEnd, "q/end", data(`{"status":"completed","reason":"answered","model_calls":2,"masked_results":2}`)), at(0, echo.NodePhaseEnd, "q/end", data(`{"status":"completed","reason":"answered","model_calls":1}`)), false},
		"a route":                        {at(later, echo.NodeRoute, "q/route", data(`{"to":"a"}`)), at(0, echo.NodeRoute, "q/route", data(`{"to":"b"}`)), false},
		"a mark of what is not redacted": {at(later, echo.NodeState, "r/state/k", data(`{"v":"[redacted 0123456789abcdef: 1 characters]"}`)), at(0, echo.NodeState, "r/state/k", data(`{"v":"b"}`)), false},
	} {
		err := x.excuse(tt.recorded, tt.now, compare(tt.recorded, tt.now))
		require.Equal(t, tt.excused, err == nil, "%s: %v", name, err)
		require.Error(t, (*redacted)(nil).excuse(tt.recorded, tt.now, compare(tt.recorded, tt.now)), "%s: nothing is excused without redactions", name)
	}
	require.Nil(t, newRedacted(Redactions{}, recording))

	other := other(at(later, echo.NodeRoute, "q/route", nil), echo.NodeModelCall, echo.MustKey("q/attempt2/turn1/model"))
	require.EqualError(t, x.explain(other), "the run does not follow its record: entry 9 is route at q/route, but now the run comes to model_call at q/attempt2/turn1/model; "+
		"what was recorded before it is redacted, and what followed from that cannot be made again")
}

// TestWhatZerosExcuse: a number that was taken out is 0, and has no mark. What has changed, and texts
// that were made of it, are taken as recorded; a difference is not printed.
func TestWhatZerosExcuse(t *testing.T) {
	t.Parallel()
	text := func(s string) *echo.Message { return echo.NewText(echo.RoleUser, echo.KindTask, s) }
	entry := func(seq uint64, node echo.NodeType, key, data string, m *echo.Message) *echo.Entry {
		return &echo.Entry{Seq: seq, NodeType: node, Key: echo.MustKey(key), Data: json.RawMessage(data), Message: m}
	}
	tool := func(seq uint64, arguments string) *echo.Entry {
		e := entry(seq, echo.NodeToolCall, "p/attempt1/turn1/tool1", "", nil)
		e.Tool = &echo.ToolUse{Name: "t", CallID: "c", Arguments: arguments}
		return e
	}
	recording := []*echo.Entry{entry(1, echo.NodeMessage, "p/task", "", text("a")), tool(2, `{"n":0}`), entry(3, echo.NodeMessage, "q/task", "", text("n is 47"))}
	zeros := newRedacted(Redactions{Messages: []echo.Hash{"0123456789abcdef"}, Entries: []uint64{2}, Zeros: 2}, recording)
	changed := newRedacted(Redactions{Messages: []echo.Hash{"0123456789abcdef"}, Entries: []uint64{2}}, recording)
	for name, tt := range map[string]struct {
		recorded, now *echo.Entry
		zero, other   bool // whether it is excused
	}{
		"the call itself":      {tool(2, `{"n":0}`), tool(0, `{"n":47}`), true, true},
		"a text that has it":   {recording[2], entry(0, echo.NodeMessage, "q/task", "", text("n is 0")), true, false},
		"a text before it":     {recording[0], entry(0, echo.NodeMessage, "p/task", "", text("b")), false, false},
		"an output that does":  {entry(4, echo.NodePhaseEnd, "q/end", `{"output":47}`, nil), entry(0, echo.NodePhaseEnd, "q/end", `{"output":0}`, nil), true, false},
		"a route, as ever":     {entry(4, echo.NodeRoute, "q/route", `{"to":"a47"}`, nil), entry(0, echo.NodeRoute, "q/route", `{"to":"b"}`, nil), false, false},
		"a message's own role": {entry(4, echo.NodeMessage, "q/task", "", text("a")), entry(0, echo.NodeMessage, "q/task", "", nil), false, false},
	} {
		err := zeros.excuse(tt.recorded, tt.now, compare(tt.recorded, tt.now))
		require.Equal(t, tt.zero, err == nil, "%s: %v", name, err)
		if err != nil {
			require.NotContains(t, err.Error(), "47", name)
			require.Contains(t, err.Error(), "which is not shown, as numbers of the session are redacted", name)
		}
		err = changed.excuse(tt.recorded, tt.now, compare(tt.recorded, tt.now))
		require.Equal(t, tt.other, err == nil, "%s: %v", name, err)
	}
}
