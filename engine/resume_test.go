package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/effect/effecttest"
)

// manySided has a bit of everything that a record can hold: a phase without a model that fails
// once, parallel tools, state, retries, a validator that is a model, a route that leads back,
// context by selection, callouts, a budget of time.
const manySided = `{"cascade_id":"c","budget":{"max_seconds":1000,"max_usd":100},
	"validators":{"fair":{"instructions":"Is it fair? {{ content }}"}},
	"auto_context":{"intra_phase":{"enabled":true,"window":1,"mask_observations_after":1,"advance":"every_turn","min_masked_size":10}},
	"phases":[
		{"name":"look","tool":"flaky","retry":{"max_attempts":2},"handoffs":["work"]},
		{"name":"work","instructions":"Go {{ session.id }} {{ outputs.look }}.","tackle":["read","write","set_state","search_context"],
			"rules":{"max_attempts":2,"loop_until":"fair"},"callouts":"good","handoffs":["pick"]},
		{"name":"pick","instructions":"Choose.","handoffs":[{"target":"work"},{"target":"end"}]},
		{"name":"end","instructions":"{{ state.found }}: finish.","context":{"mode":"auto","anchors":{"window":1}},"tackle":["read"]}]}`

// world answers the calls of a run by their places, and counts them. It is the same however often a
// run is resumed.
type world struct {
	foreign bool // effects are performed by another implementation
	mu      sync.Mutex
	models  map[string]int // calls by place and content
	tools   map[string]int
	kill    func(what string) // called before a tool runs
}

func newWorld() *world { return &world{models: map[string]int{}, tools: map[string]int{}} }

func (w *world) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkSequence(req.Messages); err != nil {
		return nil, &effect.ModelError{Kind: echo.ModelErrBadRequest, Model: req.Model, Message: err.Error()}
	}
	s := req.Site
	place := fmt.Sprintf("%s~%d %d.%d %s%s", s.Phase, s.Visit, s.Attempt, s.Turn, s.Validator, s.Purpose)
	w.mu.Lock()
	w.models[place+" "+req.Hash()]++
	w.mu.Unlock()
	return w.answer(place)(req)
}

func (w *world) answer(place string) answerFunc {
	long := strings.Repeat("fox ", 40)
	switch place {
	case "work~1 1.1 ":
		return call("read", `{"n":1}`, "write", `{"n":1}`, "read", `{"n":2}`, "set_state", `{"key":"found","value":"a fox"}`)
	case "work~1 1.2 ":
		return call("read", `{"n":3}`, "search_context", `{"query":"fox"}`, "write", `{"n":2}`)
	case "work~1 1.3 ":
		return say("a first answer " + long)
	case "work~1 1.3 fair":
		return say(`{"valid": false, "reason": "too short"}`)
	case "work~1 2.1 ", "work~2 1.1 ":
		return call("read", `{"n":4}`)
	case "pick~1 1.1 ":
		return call("route_to", `{"target":"work"}`)
	case "pick~2 1.1 ":
		return call("route_to", `{"target":"end"}`)
	case "end~1 1.1 ":
		return call("read", `{"n":5}`)
	case "work~1 2.2 fair", "work~2 1.2 fair":
		return say(`{"valid": true}`)
	default:
		return say("the answer of " + place + long)
	}
}

// ticking returns a clock that goes on by a millisecond whenever it is read: a run on a slow
// machine takes no longer.
func ticking() func() time.Time {
	var reads atomic.Int64
	return func() time.Time {
		return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(reads.Add(1)) * time.Millisecond)
	}
}

// asked returns how many model calls were answered.
func (w *world) asked() int {
	n := 0
	for _, times := range w.models {
		n += times
	}
	return n
}

func (w *world) Spec(name string) (effect.ToolSpec, bool) {
	return effect.ToolSpec{
		Name: name, Description: "test", Idempotent: name != "write", Parameters: json.RawMessage(`{"type":"object"}`),
	}, true
}

func (w *world) Call(ctx context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	what := fmt.Sprintf("%s~%d %d.%d %s %s", req.Site.Phase, req.Site.Visit, req.Site.Attempt, req.Site.Turn, req.Name, req.Arguments)
	if w.kill != nil {
		w.kill(what)
	}
	if err := ctx.Err(); err != nil {
		return effect.ToolResult{}, err
	}
	w.mu.Lock()
	w.tools[what]++
	w.mu.Unlock()
	if req.Name == "flaky" && req.Site.Attempt == 1 {
		return effect.ToolResult{Failed: true, Parts: echo.Text("not yet")}, nil
	}
	return effect.ToolResult{Parts: echo.Text(what + strings.Repeat(" fox", 30))}, nil
}

// go1 runs or resumes manySided on a world.
func (w *world) go1(ctx context.Context, t *testing.T, sink *inMemory, past []*echo.Entry) (*Result, error) {
	t.Helper()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(manySided), c))
	pipeline := contextcards.Start(contextcards.Options{})
	defer func() { require.NoError(t, pipeline.Close(context.Background())) }()
	now := ticking()
	r := &Runner{Model: w, Tools: w, DefaultModel: "m", Cards: pipeline, Seams: effect.Seams{Now: now}, Facts: func(string) effect.ModelFacts {
		return effect.ModelFacts{Window: 100_000}
	}}
	log := echo.ContinueLog("s1", uint64(len(past)), now, nil, sink)
	sink.list = append(sink.list, past...)
	var effects effect.Effects // the runner's own
	if w.foreign {
		effects = effecttest.StartForeign(t, w, w, nil, effect.Writer{Log: log})
	}
	res, err := r.Run(ctx, Spec{Cascade: c, Log: log, Effects: effects, WorkDir: "/scratch", Recording: past, Header: json.RawMessage(`{"rules":1,"session_id":"s1","cascade":` + manySided + `}`)})
	checkHandoffs(t, sink.asRead(t))
	if err == nil {
		checkFold(t, sink.asRead(t), res)
	}
	return res, err
}

// Wherever a process dies, the run that takes the session up comes to the same end. No answered
// call is asked again, no tool that had an outcome is run again, and one that may do harm is not
// run twice: its model is told.
func TestResumeAfterEveryEntry(t *testing.T) {
	t.Parallel()
	first := newWorld()
	whole := &inMemory{}
	res, err := first.go1(context.Background(), t, whole, nil)
	require.NoError(t, err)
	require.Equal(t, echo.StatusCompleted, res.Status)
	require.Len(t, whole.keys(echo.NodeToolStart), 2)
	entries := whole.asRead(t)
	for cut := 1; cut < len(entries); cut++ {
		t.Run(fmt.Sprintf("%d %s %s", cut, entries[cut-1].NodeType, entries[cut-1].Key), func(t *testing.T) {
			t.Parallel()
			past := (&inMemory{list: entries[:cut]}).asRead(t)
			second, sink := newWorld(), &inMemory{}
			second.foreign = cut%2 == 0 // whoever performs effects goes on with what others recorded
			again, err := second.go1(context.Background(), t, sink, past)
			require.NoError(t, err)
			unfinished := unfinishedTools(sink.list)
			if len(unfinished) == 0 {
				require.Equal(t, res.Output, again.Output)
				require.Equal(t, res.Totals, again.Totals)
				require.Equal(t, shape(entries), shape(sink.list))
			}
			for key := range unfinished {
				require.Contains(t, []echo.Key{entries[cut-1].Key, entries[cut-2].Key, entries[max(cut-3, 0)].Key}, key)
			}
			if len(unfinished) == 0 {
				require.Equal(t, first.asked(), second.asked()+len((&inMemory{list: past}).of(echo.NodeModelCall)), "calls in all")
			}
			for tool := range second.tools {
				require.NotContains(t, textsOf(past), tool, "the tool has an outcome in the record")
			}
			replay(t, sink.asRead(t))
		})
	}
}

func unfinishedTools(entries []*echo.Entry) map[echo.Key]bool {
	out := map[echo.Key]bool{}
	for _, e := range entries {
		if e.NodeType == echo.NodeToolCall && e.Error != nil && e.Error.Kind == effect.KindUnfinished {
			out[e.Key] = true
		}
	}
	return out
}

// shape lists what is recorded, without the taking up, in the order of the keys of what runs in
// parallel.
func shape(entries []*echo.Entry) map[string]int {
	out := map[string]int{}
	for _, e := range entries {
		if e.NodeType != echo.NodeResume {
			out[fmt.Sprintf("%s %s %s", e.NodeType, e.Key, e.ContentHash)]++
		}
	}
	return out
}

func textsOf(entries []*echo.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		if e.NodeType == echo.NodeToolCall {
			b.WriteString(e.Message.Text() + "\n")
		}
	}
	return b.String()
}

// replay runs a record of manySided again with nothing but itself.
func replay(t *testing.T, entries []*echo.Entry) {
	t.Helper()
	_, err := replayOf(t, entries)
	require.NoError(t, err)
}

func replayOf(t *testing.T, entries []*echo.Entry) (*Result, error) {
	t.Helper()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(manySided), c))
	r := &Runner{Tools: onlySpecs{newWorld()}, DefaultModel: "m", Facts: func(string) effect.ModelFacts { return effect.ModelFacts{} }}
	return r.Run(context.Background(), Spec{Cascade: c, WorkDir: "/scratch", Name: "s1", Recording: entries})
}

// A record in which anything was changed that the run depends on, or that follows from what it
// depends on, does not replay.
func TestReplayFindsEveryChange(t *testing.T) {
	t.Parallel()
	whole := &inMemory{}
	_, err := newWorld().go1(context.Background(), t, whole, nil)
	require.NoError(t, err)
	entries := whole.asRead(t)
	replay(t, entries)
	tried := map[string]int{}
	for i, e := range entries {
		for what, changed := range changes(t, e) {
			kind := string(e.NodeType) + " " + what
			if tried[kind]++; tried[kind] > 3 { // of each kind a few: a replay takes milliseconds, and there are hundreds
				continue
			}
			list := (&inMemory{list: entries}).asRead(t)
			list[i] = changed
			_, err := replayOf(t, list)
			var differs *effect.DivergenceError
			require.ErrorAs(t, err, &differs, "%s of entry %d (%s at %s)", what, e.Seq, e.NodeType, e.Key)
		}
	}
	require.Greater(t, len(tried), 25)
}

// changes returns an entry with one thing changed in each.
func changes(t *testing.T, e *echo.Entry) map[string]*echo.Entry {
	t.Helper()
	out := map[string]*echo.Entry{}
	text, err := json.Marshal(e)
	require.NoError(t, err)
	edit := func(what string, f func(*echo.Entry)) {
		c := &echo.Entry{}
		require.NoError(t, json.Unmarshal(text, c))
		f(c)
		out[what] = c
	}
	edit("key", func(c *echo.Entry) { c.Key = c.Key.Step("x") })
	judges := e.Key.Purpose() == echo.PurposeValidator // of what it says only the verdict counts
	if m := e.Message; m != nil && m.Text() != "" && !judges {
		edit("text", func(c *echo.Entry) {
			d := echo.Draft{
				Role: m.Role(), Kind: m.Kind(), Parts: echo.Text(m.Text() + "."), ToolCalls: m.ToolCalls(),
				ToolCallID: m.ToolCallID(), Tool: m.Tool(), Failed: m.Failed(),
			}
			c.Message = echo.Seal(d)
			c.ContentHash = c.Message.Hash()
		})
	}
	if e.Tool != nil {
		if e.NodeType == echo.NodeToolCall {
			edit("arguments", func(c *echo.Entry) { c.Tool.Arguments += " " })
		}
	}
	if e.RequestHash != "" {
		edit("request hash", func(c *echo.Entry) { c.RequestHash = "0" + c.RequestHash[1:] + "0" })
	}
	if e.Usage != nil {
		edit("usage", func(c *echo.Entry) { c.Usage.In++ })
	}
	if e.CostUSD != nil {
		edit("cost", func(c *echo.Entry) { *c.CostUSD += 1 })
	}
	if e.Selection != nil {
		edit("context size", func(c *echo.Entry) { c.Selection.ContextSize++ })
		edit("form", func(c *echo.Entry) { c.Selection.Spans[0].Form += "x" })
		edit("carry", func(c *echo.Entry) { c.Data = json.RawMessage(strings.Replace(string(c.Data), ":", ":1", 1)) })
	}
	switch e.NodeType {
	case echo.NodeRoute, echo.NodeVerdict, echo.NodePhaseEnd, echo.NodeRunEnd, echo.NodePhaseStart, echo.NodeState, echo.NodeCallout:
		edit("data", func(c *echo.Entry) { c.Data = json.RawMessage(`{"other":1}`) })
	}
	return out
}

// What the run is made of is compared, too.
func TestResumeRefusesAnotherRun(t *testing.T) {
	t.Parallel()
	whole := &inMemory{}
	_, err := newWorld().go1(context.Background(), t, whole, nil)
	require.NoError(t, err)
	for name, tc := range map[string]struct{ from, to, want string }{
		"instructions": {"Choose.", "Choose well.", `(message at pick/task) has another content: recorded`},
		"order":        {`"rules":{"max_attempts":2,"loop_until":"fair"}`, `"rules":{"max_attempts":2}`, "is message at work/system, but now the run comes to message at work/task"},
		"policy":       {`"window":1`, `"window":2`, "(phase_start at work/start) has another data"},
		"no limits":    {`"max_seconds":1000,"max_usd":100`, `"max_tokens":1000000`, ""},
		"first":        {`"name":"look"`, `"name":"see"`, "(route at run/route) has another data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &cascade.Cascade{}
			require.Contains(t, manySided, tc.from)
			require.NoError(t, json.Unmarshal([]byte(strings.Replace(manySided, tc.from, tc.to, 1)), c))
			r := &Runner{Tools: onlySpecs{newWorld()}, DefaultModel: "m", Facts: func(string) effect.ModelFacts { return effect.ModelFacts{} }}
			_, err := r.Run(context.Background(), Spec{Cascade: c, WorkDir: "/scratch", Name: "s1", Recording: whole.asRead(t)})
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			var differs *effect.DivergenceError
			require.ErrorAs(t, err, &differs)
			require.ErrorContains(t, err, "the run does not follow its record: entry ")
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// A run that was interrupted, whose model failed or whose budget was used up goes on where it was;
// what it did last is set aside in its record.
func TestResumeAfterAStop(t *testing.T) {
	t.Parallel()
	boom := &effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Provider: "p", Status: 503, Message: "overloaded"}
	for name, stop := range map[string]func(t *testing.T, w *stopping) (context.Context, error){
		"interrupted": func(*testing.T, *stopping) (context.Context, error) {
			ctx, cancel := context.WithCancel(context.Background())
			return ctx, func() error { cancel(); return context.Canceled }()
		},
		"provider": func(_ *testing.T, w *stopping) (context.Context, error) {
			w.err = boom
			return context.Background(), boom
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 1; at <= 9; at++ {
				w := &stopping{world: newWorld(), at: at}
				ctx, want := stop(t, w)
				if w.err == nil {
					ctx, w.cancel = context.WithCancel(context.Background())
					defer w.cancel()
				}
				sink := &inMemory{}
				_, err := w.run(ctx, t, sink, nil)
				require.ErrorIs(t, err, want)
				past := sink.asRead(t)
				require.NoError(t, CheckResumable(past))
				goOn, sink := &stopping{world: w.world}, &inMemory{}
				res, err := goOn.run(context.Background(), t, sink, past)
				require.NoError(t, err, "stopped at %d", at)
				require.Equal(t, "the answer of end~1 1.2 "+strings.Repeat("fox ", 40), res.Output)
				require.Equal(t, echo.StatusCompleted, record.EndOf(sink.list).Status)
				replay(t, sink.asRead(t))
			}
		})
	}
}

// stopping is a world that stops the run at one of its model calls.
type stopping struct {
	*world
	at, calls int
	err       error
	cancel    context.CancelFunc
}

func (s *stopping) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if s.calls++; s.calls == s.at {
		if s.err != nil {
			return nil, s.err
		}
		s.cancel()
	}
	return s.world.Complete(ctx, req)
}

func (s *stopping) run(ctx context.Context, t *testing.T, sink *inMemory, past []*echo.Entry) (*Result, error) {
	t.Helper()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(manySided), c))
	now := ticking()
	r := &Runner{Model: s, Tools: s, DefaultModel: "m", Seams: effect.Seams{Now: now}, Facts: func(string) effect.ModelFacts { return effect.ModelFacts{} }}
	sink.list = append(sink.list, past...)
	return r.Run(ctx, Spec{
		Cascade: c, Log: echo.ContinueLog("s1", uint64(len(past)), now, nil, sink), WorkDir: "/scratch", Recording: past,
	})
}

func TestNotResumable(t *testing.T) {
	t.Parallel()
	done := &inMemory{}
	_, err := newWorld().go1(context.Background(), t, done, nil)
	require.NoError(t, err)
	require.EqualError(t, CheckResumable(done.list), "the run has completed: there is nothing to resume")

	b := setup(t, say("bad"))
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","rules":{"loop_until":"regex:good"}}]}`, nil)
	require.Error(t, err)
	err = CheckResumable(b.entries.list)
	var not *NotResumableError
	require.True(t, errors.As(err, &not))
	require.EqualError(t, err, "the run failed (attempts_exhausted): a resume would end in the same way")
}

// The tool of a phase without a model has nobody to tell: the phase fails whatever its retry says,
// and only a person who takes the session up again has it run again.
func TestUnfinishedToolOfAPhaseWithoutAModel(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"p","tool":"deploy","retry":{"max_attempts":3}}]}`
	b := setup(t)
	b.tools.add("deploy", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text("deployed")}, nil
	})
	_, err := b.run(source, nil)
	require.NoError(t, err)
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	var past []*echo.Entry
	for _, e := range b.entries.asRead(t) {
		if past = append(past, e); e.NodeType == echo.NodeToolStart {
			break
		}
	}
	takeUp := func(past []*echo.Entry) (*Result, []*echo.Entry, error) {
		sink := &inMemory{list: past}
		log := echo.ContinueLog("s1", uint64(len(past)), nil, nil, sink)
		res, err := b.runner.Run(context.Background(), Spec{Cascade: c, Log: log, WorkDir: "/scratch", Recording: past})
		return res, sink.asRead(t), err
	}
	before := len(b.tools.calls)
	_, past, err = takeUp(past)
	require.EqualError(t, err, "c/p (attempt 1): tool deploy failed: The run was stopped while deploy ran. Whether it did what it should "+
		"is not known, and it was not run again, as that may do harm. Find out what it did before calling it again.")
	require.Len(t, b.tools.calls, before)
	require.NoError(t, CheckResumable(past))
	res, past, err := takeUp(past)
	require.NoError(t, err)
	require.Equal(t, "deployed", res.Output)
	require.Len(t, b.tools.calls, before+1)
	require.Equal(t, echo.StatusCompleted, record.EndOf(past).Status)
}

// A record in which nothing counts is no run's: a replay of it asks nobody anything, and a run that
// takes it up begins.
func TestRecordOfNothing(t *testing.T) {
	t.Parallel()
	for name, past := range map[string][]*echo.Entry{
		"empty":           nil,
		"only background": {{SessionID: "s1", Seq: 1, NodeType: echo.NodeModelCall, Key: echo.MustKey("cards/call1")}},
		"only resume":     {{SessionID: "s1", Seq: 1, NodeType: echo.NodeResume, Key: echo.MustKey("run/resume"), Data: json.RawMessage(`{"set_aside":[]}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := replayOf(t, past)
			require.ErrorIs(t, err, effect.ErrEndOfRecord)
			if name == "only resume" { // nothing writes such a record
				return
			}
			res, err := newWorld().go1(context.Background(), t, &inMemory{}, past)
			require.NoError(t, err)
			require.Equal(t, echo.StatusCompleted, res.Status)
		})
	}
}
