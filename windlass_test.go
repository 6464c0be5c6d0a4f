package windlass_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

func open(t *testing.T, o windlass.Options) *windlass.Windlass {
	t.Helper()
	w, err := windlass.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

func incident(t *testing.T) *windlass.Cascade {
	t.Helper()
	c, err := windlass.LoadFile("testdata/incident.yaml")
	require.NoError(t, err)
	require.Empty(t, c.Warnings())
	require.Equal(t, "incident", c.ID())
	return c
}

func tools() windlass.RunOption {
	return windlass.WithTool(windlass.Func("restart", "Restarts a service.", restart, windlass.Idempotent()))
}

func provider() windlass.RunOption { return windlass.WithProvider(windlass.ModelFunc(operator)) }

var checkout = windlass.Input{"service": "checkout"}

// requireError holds the text, the kind and the next step of an error.
func requireError(t *testing.T, err error, kind windlass.Kind, text, try string) {
	t.Helper()
	var e *windlass.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind)
	require.Equal(t, kind, windlass.KindOf(err))
	require.EqualError(t, err, text)
	require.Equal(t, try, e.Try)
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	_, err := windlass.LoadFile("testdata/none.json")
	requireError(t, err, windlass.InvalidCascade, "load cascade: open testdata/none.json: no such file or directory", "the path of a cascade file")
	_, err = windlass.Load("x.json", []byte(`{"cascade_id": "x", "phases": []}`))
	requireError(t, err, windlass.InvalidCascade, "x.json:1:31: error: the cascade has no phases [no_phases]", "docs/cascade.md describes the language")
	var invalid *cascade.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, invalid.Diagnostics, 1)
}

// TestLoadFS: the cascades of a program reach each other, and nothing outside.
func TestLoadFS(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{}
	for name, ref := range map[string]string{"flows/main.json": "child", "flows/path.json": "../cascades/x.json", "flows/lost.json": "chlid", "flows/out.json": "../../x.json"} {
		fsys[name] = &fstest.MapFile{Data: []byte(`{"cascade_id": "main", "phases": [{"name": "a", "instructions": "x", "sub_cascades": ["` + ref + `"]}]}`)}
	}
	fsys["cascades/x.json"] = &fstest.MapFile{Data: []byte(`{"cascade_id": "child", "phases": [{"name": "a", "instructions": "x"}]}`)}
	for name, ref := range map[string]string{"flows/main.json": "child", "flows/path.json": "../cascades/x.json"} {
		c, err := windlass.LoadFS(fsys, name)
		require.NoError(t, err)
		require.Equal(t, filepath.FromSlash("cascades/x.json"), c.Parsed().Reaches[ref].File)
	}
	const try = "docs/cascade.md describes the language"
	_, err := windlass.LoadFS(fsys, "flows/lost.json")
	requireError(t, err, windlass.InvalidCascade, `flows/lost.json:1:87: error: "sub_cascades" of phase "a": no cascade has the cascade_id "chlid" [unknown_cascade]`, try)
	_, err = windlass.LoadFS(fsys, "flows/out.json")
	requireError(t, err, windlass.InvalidCascade, `flows/out.json:1:87: error: "sub_cascades" of phase "a": "../../x.json" leads out of the folder whose cascades may be used here [invalid_cascade]`, try)
	_, err = windlass.LoadFS(fsys, "none.json")
	requireError(t, err, windlass.InvalidCascade, "load cascade: open none.json: file does not exist", "the path of a cascade file")
	_, err = windlass.Load("main.json", fsys["flows/main.json"].Data)
	requireError(t, err, windlass.InvalidCascade, `main.json:1:87: error: "sub_cascades" of phase "a": no cascade is called "child" here: names of other cascades are not looked up [unknown_cascade]`, try)
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	c := incident(t)
	const opt = "leave these options out, or start a new session"
	for name, tt := range map[string]struct {
		cascade   *windlass.Cascade
		input     windlass.Input
		options   []windlass.RunOption
		kind      windlass.Kind
		text, try string
	}{
		"no cascade": {nil, nil, nil, windlass.InvalidRequest, "start a run: there is no cascade", ""},
		"a cascade for a fork": {
			c, nil, []windlass.RunOption{windlass.WithCascade(c)}, windlass.InvalidRequest, "WithCascade is for Fork: Start has a cascade", "",
		},
		"a tool is missing": {
			c, checkout, nil, windlass.InvalidCascade,
			`testdata/incident.yaml:7:14: error: the tackle of phase "repair" names "restart", which is neither a tool nor a cascade [unknown_tool]`,
			"give the tool with WithTool, or correct its name",
		},
		"the input does not fit": {
			c,
			windlass.Input{"servce": 1},
			[]windlass.RunOption{tools()},
			windlass.InvalidInput,
			`the input does not fit testdata/incident.yaml: missing input "service" (the service that is down): ` +
				`used without default by "instructions" of phase "repair"`, "docs/cascade.md describes inputs_schema",
		},
		"the input is no JSON": {
			c,
			windlass.Input{"service": func() {}},
			[]windlass.RunOption{tools()},
			windlass.InvalidInput,
			"json: unsupported type: func()", "values that encoding/json can encode",
		},
		"no model": {
			c, checkout,
			[]windlass.RunOption{tools()},
			windlass.InvalidRequest,
			"no model: testdata/incident.yaml names none, and neither WINDLASS_MODEL nor windlass.json does",
			"WithModel names a model, WithProvider gives one, WithOffline has the script beside the file answer",
		},
		"no script": {
			c, checkout,
			[]windlass.RunOption{tools(), windlass.WithOffline()},
			windlass.InvalidRequest,
			`no script for "testdata/incident.yaml": looked for testdata/incident.script.json and .yaml: file does not exist`,
			"write the script, which docs/models.md describes, or leave WithOffline out",
		},
		"no provider": {c, checkout, []windlass.RunOption{windlass.WithProvider(nil)}, windlass.InvalidRequest, "WithProvider: the model is nil", ""},
		"no folder": {
			c, checkout,
			[]windlass.RunOption{tools(), provider(), windlass.WithRoots("testdata/none")},
			windlass.InvalidRequest,
			`open granted folder "testdata/none": there is no such folder`,
			"WithRoots with a folder that exists",
		},
		"two tools of a name": {
			c, checkout,
			[]windlass.RunOption{tools(), tools(), provider()},
			windlass.InvalidRequest, `tool "restart": there is a tool of that name already`,
			"give the tool a name of its own",
		},
		"no pattern": {
			c, checkout, []windlass.RunOption{windlass.WithAllowWrite("")}, windlass.InvalidRequest, `WithAllowWrite(""): it is empty`, "",
		},
		"no budget": {
			c, checkout,
			[]windlass.RunOption{windlass.WithBudget(windlass.Budget{MaxUSD: new(float64(-1))})},
			windlass.InvalidRequest,
			"a limit is a number from 0 on, where 0 is no limit", "",
		},
		"no id": {
			c, checkout,
			[]windlass.RunOption{tools(), provider(), windlass.WithSessionID("a/b")},
			windlass.InvalidRequest,
			`session id "a/b": use up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit`, "",
		},
		"the id of another": {
			c, checkout,
			[]windlass.RunOption{tools(), provider(), windlass.WithSessionID("last")},
			windlass.InvalidRequest,
			`session id "last": commands use this name for the newest session`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := w.Start(t.Context(), tt.cascade, tt.input, tt.options...)
			requireError(t, err, tt.kind, tt.text, tt.try)
		})
	}
	_, err := w.Resume(t.Context(), "s", windlass.WithModel("m"), windlass.WithModels(nil), windlass.WithAllowEnv(), windlass.WithAllowCommands())
	requireError(t, err, windlass.InvalidRequest,
		"WithModel, WithModels, WithAllowEnv, WithAllowCommands: a session keeps the models and rights that it was started with", opt)
	_, err = w.Resume(t.Context(), "s", windlass.WithSessionID("t"))
	requireError(t, err, windlass.InvalidRequest, "WithSessionID and WithCascade are for Fork: a session that is resumed keeps its id and its cascade", "")
	_, err = w.Resume(t.Context(), "s")
	requireError(t, err, windlass.UnknownSession, `no session "s" on this machine`, "")
	_, err = w.Deliver(t.Context())
	requireError(t, err, windlass.InvalidRequest, "deliver sessions: there is no ClickHouse, see Options.NoClickHouse", "")
	const none = "query ClickHouse: there is none, see Options.NoClickHouse"
	_, err = w.Query(t.Context(), "SELECT 1")
	requireError(t, err, windlass.InvalidRequest, none, "")
	_, err = w.Costs(t.Context(), windlass.ByDay)
	requireError(t, err, windlass.InvalidRequest, none, "")
	_, _, err = w.Rebuild(t.Context(), "s")
	require.Equal(t, windlass.UnknownSession, windlass.KindOf(err))
}

// What cannot be simulated, selected or frozen says why.
func TestWhatIsMadeOfRecords(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider(), windlass.WithSessionID("one"))
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
	record, err := w.Record(t.Context(), "one")
	require.NoError(t, err)
	for _, name := range []string{"last", "last~0", "on", "incident"} {
		s, err := w.Session(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, "one", s.ID, name)
	}

	fails := func(err error, kind windlass.Kind, text string) {
		t.Helper()
		require.Equal(t, kind, windlass.KindOf(err))
		require.ErrorContains(t, err, text)
	}
	_, err = w.Simulate(t.Context(), windlass.Simulation{Policies: []string{"cheap"}}, "one")
	fails(err, windlass.InvalidRequest, `policy "cheap"`)
	_, err = w.Simulate(t.Context(), windlass.Simulation{Prices: []string{"cheap"}}, "one")
	fails(err, windlass.InvalidRequest, `prices "cheap"`)
	_, err = w.Simulate(t.Context(), windlass.Simulation{}, "none")
	fails(err, windlass.InvalidRequest, `none`)
	report, err := w.Simulate(t.Context(), windlass.Simulation{}, "on")
	require.NoError(t, err)
	require.Equal(t, 3, report.Groups[0].Calls)

	for text, s := range map[string]windlass.Selection{
		"no task to select for":           {Strategy: "heuristic", Budget: 1},
		`strategy "none"`:                 {Task: "t", Strategy: "none", Budget: 1},
		"expected 1 or more tokens":       {Task: "t", Strategy: "heuristic"},
		"the strategy llm asks a model":   {Task: "t", Strategy: "llm", Budget: 1},
		"heuristic asks none":             {Task: "t", Strategy: "heuristic", Budget: 1, Model: "m"},
		`session one has no phase "none"`: {Task: "t", Strategy: "heuristic", Budget: 1, Phase: "none"},
	} {
		_, err = record.Select(t.Context(), s)
		fails(err, windlass.InvalidRequest, text)
	}
	found, err := record.Select(t.Context(), windlass.Selection{Task: "Is checkout up?", Strategy: "prefilter", Budget: 4000, Phase: "report"})
	require.NoError(t, err)
	require.NotEmpty(t, found.Candidates)

	_, err = w.Freeze(t.Context(), "one", windlass.FreezeOptions{Name: "../x"})
	fails(err, windlass.InvalidRequest, "letters, digits, dots")
	_, err = w.Freeze(t.Context(), "one", windlass.FreezeOptions{Name: "x", Dir: t.TempDir()})
	fails(err, windlass.OtherVersion, "restart")
	_, err = w.Freeze(t.Context(), "none", windlass.FreezeOptions{Name: "x"})
	fails(err, windlass.UnknownSession, "none")
	_, err = windlass.RunTests(t.Context(), false, t.TempDir())
	fails(err, windlass.InvalidRequest, "no tests")
	over, stop := context.WithCancel(t.Context())
	stop()
	_, err = windlass.RunTests(over, false, "examples/tests")
	fails(err, windlass.Interrupted, "context canceled")
}

// Everything that can be asked of a run, with journals only.
func TestALifeOfRuns(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	w := open(t, windlass.Options{Home: home, Dir: home, NoClickHouse: true})
	require.Equal(t, home, w.Home())
	c := incident(t)
	run, err := w.Start(t.Context(), c, checkout, tools(), provider(), windlass.WithSessionID("one"), windlass.WithoutClickHouse())
	require.NoError(t, err)
	res, err := run.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, echo.StatusCompleted, res.Status)
	require.Equal(t, 3, res.Spent.Calls)
	require.NoError(t, res.Undelivered)
	require.FileExists(t, filepath.Join(home, "sessions", "one", "journal.jsonl"))

	_, err = w.Start(t.Context(), c, checkout, tools(), provider(), windlass.WithSessionID("one"))
	require.Equal(t, windlass.SessionExists, windlass.KindOf(err))
	_, err = w.Resume(t.Context(), "one", tools(), provider())
	requireError(t, err, windlass.NotResumable, "session one: the run has completed: there is nothing to resume", "Fork continues from an entry of it, in a new session")
	_, err = w.Verify(t.Context(), "one")
	require.Equal(t, windlass.InvalidRequest, windlass.KindOf(err), "the tools must be given again")

	fork, err := w.Fork(t.Context(), "one", 5, tools(), provider(), windlass.WithSessionID("two"), windlass.WithCascade(c))
	require.NoError(t, err)
	_, err = fork.Result(t.Context())
	require.NoError(t, err)
	_, err = w.Fork(t.Context(), "one", 5, provider(), windlass.WithCascade(c))
	require.Equal(t, windlass.InvalidCascade, windlass.KindOf(err))
	_, err = w.Fork(t.Context(), "one", 500, tools(), provider())
	require.Equal(t, windlass.InvalidRequest, windlass.KindOf(err))

	list, err := w.Sessions(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.True(t, list[0].Here)
	detail, err := w.Session(t.Context(), "o")
	require.NoError(t, err)
	require.Equal(t, "one", detail.ID)
	require.Equal(t, "completed", detail.Status)
	require.Equal(t, 2, detail.Visits)
	require.Equal(t, "Done: checkout runs", detail.Phases[0].Output)
	handoff, err := w.Handoff(t.Context(), "one")
	require.NoError(t, err)
	require.Equal(t, 2, handoff.Progress.PhasesDone)

	record, err := w.Record(t.Context(), "one")
	require.NoError(t, err)
	require.Equal(t, "one", record.ID())
	diff, err := record.Diff("1", "2")
	require.NoError(t, err)
	require.Len(t, diff.Messages, 3)
	hash := record.Entries()[len(record.Entries())-1]
	require.Equal(t, echo.NodeRunEnd, hash.NodeType)
	x, err := record.Explain(string(diff.Messages[0].Hash))
	require.NoError(t, err)
	require.NotEmpty(t, x.Uses)
	_, err = record.Show("9")
	require.Equal(t, windlass.UnknownCall, windlass.KindOf(err))
	_, err = w.Record(t.Context(), "none")
	require.Equal(t, windlass.UnknownSession, windlass.KindOf(err))
}

// What is started in memory is gone when it ends.
func TestInMemoryLeavesNothing(t *testing.T) {
	t.Parallel()
	w, err := windlass.Open(t.Context(), windlass.InMemory())
	require.NoError(t, err)
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider())
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
	require.DirExists(t, w.Home())
	require.NoError(t, w.Close())
	require.NoDirExists(t, w.Home())
	_, err = w.Start(t.Context(), incident(t), checkout, tools(), provider())
	requireError(t, err, windlass.InvalidRequest, "start a run: the Windlass is closed", "")
}

// waiting is a model that answers when its context ends, and says when it was asked.
func waiting(asked chan<- struct{}) windlass.RunOption {
	return windlass.WithProvider(windlass.ModelFunc(func(ctx context.Context, _ *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}))
}

// A run is interrupted by Cancel, by Close and by its context, and is resumed.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	w, err := windlass.Open(t.Context(), windlass.Options{Home: home, NoClickHouse: true})
	require.NoError(t, err)
	asked := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	start := func(id string) *windlass.Run {
		run, err := w.Start(ctx, incident(t), checkout, tools(), waiting(asked), windlass.WithSessionID(id))
		require.NoError(t, err)
		<-asked
		return run
	}
	interrupted := func(r *windlass.Run) {
		res, err := r.Result(t.Context())
		require.Equal(t, windlass.Interrupted, windlass.KindOf(err))
		require.Equal(t, echo.StatusInterrupted, res.Status)
		for _, err = range r.Events() {
		}
		require.Equal(t, windlass.Interrupted, windlass.KindOf(err))
	}
	one := start("one")
	over, stop := context.WithCancel(t.Context())
	stop()
	_, err = one.Result(over)
	require.EqualError(t, err, "wait for session one: context canceled")
	_, err = w.Resume(t.Context(), "one", tools(), provider())
	require.Equal(t, windlass.SessionBusy, windlass.KindOf(err))
	one.Cancel()
	interrupted(one)
	two := start("two")
	cancel()
	interrupted(two)
	ctx = t.Context()
	three := start("three")
	require.NoError(t, w.Close())
	interrupted(three)

	w = open(t, windlass.Options{Home: home, NoClickHouse: true})
	for _, id := range []string{"one", "two", "three"} {
		run, err := w.Resume(t.Context(), id, tools(), provider())
		require.NoError(t, err)
		_, err = run.Result(t.Context())
		require.NoError(t, err)
	}
}

// Faults of a model of the program are errors of the model, and the run can be resumed.
func TestFaultsOfAModel(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	own := &windlass.ModelError{Kind: echo.ModelErrAuth, Model: "m", Message: "no key", Hint: "set one"}
	for text, model := range map[string]windlass.ModelFunc{
		"model own at program: it panicked: boom": func(context.Context, *windlass.ModelRequest) (*windlass.ModelResponse, error) { panic("boom") },
		"model own at program: it ended its goroutine instead of returning, as a failed assertion of package testing does": func(context.Context, *windlass.ModelRequest) (*windlass.ModelResponse, error) {
			runtime.Goexit()
			return windlass.Reply(""), nil
		},
		"model own at program: it returned no message of the assistant": func(context.Context, *windlass.ModelRequest) (*windlass.ModelResponse, error) {
			return nil, nil //nolint:nilnil // that is the fault
		},
		"model own at program: away": func(context.Context, *windlass.ModelRequest) (*windlass.ModelResponse, error) {
			return nil, errors.New("away")
		},
		"model m: no key": func(context.Context, *windlass.ModelRequest) (*windlass.ModelResponse, error) { return nil, own },
	} {
		run, err := w.Start(t.Context(), incident(t), checkout, tools(), windlass.WithProvider(model))
		require.NoError(t, err)
		_, err = run.Result(t.Context())
		require.Equal(t, windlass.ModelUnavailable, windlass.KindOf(err))
		require.ErrorContains(t, err, text)
		run, err = w.Resume(t.Context(), run.ID(), tools(), provider())
		require.NoError(t, err)
		_, err = run.Result(t.Context())
		require.NoError(t, err)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider(), windlass.WithBudget(windlass.Budget{MaxTokens: new(int64(1))}))
	require.NoError(t, err)
	res, err := run.Result(t.Context())
	require.Equal(t, windlass.OverBudget, windlass.KindOf(err))
	require.Error(t, res.Decode(new(string)))
	run, err = w.Resume(t.Context(), run.ID(), tools(), provider(), windlass.WithBudget(windlass.Budget{MaxTokens: new(int64(0))}))
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
}

func TestResultDecode(t *testing.T) {
	t.Parallel()
	r := windlass.Result{}
	require.EqualError(t, r.Decode(nil), "decode the output of the run: it has none")
	r.Output = map[string]any{"n": 1}
	var v struct{ N int }
	require.NoError(t, r.Decode(&v))
	require.Equal(t, 1, v.N)
	require.Equal(t, `{"n":1}`, r.Text())
	r.Output = "no JSON"
	require.ErrorContains(t, r.Decode(&v), "decode the output of the run: invalid character")
}

// Without an engine on the machine, and without leave to fetch one, Open says what is missing.
func TestOpenWithoutAnEngine(t *testing.T) {
	t.Setenv("WINDLASS_CHDB_LIB", "")
	t.Setenv("WINDLASS_CLICKHOUSE_DSN", "")
	t.Setenv("PATH", t.TempDir())
	o := windlass.Options{Home: t.TempDir(), Dir: t.TempDir(), Cache: t.TempDir()}
	_, err := windlass.Open(t.Context(), o)
	require.Equal(t, windlass.EngineMissing, windlass.KindOf(err))
	require.ErrorContains(t, err, "no ClickHouse engine for ")
	require.NotContains(t, err.Error(), "npm: not")
	var e *windlass.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Try, "Options.Fetch downloads the engine")
	left, err := os.ReadDir(o.Cache)
	require.NoError(t, err)
	require.Empty(t, left)

	o.NoClickHouse = true
	w := open(t, o)
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider())
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
}
