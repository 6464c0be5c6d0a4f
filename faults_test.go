package windlass_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass"
)

// What was not made as it must be is an error with a kind, and no panic.
func TestWhatWasNotMade(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	c := incident(t)
	for text, options := range map[string][]windlass.RunOption{
		"an option of the run is nil":      {tools(), nil},
		"WithCascade: the cascade is nil":  {windlass.WithCascade(nil)},
		`tool "": Func makes tools`:        {windlass.WithTool(windlass.Tool{})},
		`tool "f": an option of it is nil`: {windlass.WithTool(windlass.Func("f", "", restart, nil))},
	} {
		_, err := w.Start(t.Context(), c, checkout, options...)
		require.Equal(t, windlass.InvalidRequest, windlass.KindOf(err), text)
		require.EqualError(t, err, text)
		_, err = w.Resume(t.Context(), "s", options...)
		require.EqualError(t, err, text)
	}
	const unmade = "the cascade is empty: LoadFile, LoadFS and Load make one"
	_, err := w.Start(t.Context(), &windlass.Cascade{}, nil)
	requireError(t, err, windlass.InvalidRequest, "start a run: "+unmade, "")
	_, err = w.Fork(t.Context(), "s", 1, windlass.WithCascade(&windlass.Cascade{}))
	requireError(t, err, windlass.InvalidRequest, "WithCascade: "+unmade, "")
	require.Empty(t, (&windlass.Cascade{}).ID())
}

// everything calls each method that asks something of a Windlass.
func everything(ctx context.Context, w *windlass.Windlass, c *windlass.Cascade) map[string]error {
	errs := map[string]error{}
	_, errs["start a run"] = w.Start(ctx, c, checkout, tools(), provider())
	_, errs["resume a session"] = w.Resume(ctx, "one", tools(), provider())
	_, errs["fork a session"] = w.Fork(ctx, "one", 1, tools(), provider())
	_, errs["list sessions"] = w.Sessions(ctx, 0)
	_, errs["sum up a session"] = w.Session(ctx, "one")
	_, errs["read a session"] = w.Record(ctx, "one")
	_, errs["verify a session"] = w.Verify(ctx, "one")
	_, _, errs["rebuild a session"] = w.Rebuild(ctx, "one")
	_, errs["deliver sessions"] = w.Ship(ctx, false)
	_, errs["query ClickHouse"] = w.Query(ctx, "SELECT 1")
	_, errs["sum up costs"] = w.Costs(ctx, windlass.ByDay)
	_, errs["simulate"] = w.Simulate(ctx, windlass.Simulation{}, "one")
	_, errs["freeze a session"] = w.Freeze(ctx, "one", windlass.FreezeOptions{Name: "x"})
	return errs
}

// A Windlass that was not opened, and one that was closed, say so, whatever is asked of them.
func TestNotOpen(t *testing.T) {
	t.Parallel()
	for did, err := range everything(t.Context(), &windlass.Windlass{}, incident(t)) {
		require.EqualError(t, err, did+": the Windlass was not opened: Open makes one")
		require.Equal(t, windlass.InvalidRequest, windlass.KindOf(err))
	}
	require.NoError(t, (&windlass.Windlass{}).Close())
	require.Empty(t, (&windlass.Windlass{}).Home())

	for name, o := range map[string]windlass.Options{
		"journals": {Home: t.TempDir(), NoClickHouse: true},
		"a server": {Home: t.TempDir(), DSN: "clickhouse://127.0.0.1:1"},
	} {
		w, err := windlass.Open(t.Context(), o)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		for did, err := range everything(t.Context(), w, incident(t)) {
			require.EqualError(t, err, did+": the Windlass is closed", name)
			require.Equal(t, windlass.InvalidRequest, windlass.KindOf(err))
		}
		require.NoError(t, w.Close(), "twice")
	}
}

// A DSN that cannot be one is found before anything depends on it. Its text is never shown.
func TestOpenWithABadDSN(t *testing.T) {
	const try = "a DSN as clickhouse://user:password@host:9000/database"
	_, err := windlass.Open(t.Context(), windlass.Options{Home: t.TempDir(), DSN: "http://user:hidden-word@h"})
	requireError(t, err, windlass.InvalidRequest, `the ClickHouse DSN has the scheme "http": expected clickhouse:// (the native protocol)`, try)
	t.Setenv("WINDLASS_CLICKHOUSE_DSN", "clickhouse://user:hidden word@h:port")
	_, err = windlass.Open(t.Context(), windlass.Options{Home: t.TempDir()})
	requireError(t, err, windlass.InvalidConfig, "the ClickHouse DSN is not a URL (its text is hidden because it may hold a password): "+
		"expected clickhouse://user:password@host:9000/database, with special characters percent-encoded", try)
	open(t, windlass.Options{Home: t.TempDir(), NoClickHouse: true})
}

// Arguments that cannot be encoded are an error of the model that called a tool with them.
func TestCallToolWithoutJSON(t *testing.T) {
	t.Parallel()
	_, err := windlass.CallTool("restart", map[string]float64{"service": math.NaN()})
	requireError(t, err, windlass.InvalidRequest, `call the tool "restart": the arguments cannot be encoded: json: unsupported value: NaN`, "")
	w := open(t, windlass.InMemory())
	model := windlass.ModelFunc(func(context.Context, *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		return windlass.CallTool("restart", func() {})
	})
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), windlass.WithProvider(model))
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.Equal(t, windlass.ModelUnavailable, windlass.KindOf(err))
	require.ErrorContains(t, err, `call the tool "restart": the arguments cannot be encoded: json: unsupported type: func()`)
}

// A session whose tools the program does not give again says which are missing.
func TestWithoutItsTools(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	asked := make(chan struct{})
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), waiting(asked), windlass.WithSessionID("one"))
	require.NoError(t, err)
	<-asked
	run.Cancel()
	_, err = run.Result(t.Context())
	require.Equal(t, windlass.Interrupted, windlass.KindOf(err))
	const (
		text = `session one: its cascade names the tool "restart", which is neither built in, nor declared, nor given`
		try  = "give it with WithTool, as the program did that began the session"
	)
	_, err = w.Resume(t.Context(), "one", provider())
	requireError(t, err, windlass.InvalidRequest, text, try)
	_, err = w.Fork(t.Context(), "one", 1, provider())
	requireError(t, err, windlass.InvalidRequest, text, try)
	_, err = w.Verify(t.Context(), "one")
	requireError(t, err, windlass.InvalidRequest, text, try)
}

// What is ended by its context is interrupted, and has the context's error.
func TestEndedByItsContext(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider(), windlass.WithSessionID("one"))
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.Verify(ctx, "one", tools())
	requireInterrupted(t, err)
	_, err = w.Simulate(ctx, windlass.Simulation{}, "one")
	requireInterrupted(t, err)
}

func requireInterrupted(t *testing.T, err error) {
	t.Helper()
	require.Equal(t, windlass.Interrupted, windlass.KindOf(err))
	require.True(t, errors.Is(err, context.Canceled), "%v", err)
}

// A trial with a strategy that there is not says which there are.
func TestSelectionStrategies(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	_, err := w.Run(t.Context(), incident(t), checkout, tools(), provider(), windlass.WithSessionID("one"))
	require.NoError(t, err)
	record, err := w.Record(t.Context(), "one")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"":     "no strategy is named: expected one of prefilter, heuristic, semantic, llm, hybrid",
		"best": `strategy "best": expected one of prefilter, heuristic, semantic, llm, hybrid`,
	} {
		_, err = record.Select(t.Context(), windlass.Selection{Task: "t", Strategy: name, Budget: 1})
		requireError(t, err, windlass.InvalidRequest, text, "")
	}
}

// What a session needs to be resumed, as its folders, stays in the header of its journal as it is,
// also where it is the value of a granted variable. What goes to ClickHouse is masked.
func TestGrantedFolderOfAVariable(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PROJECT", folder)
	w := open(t, windlass.InMemory())
	asked := make(chan struct{})
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), waiting(asked), windlass.WithRoots(folder), windlass.WithAllowEnv("PROJECT"))
	require.NoError(t, err)
	<-asked
	run.Cancel()
	_, err = run.Result(t.Context())
	require.Equal(t, windlass.Interrupted, windlass.KindOf(err))
	run, err = w.Resume(t.Context(), run.ID(), tools(), provider())
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
	record, err := w.Record(t.Context(), run.ID())
	require.NoError(t, err)
	require.NotContains(t, string(record.Entries()[0].Data), folder)
}
