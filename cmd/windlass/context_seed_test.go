package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
)

// seed writes the record of a session as the engine would: histories, and selections as changes
// with their sizes and prices.
type seed struct {
	entries []*echo.Entry
	visit   string
	model   string
	render  *autocontext.Renderer
	price   *echo.Price

	history []*echo.Message
	sent    []record.Sent
	before  []*echo.Message // the request before, in words
	full    []*echo.Message // the history as it was then, in words
	calls   int
}

// standIn is what stands for a message.
type standIn struct {
	form   autocontext.Form
	reason autocontext.Reason
	as     []*echo.Message
}

func (s *seed) add(e echo.Entry) {
	e.SessionID, e.CascadeID, e.Seq = "01k0cc5555555555555555555e", "incident", uint64(len(s.entries)+1)
	e.At = time.Date(2026, 3, 3, 9, 0, len(s.entries), 0, time.UTC)
	e.SetKeyFields()
	if e.Message != nil {
		e.ContentHash = e.Message.Hash()
	}
	s.entries = append(s.entries, &e)
}

func (s *seed) begin(visit, model, told string, price *echo.Price) {
	d := dialect.Native
	if told == "prompted" {
		d = dialect.Prompted
	}
	*s = seed{entries: s.entries, visit: visit, model: model, price: price, render: autocontext.NewRenderer(d)}
	s.add(echo.Entry{
		NodeType: echo.NodePhaseStart, Key: echo.MustKey(visit + "/start"), Model: model,
		Data: json.RawMessage(`{"visit":1,"context":{"dialect":"` + told + `"}}`),
	})
}

func (s *seed) end(data string) {
	s.add(echo.Entry{NodeType: echo.NodePhaseEnd, Key: echo.MustKey(s.visit + "/end"), Data: json.RawMessage(data)})
}

func (s *seed) say(what string, m *echo.Message) {
	s.history = append(s.history, m)
	s.add(echo.Entry{NodeType: echo.NodeMessage, Key: echo.MustKey(s.visit + "/" + what), Message: m})
}

// call makes a model call of a turn: what it is sent, and the answer with its tool calls and their
// results.
func (s *seed) call(attempt, turn int, other map[int]standIn, answer *echo.Message, failure *echo.Failure, results ...*echo.Message) {
	s.calls++
	at := func(what string) string { return fmt.Sprintf("%s/attempt%d/turn%d/%s", s.visit, attempt, turn, what) }
	number := ""
	if len(s.entries) > 0 && s.entries[len(s.entries)-1].NodeType == echo.NodeWarning {
		number = "2" // the request before was refused
	}
	sel := s.selection(other)
	s.add(echo.Entry{NodeType: echo.NodeSelection, Key: echo.MustKey(at("context" + number)), Model: s.model, Selection: sel})
	e := echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey(at("model" + number)), Model: s.model, Error: failure, Message: answer}
	if e.Provider = "api.example.org"; failure != nil {
		e.CostUSD = new(float64)
	} else {
		e.Usage = &echo.Usage{In: sel.ContextSize + 40, Cached: sel.SharedSize / 2, Out: 20}
		if sel.SentUSD != nil {
			cost := *sel.SentUSD + 0.00004
			e.CostUSD = &cost
		}
		s.history = append(s.history, answer)
	}
	s.add(e)
	for i := range results { // they end in the other order
		n := len(results) - i
		m := results[n-1]
		c := answer.ToolCalls()[n-1]
		s.add(echo.Entry{
			NodeType: echo.NodeToolCall, Key: echo.MustKey(at(fmt.Sprintf("tool%d", n))), Message: m,
			Tool: &echo.ToolUse{Name: c.Name, CallID: c.ID, Arguments: c.Arguments},
		})
	}
	s.history = append(s.history, results...)
	if failure != nil {
		s.add(echo.Entry{NodeType: echo.NodeWarning, Key: echo.MustKey(at("model/warning")), Data: json.RawMessage(`{"message":"refused"}`)})
	}
}

// selection says what the next call is sent: other has what does not go in full.
func (s *seed) selection(other map[int]standIn) *echo.Selection {
	sel := &echo.Selection{Delta: s.calls > 1, RequestSize: 900, Limit: 1000}
	var request, full []*echo.Message
	for i, m := range s.history {
		now := record.Sent{Hash: m.Hash(), Form: "full", Reason: "recent", Full: true, As: []*echo.Message{m}}
		if o, ok := other[i]; ok {
			now = record.Sent{Hash: m.Hash(), Form: string(o.form), Reason: string(o.reason), As: o.as}
			sel.MaskedCount++
		}
		for _, a := range s.words(now.As) {
			now.Tokens += autocontext.Tokens(a)
			request = append(request, a)
		}
		full = append(full, s.words([]*echo.Message{m})...)
		s.change(sel, i, now)
	}
	sel.ContextSize, sel.FullHistorySize = tokensIn(request), tokensIn(full)
	sel.TokensSaved, sel.MessageCount = sel.FullHistorySize-sel.ContextSize, len(request)
	sel.SharedSize, sel.FullSharedSize = sharedWith(s.before, request), sharedWith(s.full, full)
	if s.price != nil {
		sel.SentUSD, sel.FullUSD = s.usd(sel.ContextSize, sel.SharedSize), s.usd(sel.FullHistorySize, sel.FullSharedSize)
	}
	s.before, s.full = request, full
	return sel
}

// change adds to a selection what became of message i, when that is new.
func (s *seed) change(sel *echo.Selection, i int, now record.Sent) {
	if i < len(s.sent) && s.sent[i].Form == now.Form && s.sent[i].Reason == now.Reason && s.sent[i].Tokens == now.Tokens {
		return
	}
	if i < len(s.sent) {
		s.sent[i] = now
	} else {
		s.sent = append(s.sent, now)
	}
	sp := echo.Span{From: i, Count: 1, Form: now.Form, Reason: now.Reason, Hashes: []echo.Hash{now.Hash}, Tokens: []int64{now.Tokens}}
	if !now.Full {
		sp.Sent = [][]*echo.Message{now.As}
	}
	sel.Spans = append(sel.Spans, sp)
}

func (s *seed) words(messages []*echo.Message) []*echo.Message {
	var out []*echo.Message
	for _, m := range messages {
		out = append(out, s.render.Render(&autocontext.View{Items: []autocontext.Item{{Message: m, Sent: m}}})...)
	}
	return out
}

func (s *seed) usd(size, shared int64) *float64 {
	v := (float64(size-shared)*s.price.Input + float64(shared)*s.price.Cached) / 1e6
	return &v
}

func tokensIn(messages []*echo.Message) (n int64) {
	for _, m := range messages {
		n += autocontext.Tokens(m)
	}
	return n
}

func sharedWith(before, now []*echo.Message) (n int64) {
	for i := 0; i < min(len(before), len(now)) && bytes.Equal(before[i].JSON(), now[i].JSON()); i++ {
		n += autocontext.Tokens(now[i])
	}
	return n
}

// calling returns an answer with calls.
func calling(text string, calls ...echo.ToolCall) *echo.Message {
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: calls}
	if text != "" {
		d.Parts = echo.Text(text)
	}
	return echo.Seal(d)
}

func saying(text string) *echo.Message {
	return echo.NewText(echo.RoleAssistant, echo.KindAnswer, text)
}

// incident is a session with every form: calls that run in parallel, a failure, a refused request,
// a summary, recalls, a model without tool calling, a second visit, a price that is unknown, and
// texts that would control a terminal.
func incident() []*echo.Entry {
	s := &seed{}
	s.add(echo.Entry{NodeType: echo.NodeRunStart, Key: echo.MustKey("run/start"), Data: json.RawMessage(`{"input":{}}`)})
	s.begin("research", "gpt-5-mini", "native", &echo.Price{Input: 0.25, Cached: 0.025})
	s.say("system", echo.NewText(echo.RoleSystem, echo.KindSystem, "You look for causes.\nBe brief."))
	s.say("task", echo.NewText(echo.RoleUser, echo.KindTask, "Find out why the report job fails."))
	read := echo.ToolCall{ID: "call_1", Name: "read_file", Arguments: `{"path": "main.go"}`}
	run := echo.ToolCall{ID: "call_2", Name: "run_command", Arguments: `{ "command" : "go test ./..." }`}
	source := echo.NewToolResult(read, echo.Text("package main\n"+strings.Repeat("// A line of the file.\n", 60)), false)
	fails := echo.NewToolResult(run, echo.Text(strings.Repeat("ok  a package\n", 30)+"FAIL: TestPool: too many connections\n"+strings.Repeat("ok  a package\n", 30)), true)
	s.call(1, 1, nil, calling("I look at the file\x1b]0;owned\x07 and the tests.", read, run), nil, source, fails)
	write := echo.ToolCall{ID: "call_3", Name: "write_file", Arguments: `{"path":"notes.md","content":"` + strings.Repeat("A long note. ", 40) + `"}`}
	wrote := echo.NewToolResult(write, echo.Text("written"), false)
	s.call(1, 2, nil, calling("", write), nil, wrote)
	mask := func(m *echo.Message, text string) []*echo.Message {
		d := m.Draft()
		d.Parts = echo.Text(text)
		return []*echo.Message{echo.Seal(d)}
	}
	other := map[int]standIn{
		3: {autocontext.FormMasked, autocontext.ReasonAged, mask(source, fmt.Sprintf("[Masked: 1393 characters. recall(%q) returns them.]", source.Hash()))},
		4: {autocontext.FormExcerpt, autocontext.ReasonError, mask(fails, "ok  a package\n[...]\nFAIL: TestPool: too many connections\n[...]\nok  a package")},
	}
	again := echo.ToolCall{ID: "call_4", Name: "recall", Arguments: `{"hash":"` + string(source.Hash()) + `"}`}
	s.call(1, 3, other, calling("I need the file again.", again), nil, echo.NewToolResult(again, source.Parts(), false))
	other[5] = standIn{autocontext.FormStub, autocontext.ReasonAged, []*echo.Message{calling("", echo.ToolCall{ID: "call_3", Name: "write_file", Arguments: `{"content":"A long note. [500 characters cut]","path":"notes.md"}`})}}
	s.add(echo.Entry{NodeType: echo.NodeGuard, Key: echo.MustKey("research/attempt1/turn4/guard1"), Attempt: 1, Turn: 4, Data: json.RawMessage(`{"event":"context_warning","tokens":850,"limit":1000}`)})
	s.call(1, 4, other, nil, &echo.Failure{Kind: "context_length", Message: "400: too long"})
	cost := 0.0002
	summary := echo.NewText(echo.RoleUser, echo.KindSummary, "What happened so far: the pool is exhausted; see main.go.")
	s.add(echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("research/attempt1/turn4/compact1/model"), Attempt: 1, Turn: 4, Model: "gpt-5-nano", Provider: "api.example.org", CostUSD: &cost, Usage: &echo.Usage{In: 800, Out: 60}, Message: saying(summary.Text())})
	s.add(echo.Entry{NodeType: echo.NodeMessage, Key: echo.MustKey("research/attempt1/turn4/summary1"), Attempt: 1, Turn: 4, Message: summary})
	s.add(echo.Entry{NodeType: echo.NodeGuard, Key: echo.MustKey("research/attempt1/turn4/guard2"), Attempt: 1, Turn: 4, Data: json.RawMessage(`{"event":"compaction_complete","tokens":300,"before":1010,"limit":1000}`)})
	s.add(echo.Entry{NodeType: echo.NodeWarning, Key: echo.MustKey("research/attempt1/turn4/model/warning"), Attempt: 1, Turn: 4, Data: json.RawMessage(`{"message":"sent again"}`)})
	other[2] = standIn{autocontext.FormSummary, autocontext.ReasonCompacted, []*echo.Message{summary}}
	for i := 3; i < 7; i++ {
		other[i] = standIn{autocontext.FormSummary, autocontext.ReasonCompacted, nil}
	}
	s.call(1, 4, other, saying("The pool is exhausted."), nil)
	s.add(echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("research/attempt1/turn4/validate/fair/model"), Attempt: 1, Turn: 4, Model: "gpt-5-nano", CostUSD: &cost, Usage: &echo.Usage{In: 50, Out: 5}, Message: saying(`{"valid": true}`)})
	s.end(`{"status":"completed","reason":"answered","recalls":1,"rereads":2,"masked_results":3}`)
	s.begin("report", "tiny-local", "prompted", nil)
	s.say("task", echo.NewText(echo.RoleUser, echo.KindTask, "Report."))
	look := echo.ToolCall{ID: "call_1_1_1", Name: "read_file", Arguments: `{"path":"main.go"}`}
	s.call(1, 1, nil, calling("```json\n{\"tool\": \"read_file\", \"arguments\": {\"path\":\"main.go\"}}\n```", look), nil, echo.NewToolResult(look, source.Parts(), false))
	s.call(1, 2, nil, saying("Reported."), nil)
	s.end(`{"status":"completed","reason":"answered"}`)
	s.begin("research~2", "gpt-5-mini", "native", &echo.Price{Input: 0.25, Cached: 0.025})
	s.say("task", echo.NewText(echo.RoleUser, echo.KindTask, "Find out why the report job fails."))
	s.call(1, 1, nil, saying("As before."), nil)
	s.end(`{"status":"completed","reason":"answered"}`)
	s.add(echo.Entry{NodeType: echo.NodeRunEnd, Key: echo.MustKey("run/end"), Data: json.RawMessage(`{"status":"completed"}`)})
	return s.entries
}

// TestContextSeed holds testdata/reports/context.jsonl, the session of context.txtar, against the
// code that writes it.
func TestContextSeed(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join("reports", "context.jsonl"), seedLines(t))
}

// seedLines writes the incident as a journal does.
func seedLines(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, e := range incident() {
		line, err := json.Marshal(e)
		require.NoError(t, err)
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// journalFromLines makes a journal of entries, one a line.
func journalFromLines(home, lines string) error {
	var j *journal.Journal
	for line := range strings.Lines(lines) {
		e := &echo.Entry{}
		if err := json.Unmarshal([]byte(line), e); err != nil {
			return err
		}
		if j == nil {
			var err error
			j, err = journal.Create(filepath.Join(home, "sessions", e.SessionID),
				journal.Header{Rules: engine.Rules, SessionID: e.SessionID, Cascade: json.RawMessage("{}"), Input: json.RawMessage("{}")})
			if err != nil {
				return err
			}
		}
		if err := j.Write(e); err != nil {
			return err
		}
	}
	return j.Close(context.Background())
}
