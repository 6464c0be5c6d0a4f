package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// testBundle is a run with a scripted model and tools made of functions: what a test sets up and
// then looks at.
type testBundle struct {
	t       *testing.T
	runner  *Runner
	model   *fakeModel
	tools   *fakeTools
	entries *inMemory

	off   cascade.SwitchedOff
	rules int
}

func setup(t *testing.T, answers ...answerFunc) *testBundle {
	t.Helper()
	b := &testBundle{t: t, model: &fakeModel{answers: answers}, tools: &fakeTools{}, entries: &inMemory{}}
	b.runner = &Runner{Model: b.model, Tools: b.tools, DefaultModel: "m"}
	return b
}

// run runs a cascade given as JSON, decoded without the loader's checks.
func (b *testBundle) run(source string, input map[string]any) (*Result, error) {
	return b.runCtx(context.Background(), source, input)
}

func (b *testBundle) runCtx(ctx context.Context, source string, input map[string]any) (*Result, error) {
	b.t.Helper()
	c := &cascade.Cascade{}
	require.NoError(b.t, json.Unmarshal([]byte(source), c))
	log := echo.NewLog("s1", nil, nil, b.entries)
	header := json.RawMessage(fmt.Sprintf(`{"rules":1,"session_id":"s1","cascade":%s}`, source))
	res, err := b.runner.Run(ctx, Spec{Off: b.off, Rules: b.rules, Cascade: c, Input: input, Log: log, WorkDir: "/scratch", Header: header})
	b.entries.checkKeys(b.t)
	checkHandoffs(b.t, b.entries.asRead(b.t))
	if !effect.IsRecordError(err) {
		checkFold(b.t, b.entries.asRead(b.t), res)
		b.checkReplay(c, input, res, err)
	}
	return res, err
}

// checkReplay holds what every record must: without a model and without tools the run goes the same
// way again, to the same end, and everything that it would record is what is recorded.
func (b *testBundle) checkReplay(c *cascade.Cascade, input map[string]any, res *Result, err error) {
	b.t.Helper()
	again := *b.runner
	again.Model, again.Tools, again.Observer, again.Cards, again.Similarity = nil, onlySpecs{b.tools}, nil, nil, nil
	replayed, replayErr := again.Run(context.Background(), Spec{
		Off: b.off, Rules: b.rules, Cascade: c, Input: input, WorkDir: "/scratch", Name: "s1", Recording: b.entries.asRead(b.t),
	})
	if res.Status == echo.StatusInterrupted || res.Status == echo.StatusOverBudget || res.Status == echo.StatusWaiting {
		require.ErrorIs(b.t, replayErr, effect.ErrEndOfRecord, "the replay of %v", err)
		return
	}
	if err == nil {
		require.NoError(b.t, replayErr)
	} else {
		require.EqualError(b.t, replayErr, err.Error())
	}
	require.Equal(b.t, res.Status, replayed.Status)
	require.Equal(b.t, res.Totals, replayed.Totals)
	require.Equal(b.t, echo.AsText(res.Output), echo.AsText(replayed.Output))
}

// onlySpecs are tools that may be described and not run.
type onlySpecs struct{ effect.Tools }

func (onlySpecs) Call(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	panic("a replay runs the tool " + req.Name)
}

// asRead returns the entries as a journal gives them back.
func (m *inMemory) asRead(t *testing.T) []*echo.Entry {
	t.Helper()
	out := make([]*echo.Entry, len(m.list))
	for i, e := range m.list {
		b, err := json.Marshal(e)
		require.NoError(t, err)
		out[i] = &echo.Entry{}
		require.NoError(t, json.Unmarshal(b, out[i]))
	}
	return out
}

// inMemory is a sink that keeps entries.
type inMemory struct {
	list []*echo.Entry
	fail func(*echo.Entry) error
}

func (m *inMemory) Write(e *echo.Entry) error {
	if m.fail != nil {
		if err := m.fail(e); err != nil {
			return err
		}
	}
	m.list = append(m.list, e)
	return nil
}

func (m *inMemory) Close(context.Context) error { return nil }

func (m *inMemory) of(t echo.NodeType) []*echo.Entry {
	var out []*echo.Entry
	for _, e := range m.list {
		if e.NodeType == t {
			out = append(out, e)
		}
	}
	return out
}

func (m *inMemory) keys(t echo.NodeType) []string {
	var out []string
	for _, e := range m.of(t) {
		out = append(out, e.Key.String())
	}
	return out
}

// checkKeys holds what every run must: an effect's key stands for one effect.
func (m *inMemory) checkKeys(t *testing.T) {
	t.Helper()
	seen := map[echo.Key]bool{}
	for _, e := range m.list {
		switch e.NodeType {
		case echo.NodeModelCall, echo.NodeToolCall, echo.NodeValue:
			require.False(t, seen[e.Key], "two effects share the key %s", e.Key)
			seen[e.Key] = true
		}
	}
}

// answerFunc is one answer of the fake model.
type answerFunc func(req *effect.ModelRequest) (*effect.ModelResponse, error)

// fakeModel answers in order and keeps the requests. It is as strict as a provider about the order
// of messages.
type fakeModel struct {
	mu       sync.Mutex
	answers  []answerFunc
	requests []*effect.ModelRequest
}

func (f *fakeModel) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkSequence(req.Messages); err != nil {
		return nil, &effect.ModelError{Kind: echo.ModelErrBadRequest, Model: req.Model, Message: err.Error(), Status: 400}
	}
	f.requests = append(f.requests, req)
	if len(f.requests) > len(f.answers) {
		return nil, errors.New("the test has no more answers")
	}
	return f.answers[len(f.requests)-1](req)
}

func checkSequence(ms []*echo.Message) error {
	open, used := map[string]bool{}, map[string]bool{}
	for i, m := range ms {
		if m.Role() == echo.RoleTool {
			if !open[m.ToolCallID()] {
				return fmt.Errorf("message %d answers no call", i)
			}
			delete(open, m.ToolCallID())
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d comes before all calls are answered", i)
		}
		for _, c := range m.ToolCalls() {
			if used[c.ID] {
				return fmt.Errorf("message %d has the id %s of an earlier call", i, c.ID)
			}
			open[c.ID], used[c.ID] = true, true
		}
	}
	if len(open) > 0 {
		return errors.New("the last calls are not answered")
	}
	return nil
}

const (
	usageIn, usageOut = 100, 10
	callCost          = 0.01
)

func respond(m *echo.Message) *effect.ModelResponse {
	cost := callCost
	return &effect.ModelResponse{
		Message: m, Provider: "fake", Model: "m", FinishReason: "stop",
		Usage: echo.Usage{In: usageIn, Cached: 40, Out: usageOut}, CostUSD: &cost,
	}
}

// questionOf returns the newest message of a request, and the texts of all.
func questionOf(req *effect.ModelRequest) (last, all string) {
	var texts []string
	for _, msg := range req.Messages {
		texts = append(texts, msg.Text())
	}
	return texts[len(texts)-1], strings.Join(texts, "\n")
}

// reply is an answer of a model that is asked in any order.
func reply(text string) *effect.ModelResponse {
	cost := callCost
	return &effect.ModelResponse{
		Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, text), Usage: echo.Usage{In: 10, Out: 10}, CostUSD: &cost, FinishReason: "stop",
	}
}

// say answers with text.
func say(text string) answerFunc {
	return func(*effect.ModelRequest) (*effect.ModelResponse, error) {
		return respond(echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(text)})), nil
	}
}

// call answers with tool calls, written as name and arguments in turn.
func call(pairs ...string) answerFunc {
	return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
		for i := 0; i < len(pairs); i += 2 {
			d.ToolCalls = append(d.ToolCalls, echo.ToolCall{
				ID: fmt.Sprintf("a%dt%d#%d", req.Site.Attempt, req.Site.Turn, i/2), Name: pairs[i], Arguments: pairs[i+1],
			})
		}
		return respond(echo.Seal(d)), nil
	}
}

func refuse(err error) answerFunc {
	return func(*effect.ModelRequest) (*effect.ModelResponse, error) { return nil, err }
}

// fakeTools are tools made of functions. A tool takes any object unless a schema is given.
type fakeTools struct {
	mu      sync.Mutex
	schemas map[string]string
	fns     map[string]func(ctx context.Context, req effect.ToolRequest) (effect.ToolResult, error)
	calls   []effect.ToolRequest
}

func (f *fakeTools) add(name, schema string, fn func(ctx context.Context, req effect.ToolRequest) (effect.ToolResult, error)) {
	if f.fns == nil {
		f.fns, f.schemas = map[string]func(context.Context, effect.ToolRequest) (effect.ToolResult, error){}, map[string]string{}
	}
	f.fns[name], f.schemas[name] = fn, schema
}

// echoTool answers with its own arguments.
func (f *fakeTools) addEcho(name string) {
	f.add(name, `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text(name + ":" + string(req.Arguments))}, nil
	})
}

func (f *fakeTools) Spec(name string) (effect.ToolSpec, bool) {
	s, ok := f.schemas[name]
	return effect.ToolSpec{Name: name, Description: "test", Parameters: json.RawMessage(s)}, ok
}

func (f *fakeTools) Call(ctx context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	f.mu.Lock()
	f.calls = append(f.calls, req)
	fn := f.fns[req.Name]
	f.mu.Unlock()
	if fn == nil {
		return effect.ToolResult{}, fmt.Errorf("no tool %s", req.Name)
	}
	return fn(ctx, req)
}

// roles spells out a request for comparison: role and text of every message.
func roles(req *effect.ModelRequest) []string {
	var out []string
	for _, m := range req.Messages {
		s := string(m.Role()) + ": " + m.Text()
		for _, c := range m.ToolCalls() {
			s += " +" + c.Name
		}
		out = append(out, s)
	}
	return out
}
