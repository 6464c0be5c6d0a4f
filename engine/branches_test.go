package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// echoing answers with the last user message, whatever the order of requests is, and keeps the
// requests.
type echoing struct {
	mu       sync.Mutex
	requests []string
	fail     func(text string) error
}

func (m *echoing) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	last, all := questionOf(req)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, all)
	if m.fail != nil {
		if err := m.fail(last); err != nil {
			return nil, err
		}
	}
	return reply("<" + last + ">"), nil
}

func branching(t *testing.T, fail func(string) error) (*testBundle, *echoing) {
	t.Helper()
	b := setup(t)
	m := &echoing{fail: fail}
	b.runner.Model = m
	return b, m
}

func TestForEach(t *testing.T) {
	t.Parallel()
	b, m := branching(t, nil)
	res, err := b.run(`{"cascade_id":"c","phases":[
		{"name":"each","for_each":{"items":"input.files","as":"file"},"instructions":"Read {{ file.name }} ({{ file_index }})."},
		{"name":"sum","context":{"from":["each"],"include_input":false},"instructions":"{{ outputs.each | length }} of {{ outputs.each[1] }}"}]}`,
		map[string]any{"files": []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}, map[string]any{"name": "c"}}})
	require.NoError(t, err)
	require.Equal(t, "<3 of <Read b (1).>>", res.Output)
	require.Len(t, res.Phases, 2)
	require.Equal(t, 3, res.Phases[0].Turns)
	require.Equal(t, echo.StopItems, res.Phases[0].Reason)
	require.InDelta(t, 0.03, res.Phases[0].CostUSD, 1e-9)
	require.InDelta(t, 0.04, res.CostUSD, 1e-9)
	for _, r := range m.requests {
		if strings.Contains(r, "Read ") && !strings.Contains(r, " of ") {
			require.Equal(t, 1, strings.Count(r, "Read "), "an element sees no other: %s", r)
		}
	}
	require.Contains(t, b.entries.keys(echo.NodePhaseEnd), "each/item2/finish")
}

// A text with nothing but a comment is a template, as the loader takes it.
func TestCommentIsATemplate(t *testing.T) {
	t.Parallel()
	kid := map[string]*cascade.Reached{"kid": reached(t, `{"cascade_id":"kid","inputs_schema":{"topic":"what"},"phases":[{"name":"q","instructions":"about {{ input.topic }}"}]}`)}
	b, _ := branching(t, nil)
	res, _, err := b.runTree(`{"cascade_id":"c","phases":[
		{"name":"each","for_each":{"items":"{# both #}[1,2]"},"instructions":"{{ item }}"},
		{"name":"main","sub_cascades":[{"ref":"kid","input_map":{"topic":"{# all of them #}tides"}}],"instructions":"{{ outputs.each | length }} {{ subs.kid }}"}]}`, nil, kid)
	require.NoError(t, err)
	require.Equal(t, "<2 <about tides>>", res.Output)
}

func TestForEachOfNothing(t *testing.T) {
	t.Parallel()
	b, m := branching(t, nil)
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"each","for_each":{"items":"{{ input.list }}"},"instructions":"x {{ item }}"}]}`, map[string]any{"list": []any{}})
	require.NoError(t, err)
	require.Equal(t, []any{}, res.Output)
	require.Empty(t, m.requests)
}

func TestWhatIsNoList(t *testing.T) {
	t.Parallel()
	long := make([]any, cascade.MaxItems+1)
	for name, tt := range map[string]struct {
		items string
		input map[string]any
		want  string
	}{
		"a number": {`"input.n"`, map[string]any{"n": 7}, "c/each: for_each.items: it is a number, and no list"},
		"a text":   {`"input.n"`, map[string]any{"n": "a, b"}, "c/each: for_each.items: it is a text, and no list"},
		"a text of a list": {`"input.n"`, map[string]any{"n": ` ["a"]`}, `c/each: for_each.items: it is a text, and no list, though it reads as one: what a template renders, and an input that is given as text, stays text ` +
			`where "inputs_schema" names no type. Give the input the type "array" there, or pass the list itself: as JSON, or in "input_map" by its path`},
		"no JSON":     {`"{{ input.n }} and more"`, map[string]any{"n": "x"}, "c/each: for_each.items: its template rendered no JSON: x and more"},
		"not there":   {`"outputs.plan.files"`, nil, `c/each: for_each.items: outputs has no "plan"`},
		"nothing":     {`"files"`, nil, `c/each: for_each.items: there is no "files" in state or input, and no variable of that name`},
		"too many":    {`"input.n"`, map[string]any{"n": long}, "c/each: for_each.items: the list has 10001 elements, at most 10000 are run in one session: run the cascade once for each (windlass batch is not there yet), or make the list shorter"},
		"an object":   {`"input"`, map[string]any{"n": 1}, "c/each: for_each.items: it is an object, and no list"},
		"no such one": {`"input.n.4"`, map[string]any{"n": []any{1}}, `c/each: for_each.items: input.n has no "4"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, m := branching(t, nil)
			_, err := b.run(`{"cascade_id":"c","phases":[{"name":"each","for_each":{"items":`+tt.items+`},"instructions":"x"}]}`, tt.input)
			require.EqualError(t, err, tt.want)
			require.Empty(t, m.requests)
		})
	}
}

func failOn(word string) func(string) error {
	return func(text string) error {
		if strings.Contains(text, word) {
			return &effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Message: "no " + word, Status: 500, Unpaid: true}
		}
		return nil
	}
}

func TestElementsThatFail(t *testing.T) {
	t.Parallel()
	source := func(onError, rest string) string {
		return `{"cascade_id":"c","phases":[{"name":"each","for_each":{"items":["a","bad","c"],"max_parallel":1,"on_error":"` + onError + `"},"instructions":"{{ item }}"` + rest + `}]}`
	}
	b, m := branching(t, failOn("bad"))
	res, err := b.run(source("skip", ""), nil)
	require.NoError(t, err)
	require.Equal(t, []any{"<a>", "<c>"}, res.Output)
	require.Len(t, m.requests, 3)

	b, _ = branching(t, failOn("bad"))
	res, err = b.run(source("collect", ""), nil)
	require.NoError(t, err)
	require.JSONEq(t, `["<a>",{"error":"c/each (element 2) (attempt 1, turn 1): model m: no bad","item":"bad"},"<c>"]`, string(effect.MustJSON(res.Output)))

	b, m = branching(t, failOn("bad"))
	_, err = b.run(source("fail", ""), nil)
	require.EqualError(t, err, "c/each (element 2) (attempt 1, turn 1): model m: no bad")
	require.Len(t, m.requests, 2, "no further element begins")
	b.resumes(t, source("fail", ""), nil, `["<a>","<bad>","<c>"]`)

	b, _ = branching(t, failOn("bad"))
	res, err = b.run(source("fail", `,"on_error":{"instructions":"sorry"}`), nil)
	require.NoError(t, err)
	require.Equal(t, "<sorry>", res.Output)
}

// resumes holds that the run goes on from its record once nothing fails any more, to an output.
func (b *testBundle) resumes(t *testing.T, source string, input map[string]any, want string) {
	t.Helper()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	recording := b.entries.asRead(t)
	require.NoError(t, CheckResumable(recording))
	sink := &inMemory{list: slices.Clone(recording)}
	m := &echoing{}
	b.runner.Model = m
	res, err := b.runner.Run(context.Background(), Spec{
		Cascade: c, Input: input, Log: echo.ContinueLog("s1", uint64(len(recording)), nil, nil, sink), WorkDir: "/scratch", Recording: recording,
	})
	require.NoError(t, err)
	require.JSONEq(t, want, string(effect.MustJSON(res.Output)))
	seen := map[echo.Key]int{}
	for _, e := range sink.list {
		if e.NodeType == echo.NodeModelCall && e.Error == nil {
			seen[e.Key]++
			require.Equal(t, 1, seen[e.Key], "paid twice: %s", e.Key)
		}
	}
}

const fiveNodes = `{"cascade_id":"c","max_parallel":2,"phases":[
	{"name":"end","after":["left","right"],"instructions":"end {{ outputs.left }} {{ outputs.right }}"},
	{"name":"left","after":["start"],"instructions":"left of {{ outputs.start }}"},
	{"name":"right","after":["start"],"instructions":"right of {{ outputs.start }}"},
	{"name":"start","instructions":"start"},
	{"name":"alone","instructions":"alone"}]}`

func TestGraph(t *testing.T) {
	t.Parallel()
	b, m := branching(t, nil)
	res, err := b.run(fiveNodes, nil)
	require.NoError(t, err)
	require.Equal(t, "<alone>", res.Output, "of the last phase in file order that nothing is after")
	require.Len(t, m.requests, 5)
	require.Equal(t, "<end <left of <start>> <right of <start>>>", res.State["output_end"])
	require.ElementsMatch(t, []string{"end/node1/begin", "left/node2/begin", "right/node3/begin", "start/node4/begin", "alone/node5/begin"}, b.entries.keys(echo.NodePhaseStart))
	require.InDelta(t, 0.05, res.CostUSD, 1e-9)
}

// What fails stops what is after it, and nothing else; a run that resumes makes the call again.
func TestGraphThatFails(t *testing.T) {
	t.Parallel()
	b, m := branching(t, failOn("left"))
	res, err := b.run(fiveNodes, nil)
	require.EqualError(t, err, "c/left (attempt 1, turn 1): model m: no left")
	require.Equal(t, echo.StatusFailed, res.Status)
	require.Len(t, m.requests, 4)
	require.Contains(t, b.entries.keys(echo.NodeWarning), "run/warning")
	b.resumes(t, fiveNodes, nil, `"<alone>"`)
}

// A phase of a graph that has ended well stays as it is when the run resumes, though the last call of it
// failed: phases after it have gone on from how it ended.
func TestGraphThatFailsBesideAnsweredPhases(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ phase, want string }{
		"a phase": {`"instructions":"[7]","rules":{"loop_until":"good","max_attempts":1,"on_exhausted":"continue"}`, "nothing"},
		"a list":  {`"for_each":{"items":[[7]]},"instructions":"{{ item | tojson }}","rules":{"loop_until":"good","max_attempts":1,"on_exhausted":"continue"}`, "[[7]]"},
		"a ward":  {`"instructions":"[7]","wards":{"post":[{"validator":"good","mode":"advisory"}]}`, "[7]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := `{"cascade_id":"c","validators":{"good":{"instructions":"{\"valid\": true} is it good?"}},"phases":[
				{"name":"w","output_schema":{"type":"array"},` + tt.phase + `},
				{"name":"d","after":["w"],"instructions":"after {{ state.validated_output | default('nothing') }}"},
				{"name":"v","after":["d"],"instructions":"bad {{ outputs.d }}"}]}`
			b, _ := branching(t, func(text string) error {
				return cmp.Or(failOn("bad")(text), failOn("is it good")(text))
			})
			_, err := b.run(source, nil)
			require.EqualError(t, err, "c/v (attempt 1, turn 1): model m: no bad")
			b.resumes(t, source, nil, `"<bad <after `+tt.want+`>>"`)
		})
	}
}

func TestGraphWithHandlers(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c","phases":[
		{"name":"a","instructions":"bad a","on_error":"mend"},
		{"name":"b","instructions":"bad b","on_error":"mend"},
		{"name":"mend","instructions":"mended {{ outputs | length }}"},
		{"name":"end","after":["a","b"],"instructions":"end {{ lineage | length }}"}]}`
	b, _ := branching(t, failOn("bad"))
	res, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, "<end 2>", res.Output)
	require.ElementsMatch(t, []string{"a/node1/begin", "mend/node1/begin", "b/node2/begin", "mend~2/node2/begin", "end/node4/begin"}, b.entries.keys(echo.NodePhaseStart))
}

// A list within a graph, and state that several branches set.
func TestListInAGraph(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c","phases":[
		{"name":"one","instructions":"one"},
		{"name":"each","for_each":{"items":[1,2,3]},"tool":"set_state","inputs":{"key":"last","value":"{{ item }}"}},
		{"name":"end","after":["one","each"],"instructions":"last {{ state.last }}"}]}`
	b, _ := branching(t, nil)
	res, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, "<last 3>", res.Output)
	require.Contains(t, b.entries.keys(echo.NodeWarning), "each/node2/state/last/warning")
}

// Of phases in parallel that set the same state, the later one in the file decides, with a warning: in a
// phase after both, or at the end of the run when there is none. What a phase sets after them counts
// without one.
func TestStateOfParallelPhases(t *testing.T) {
	t.Parallel()
	sets := func(name, value, after string) string {
		return fmt.Sprintf(`{"name":%q,"after":[%s],"tool":"set_state","inputs":{"key":"x","value":%q}}`, name, after, value)
	}
	const k, reads = `{"name":"k","instructions":"k"}`, `{"name":"end","after":["a","b"],"instructions":"{{ state.x }}"}`
	for name, tt := range map[string]struct {
		phases   []string
		x        string
		warnings []string
	}{
		"nothing after both":     {[]string{sets("a", "first", `"k"`), sets("b", "second", ""), k}, "second", []string{"run/state/x/warning"}},
		"a phase after both":     {[]string{sets("a", "first", `"k"`), sets("b", "second", ""), k, reads}, "second", []string{"end/node4/state/x/warning"}},
		"one after that":         {[]string{sets("a", "first", ""), sets("b", "second", ""), reads, `{"name":"more","after":["end"],"instructions":"{{ state.x }}"}`}, "second", []string{"end/node3/state/x/warning"}},
		"the same value":         {[]string{sets("a", "same", `"k"`), sets("b", "same", ""), k, reads}, "same", nil},
		"set again after both":   {[]string{sets("c", "third", `"a","b"`), sets("a", "first", ""), sets("b", "second", "")}, "third", []string{"c/node1/state/x/warning"}},
		"set again after one":    {[]string{sets("z", "later", `"a"`), sets("a", "first", ""), sets("b", "second", "")}, "second", []string{"run/state/x/warning"}},
		"one after the other":    {[]string{sets("b", "second", `"a"`), sets("a", "first", "")}, "second", nil},
		"one after all, earlier": {[]string{sets("c", "third", `"b"`), sets("z", "other", ""), sets("b", "second", `"a"`), sets("a", "first", "")}, "other", []string{"run/state/x/warning"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := branching(t, nil)
			source := `{"cascade_id":"c","phases":[` + strings.Join(tt.phases, ",") + `]}`
			res, err := b.run(source, nil)
			require.NoError(t, err)
			require.Equal(t, tt.x, res.State["x"])
			require.Equal(t, tt.warnings, b.entries.keys(echo.NodeWarning))
			if strings.Contains(source, reads) {
				require.Equal(t, "<"+tt.x+">", res.State["output_end"])
			}
			whole := b.entries.asRead(t)
			for n := range whole { // also when the run stops with some of its phases open
				f := record.Of(whole[:n])
				require.Equal(t, f.State("x"), f.Shared()["x"])
				if n > slices.IndexFunc(whole, func(e *echo.Entry) bool { return e.NodeType == echo.NodeBranchEnd }) {
					require.Equal(t, tt.x, f.State("x"), "after %d entries", n)
				}
			}
		})
	}
}

// What handles the error of a phase has the last word on what both set, and is recorded once.
func TestStateOfHandlers(t *testing.T) {
	t.Parallel()
	b, _ := branching(t, nil)
	res, err := b.run(`{"cascade_id":"c","phases":[
		{"name":"b","tool":"nope","on_error":{"name":"mend","instructions":"mended","output_schema":{"type":"array"},"rules":{"max_attempts":1},"callouts":{"output":"made"},
			"on_error":{"name":"last","instructions":"[8]","output_schema":{"type":"array"},"callouts":{"output":"made"}}}},
		{"name":"end","after":["b"],"instructions":"{{ state.validated_output[0] }}"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "<8>", res.Output)
	f := record.Of(b.entries.asRead(t))
	require.Equal(t, []any{json.Number("8")}, res.State[cascade.StateValidatedOutput])
	require.Len(t, f.Callouts(), 1)
	require.Equal(t, res.State["last_error"], f.State("last_error"))
}

// Killed after any entry, a run with branches comes to the same end, and pays for no call twice.
func TestBranchesResume(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"graph": fiveNodes,
		"list":  `{"cascade_id":"c","phases":[{"name":"each","for_each":{"items":["a","b","c"]},"instructions":"{{ item }}"},{"name":"end","instructions":"{{ outputs.each | length }}"}]}`,
		"both": `{"cascade_id":"c","budget":{"max_usd":5,"max_seconds":1000},"phases":[{"name":"x","instructions":"x"},{"name":"each","for_each":{"items":["a","b","c"]},"instructions":"{{ item }}"},
			{"name":"end","after":["x","each"],"instructions":"{{ outputs.each | length }}"}]}`,
	} {
		b, _ := branching(t, nil)
		res, err := b.run(source, nil)
		require.NoError(t, err)
		whole := b.entries.asRead(t)
		c := &cascade.Cascade{}
		require.NoError(t, json.Unmarshal([]byte(source), c))
		for n := 1; n < len(whole); n++ {
			sink := &inMemory{list: slices.Clone(whole[:n])}
			m := &echoing{}
			runner := &Runner{Model: m, DefaultModel: "m", Tools: &fakeTools{}}
			again, err := runner.Run(context.Background(), Spec{
				Cascade: c, Log: echo.ContinueLog("s1", uint64(n), nil, nil, sink), WorkDir: "/scratch", Recording: whole[:n:n],
			})
			require.NoError(t, err, "%s after entry %d", name, n)
			require.Equal(t, res.Output, again.Output)
			require.InDelta(t, res.CostUSD, again.CostUSD, 1e-9)
			paid := 0
			for _, e := range sink.list {
				if e.NodeType == echo.NodeModelCall {
					paid++
				}
			}
			require.Equal(t, len(b.entries.of(echo.NodeModelCall)), paid, "%s after entry %d", name, n)
		}
	}
}

// fakeChildren runs children with the runner of their parent, each once.
type fakeChildren struct {
	runner *Runner
	find   map[string]*cascade.Reached
	mu     sync.Mutex
	ran    map[string]*effect.ChildOutcome
	errs   map[string]error
	began  []string
}

func (f *fakeChildren) Begin(ctx context.Context, c *Child) {
	f.mu.Lock()
	f.began = append(f.began, c.Name)
	f.mu.Unlock()
	_, _ = f.Wait(ctx, c)
}

func (f *fakeChildren) Wait(ctx context.Context, c *Child) (*effect.ChildOutcome, error) {
	f.mu.Lock()
	out, ran := f.ran[c.Session]
	failed := f.errs[c.Session]
	f.mu.Unlock()
	if ran {
		return out, failed
	}
	res, err := f.runner.Run(ctx, Spec{
		Cascade: c.Cascade.Cascade, Input: c.Input, Log: echo.NewLog(c.Session, nil, nil, &inMemory{}), WorkDir: "/child", Budget: c.Budget,
		Lineage: Lineage{State: c.State, Depth: c.Depth, Parent: c.Ledger, Trial: c.Trial},
	})
	out = &effect.ChildOutcome{Totals: res.Plus(res.Children)}
	out.ChildEnd = echo.ChildEnd{Session: c.Session, Status: res.Status, Reason: res.Reason, Output: res.Output, State: res.State}
	if err != nil {
		out.Error = &echo.Failure{Kind: string(res.Reason), Message: err.Error()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran[c.Session] = out
	return out, nil
}

func (f *fakeChildren) Settle(context.Context) {} // Begin has waited for them

func (f *fakeChildren) Find(_ context.Context, name string) echo.FoundCascade {
	of := f.find[name]
	if of == nil {
		return echo.FoundCascade{Name: name, Problem: fmt.Sprintf("there is no cascade named %q", name)}
	}
	return echo.FoundCascade{Name: name, File: of.File, Hash: of.Hash, Cascade: effect.MustJSON(of.Cascade)}
}

func (f *fakeChildren) Read(found *echo.FoundCascade) (*cascade.Reached, error) {
	of := f.find[found.Name]
	if of == nil {
		return nil, errors.New("lost")
	}
	return of, nil
}

func reached(t *testing.T, source string) *cascade.Reached {
	t.Helper()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	return &cascade.Reached{File: "child.json", Hash: "0123456789abcdef", Cascade: c}
}

// runTree is run for a cascade that reaches others, by their names.
func (b *testBundle) runTree(source string, input map[string]any, reaches map[string]*cascade.Reached) (*Result, *fakeChildren, error) {
	b.t.Helper()
	c := &cascade.Cascade{}
	require.NoError(b.t, json.Unmarshal([]byte(source), c))
	c.Reaches = reaches
	f := &fakeChildren{runner: b.runner, find: reaches, ran: map[string]*effect.ChildOutcome{}, errs: map[string]error{}}
	b.runner.Children = f
	res, err := b.runner.Run(context.Background(), Spec{Cascade: c, Input: input, Log: echo.NewLog("s1", nil, nil, b.entries), WorkDir: "/scratch"})
	if !effect.IsRecordError(err) {
		b.runner.Children = nil
		b.checkReplay(c, input, res, err)
		b.runner.Children = f
	}
	return res, f, err
}

func TestSubCascades(t *testing.T) {
	t.Parallel()
	child := reached(t, `{"cascade_id":"kid","phases":[{"name":"p","tool":"set_state","inputs":{"key":"mark","value":"{{ input.topic }} {{ state.from | default('') }}"}},{"name":"q","instructions":"about {{ input.topic }}"}]}`)
	b, _ := branching(t, nil)
	res, _, err := b.runTree(`{"cascade_id":"c","phases":[
		{"name":"set","tool":"set_state","inputs":{"key":"from","value":"parent"}},
		{"name":"main","sub_cascades":[{"ref":"kid.json","input_map":{"topic":"{{ input.what }}!"},"context_in":true,"context_out":true}],
		 "context":{"include_input":false},"instructions":"{{ subs.kid }} {{ state.mark }}"}]}`, map[string]any{"what": "tides"}, map[string]*cascade.Reached{"kid.json": child})
	require.NoError(t, err)
	require.Equal(t, "<<about tides!> tides! parent>", res.Output)
	require.Equal(t, 1, res.Calls)
	require.Equal(t, 1, res.Children.Calls)
	require.InDelta(t, 0.01, res.Children.CostUSD, 1e-9)
	require.Equal(t, []string{"main/child/kid"}, b.entries.keys(echo.NodeChildStart))
	require.Equal(t, []string{"main/child/kid"}, b.entries.keys(echo.NodeChildEnd))
}

func TestSubCascadeThatFails(t *testing.T) {
	t.Parallel()
	child := reached(t, `{"cascade_id":"kid","phases":[{"name":"p","instructions":"bad"}]}`)
	b, _ := branching(t, failOn("bad"))
	_, _, err := b.runTree(`{"cascade_id":"c","phases":[{"name":"main","sub_cascades":[{"ref":"kid"}],"instructions":"x"}]}`, nil, map[string]*cascade.Reached{"kid": child})
	require.EqualError(t, err, "c/main: the cascade kid (session "+echo.ChildSession("s1", echo.MustKey("main/child/kid"))+") ended failed: kid/p (attempt 1, turn 1): model m: no bad")

	b, _ = branching(t, nil)
	_, _, err = b.runTree(`{"cascade_id":"c","phases":[{"name":"main","sub_cascades":[{"ref":"kid"}],"instructions":"x"}]}`, nil, nil)
	require.EqualError(t, err, "c/main: the cascade kid is not known: it was not found when the run began")
}

func TestAsyncCascades(t *testing.T) {
	t.Parallel()
	child := reached(t, `{"cascade_id":"kid","phases":[{"name":"q","instructions":"beside {{ input.n }}"}]}`)
	b, m := branching(t, nil)
	res, f, err := b.runTree(`{"cascade_id":"c","phases":[{"name":"each","for_each":{"items":[1,2]},
		"async_cascades":[{"ref":"kid","input_map":{"n":"item"}},{"ref":"kid","name":"late","trigger":"on_end","detach":true,"input_map":{"n":"{{ item }} after {{ outputs.each }}"}}],
		"instructions":"{{ item }}"}]}`, nil, map[string]*cascade.Reached{"kid": child})
	require.NoError(t, err)
	require.Len(t, f.began, 4)
	require.Len(t, m.requests, 6)
	require.Subset(t, m.requests, []string{"beside 1 after <1>", "beside 2 after <2>"}, "what begins at the end sees the output")
	require.Equal(t, 2, res.Children.Calls, "a detached child is on its own")
	require.Len(t, b.entries.of(echo.NodeChildStart), 4)
	require.Len(t, b.entries.of(echo.NodeChildEnd), 2)
}

func TestCascadesAsTools(t *testing.T) {
	t.Parallel()
	child := reached(t, `{"cascade_id":"kid","description":"Looks things up.","inputs_schema":{"topic":"what"},"phases":[{"name":"q","instructions":"about {{ input.topic }}"}]}`)
	b := setup(t,
		call("kid", `{"topic":"a"}`, "spawn_cascade", `{"cascade":"kid","input":{"topic":"b"}}`, "spawn_cascade", `{"cascade":"nobody"}`),
		say("done"))
	parent := b.runner.Model
	kids := &echoing{}
	b.runner.Model = modelFunc(func(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		if req.Site.Cascade == "kid" {
			return kids.Complete(ctx, req)
		}
		return parent.Complete(ctx, req)
	})
	res, f, err := b.runTree(`{"cascade_id":"c","phases":[{"name":"main","tackle":["kid","spawn_cascade"],"instructions":"go"},
		{"name":"tool","tool":"kid","inputs":{"topic":"c"}}]}`, nil, map[string]*cascade.Reached{"kid": child})
	require.NoError(t, err)
	require.Equal(t, "<about c>", res.Output)
	require.Len(t, f.began, 1)
	require.ElementsMatch(t, []string{"about a", "about b", "about c"}, kids.requests)
	require.ElementsMatch(t, []string{"main/attempt1/turn1/tool1", "main/attempt1/turn1/tool2", "tool/attempt1/tool"}, b.entries.keys(echo.NodeChildStart))
	results := b.model.requests[1].Messages
	require.Equal(t, "<about a>", results[len(results)-3].Text())
	require.Contains(t, results[len(results)-2].Text(), `"status":"started"`)
	require.Equal(t, `there is no cascade named "nobody"`, results[len(results)-1].Text())
	require.Equal(t, 3, res.Children.Calls)
}

// TestGraphStoppedInItsRecord: a run that is stopped while it still follows its record leaves that as it is, wherever it was.
func TestGraphStoppedInItsRecord(t *testing.T) {
	t.Parallel()
	b, _ := branching(t, failOn("end"))
	_, err := b.run(fiveNodes, nil)
	require.Error(t, err)
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(fiveNodes), c))
	recording := b.entries.asRead(t)
	for range 20 { // a node that could begin, or the end of the context: either may come first
		ctx, stop := context.WithCancel(t.Context())
		stop()
		sink := &inMemory{list: slices.Clone(recording)}
		b.runner.Model = &echoing{}
		res, err := b.runner.Run(ctx, Spec{Cascade: c, Log: echo.ContinueLog("s1", uint64(len(recording)), nil, nil, sink), WorkDir: "/scratch", Recording: recording})
		require.EqualError(t, err, "context canceled")
		require.Equal(t, echo.StatusInterrupted, res.Status)
		require.Equal(t, recording, sink.list)
	}
}
